"""`python -m discotag`."""

from discotag.cli import main

main()

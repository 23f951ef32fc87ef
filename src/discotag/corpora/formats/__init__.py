"""File formats: a module for each, and the registry that lists them."""

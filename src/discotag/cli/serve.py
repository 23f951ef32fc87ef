"""`discotag serve`: an HTTP service that finds mentions, and a page to try it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from discotag.cli.messages import say
from discotag.cli.options import DeviceOption, RuntimeOption
from discotag.cli.setting_options import given, takes_options
from discotag.errors import InputError
from discotag.extras import check_installed
from discotag.web.limits import Limits

PORT: Final = 8000

NEEDED: Final = ("fastapi", "uvicorn", "prometheus_client")

TOKEN: Final = "DISCOTAG_TOKEN"
"""The variable of the environment with the token. An option would show it to other users."""

HostOption = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="The address to listen on. Beyond this machine, a token is necessary.",
    ),
]
PortOption = Annotated[
    int, typer.Option("--port", help="The port; 0 for one that is free.", min=0, max=65535)
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="<path>",
        help=f"A file with the token that clients must send. [default: the variable {TOKEN}]",
        show_default=False,
    ),
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="A further name that clients may call this service by, such as that of a proxy; may "
        "be repeated.",
        show_default=False,
    ),
]


@takes_options(Limits, bounded=True)
def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A folder, or a name on the Hugging Face hub; may be repeated. [default: the "
            "model that comes with discotag]",
            show_default=False,
        ),
    ] = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = PORT,
    workers: Annotated[
        int | None,
        typer.Option(
            help="The number of processes that tag. [default: one for each core, up to 8; one "
            "with a GPU]",
            min=1,
            show_default=False,
        ),
    ] = None,
    token_file: TokenFileOption = None,
    allow_host: AllowHostOption = None,
    *,
    runtime: RuntimeOption = None,
    device: DeviceOption = None,
    **limits: Any,
) -> None:
    """Serve models over HTTP, with a page to try them.

    Programs post texts to /api/predict and get mentions as JSON; /docs describes the API. The page
    at / draws mentions while you type. Only programs on this machine can connect, unless --host
    says otherwise and there is a token. Texts are neither stored nor logged. Ctrl-C or SIGTERM
    finishes the requests that were accepted.

    [bold]Examples[/bold]

    discotag serve

    discotag serve --model run/model --model bundled --port 8080

    DISCOTAG_TOKEN=$(openssl rand -hex 32) discotag serve --host 0.0.0.0 --workers 4

    curl -H 'Content-Type: application/json' -d '{"text": "My hips hurt."}' \
localhost:8000/api/predict
    """
    check_installed("serve", "serve", *NEEDED)
    from discotag.serve.app import make_service
    from discotag.serve.models import find_models
    from discotag.web.protection import Policy
    from discotag.web.running import allowed_hosts, run

    bounds = Limits(**given(limits))
    token = read_token(token_file)
    models = find_models(model or [], runtime=runtime, device=device)
    policy = Policy(token, allowed_hosts(host, allow_host or []), bounds)
    run(
        lambda: make_service(models, policy, workers=workers),
        host=host,
        port=port,
        token=token,
        on_ready=lambda url: say(f"serving at {url}; stop with Ctrl-C"),
        limits=bounds,
    )
    say("stopped")


def read_token(path: Path | None) -> str | None:
    """Return the token of a file, or of the environment, or None.

    Raises:
        InputError: The file cannot be read, or is empty.
    """
    if path is None:
        return os.environ.get(TOKEN) or None
    try:
        token = path.read_text("utf-8").strip()
    except (OSError, ValueError):
        raise InputError(f"{path}: the token cannot be read from this file") from None
    if not token:
        raise InputError(f"{path}: the file has no token")
    return token

"""The prediction service: its application and its routes."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.types import ASGIApp

from discotag import __version__
from discotag.corpora import CorpusError
from discotag.errors import one_line
from discotag.serve import metrics as figures
from discotag.serve.answers import write_answer
from discotag.serve.batching import Scheduler
from discotag.serve.engine import WARM_UP
from discotag.serve.engines import Engine, choose_engines
from discotag.serve.finding import Service, aside
from discotag.serve.models import ServedModel, chosen
from discotag.serve.reference_page import reference_page
from discotag.serve.schemas import (
    ExportRequest,
    ModelsAnswer,
    PredictAnswer,
    PredictRequest,
    StatusAnswer,
    parsed,
)
from discotag.web.assets import mount_page
from discotag.web.bodies import until_gone
from discotag.web.downloads import download, file_name, write_download
from discotag.web.errors import ServiceError
from discotag.web.protection import Policy, protect
from discotag.web.schemas import ErrorAnswer

DESCRIPTION: Final = (
    "Finds mentions in text, including those whose words are not adjacent. "
    "Errors are JSON: a code for programs, and a message for people."
)

ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorAnswer, "description": meaning}
    for status, meaning in {
        400: "The body is not JSON.",
        401: "The token is missing or wrong.",
        403: "A page of another web site made the request.",
        408: "The body did not arrive in time.",
        413: "There is too much to tag.",
        415: "The body is not declared as JSON.",
        421: "The service does not answer for this host.",
        422: "A field is missing or wrong.",
        503: "The service has too much to do; try again later.",
        504: "It took too long.",
    }.items()
}


def make_service(
    models: Sequence[ServedModel],
    policy: Policy,
    *,
    workers: int | None = None,
) -> ASGIApp:
    """Return the application of the prediction service.

    Args:
        models: The models; the first is the default.
        policy: Who may use it.
        workers: The number of engines; by default, one for each core.
    """
    sources = [each.source for each in models]
    engines, threads = choose_engines(workers, sources[0].device)
    metrics = figures.Metrics()
    scheduler = Scheduler(
        [Engine(sources, threads) for _ in range(engines)],
        policy.limits.max_waiting,
        metrics.batches.observe,
        metrics.restarts.inc,
    )
    metrics.waiting.set_function(lambda: scheduler.waiting)
    metrics.engines.set_function(lambda: scheduler.alive)
    service = Service(models, policy, scheduler, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        models[0].config.splitter().document(WARM_UP)  # so that what it needs is imported
        await scheduler.start()
        gc.freeze()  # what is loaded stays: garbage collection need not look at it again
        try:
            yield
        finally:
            await scheduler.stop()

    app = FastAPI(
        title="discotag",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    _add_data(app, service)
    _add_state(app, service)
    _add_pages(app)
    return protect(app, policy, metrics.observe)


def _add_data(app: FastAPI, service: Service) -> None:
    """Add the routes that find mentions."""

    @app.post(
        "/api/predict",
        summary="Find mentions",
        response_model=PredictAnswer,
        responses=ERRORS,
        openapi_extra=_body(PredictRequest, service.models),
    )
    async def predict(request: Request) -> Response:
        """Find the mentions in a text, in several texts, or in sentences of words."""
        body = await request.body()
        kind = request.headers.get("content-type")
        given = await aside(len(body), parsed, PredictRequest, kind, body)
        model = chosen(service.models, given.model)
        async with until_gone(request.receive):
            documents, found = await service.find(given, model, given.wanted)
        content = await aside(len(body), write_answer, given, model, documents, found)
        return Response(content, media_type="application/json")

    @app.post(
        "/api/export",
        summary="Find mentions and write a file",
        response_class=Response,
        responses={
            **ERRORS,
            200: {
                "description": "The file.",
                "content": {"*/*": {}},
            },
        },
        openapi_extra=_body(ExportRequest, service.models),
    )
    async def export(request: Request) -> Response:
        """Find mentions as /api/predict does, and return a file in one of several formats."""
        body = await request.body()
        kind = request.headers.get("content-type")
        given = await aside(len(body), parsed, ExportRequest, kind, body)
        model = chosen(service.models, given.model)
        async with until_gone(request.receive):
            documents, _ = await service.find(given, model, replace(given.wanted, alternatives=0))
            documents = [replace(each, id=f"text-{n}") for n, each in enumerate(documents, 1)]

            def made(folder: Path) -> Path:
                name = file_name("mentions", given.format)
                return write_download(
                    documents, folder, name, given.format, candidates=given.candidates
                )

            try:
                return await asyncio.to_thread(download, made)
            except CorpusError as error:
                raise ServiceError(422, "not_writable", one_line(error)) from None

    @app.get(
        "/api/models",
        summary="List the models",
        responses={status: ERRORS[status] for status in (401, 403, 421, 503)},
    )
    async def models() -> ModelsAnswer:
        """Return the models of the service; the first is the default."""
        return ModelsAnswer(models=[each.facts() for each in service.models])


def _add_state(app: FastAPI, service: Service) -> None:
    """Add the routes for those who run the service."""

    @app.get("/healthz", summary="Tell whether the service lives")
    async def healthz() -> StatusAnswer:
        """Return at once, as long as the service can answer at all."""
        return StatusAnswer(status="ok")

    @app.get(
        "/readyz",
        summary="Tell whether the service can tag",
        responses={503: {"model": ErrorAnswer, "description": "No engine is ready."}},
    )
    async def readyz() -> StatusAnswer:
        """Return an error as long as no engine is ready."""
        if not service.scheduler.alive:
            raise ServiceError(503, "not_ready", "no engine is ready", {"Retry-After": "1"})
        return StatusAnswer(status="ready")

    @app.get(
        "/metrics",
        summary="Return figures for Prometheus",
        response_class=Response,
        responses={
            200: {
                "description": "The figures.",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
            401: ERRORS[401],
        },
    )
    async def metrics() -> Response:
        """Return figures in the format of Prometheus."""
        return Response(service.metrics.text(), headers={"Content-Type": figures.TYPE})


def _add_pages(app: FastAPI) -> None:
    """Add the page to try the model, the reference, and their files."""
    mount_page(app, Path(__file__).with_name("assets"), "try.html")

    @app.get("/docs", include_in_schema=False)
    async def reference() -> Response:
        """Return the reference of the API."""
        return HTMLResponse(reference_page(app.openapi()))


def _body(kind: type[PredictRequest], models: Sequence[ServedModel]) -> dict[str, Any]:
    """Return the description of a body for OpenAPI; routes read it themselves."""
    schema = kind.model_json_schema()
    schema["properties"]["model"]["anyOf"][0]["enum"] = [each.name for each in models]
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}

"""The application: pages, JSON, events and metrics."""

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from mercer.watch import pictures, requests
from mercer.watch.broadcast import Broadcast
from mercer.watch.files import static_files
from mercer.watch.metrics import prometheus
from mercer.watch.monitor import Monitor
from mercer.watch.security import App, Guard, Guarded


class Api:
    """Answers requests about one monitor."""

    def __init__(self, monitor: Monitor) -> None:
        self.monitor, self.store, self.status = monitor, monitor.store, monitor.status
        self.broadcast = Broadcast(monitor.hub, self.status)
        self.files = static_files()

    def application(self, guard: Guard) -> App:
        """Return the application behind a guard."""
        routes = [
            Route("/", self.page),
            Route("/static/{name}", self.static),
            Route("/api/status", self.get_status),
            Route("/api/history", self.history),
            Route("/api/trend", self.trend),
            Route("/api/alarms", self.alarms),
            Route("/api/alarms/{number}/{action}", self.change, methods=["POST"]),
            Route("/api/events", self.events),
            Route("/metrics", self.metrics),
        ]
        handlers: dict[Any, Any] = {HTTPException: _refusal, sqlite3.OperationalError: _no_state, Exception: _defect}
        app = Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)
        app.router.redirect_slashes = False
        return Guarded(app, guard)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(self.broadcast.run())
        yield
        self.broadcast.close()
        task.cancel()

    # -- pages -----------------------------------------------------------------------------------------------------

    async def page(self, _: Request) -> Response:
        """Return the page."""
        return self._file("index.html")

    async def static(self, request: Request) -> Response:
        """Return a file of the page, from a fixed table of names."""
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
        found = self.files.get(name)
        if found is None:
            raise HTTPException(404, "There is no such file.")
        return Response(found.data, media_type=found.kind)

    # -- JSON ------------------------------------------------------------------------------------------------------

    async def get_status(self, _: Request) -> Response:
        """Return what the monitor says about itself."""
        return await _json(self.status)

    async def history(self, request: Request) -> Response:
        """Return T2, SPE and p against time."""
        newest = self._newest()
        start, end, points = requests.span(request.query_params, newest, pictures.LENGTH)
        return await _json(lambda: pictures.history(self.store, start, end, points))

    async def trend(self, request: Request) -> Response:
        """Return one variable against time."""
        name = request.query_params.get("variable", "")
        columns = self.monitor.engine.reader.columns
        if self.monitor.engine.judge is None or name not in columns:
            raise HTTPException(404, "There is no such variable.")
        start, end, points = requests.span(request.query_params, self._newest(), pictures.LENGTH)
        place = columns.index(name)
        return await _json(lambda: pictures.trend(self.store, name, place, start, end, points))

    async def alarms(self, request: Request) -> Response:
        """Return alarms, the newest first."""
        limit = int(requests.number(request.query_params, "limit", 200, 1, 1000))
        before = int(requests.number(request.query_params, "before", 2.0**61, 0, 2.0**61))
        return await _json(lambda: {"alarms": self.store.alarms(limit, before)})

    async def change(self, request: Request) -> Response:
        """Acknowledge, comment or shelve an alarm."""
        number, action = requests.alarm_number(request.path_params["number"]), request.path_params["action"]
        if action not in ("acknowledge", "comment", "shelve"):
            raise HTTPException(404, "An alarm can be acknowledged, commented or shelved.")
        values = _values(action, await requests.body(request))
        changed = await run_in_threadpool(self.store.change_alarm, number, _KINDS[action], values)
        if changed is None:
            raise HTTPException(404, "There is no such alarm.")
        self.monitor.changed(changed)
        return JSONResponse(changed)

    def _newest(self) -> float:
        last = self.monitor.engine.told.last_time
        return time.time() if last is None else last

    # -- streams ---------------------------------------------------------------------------------------------------

    async def events(self, _: Request) -> Response:
        """Return server-sent events."""
        listener = self.broadcast.joined()
        if listener is None:
            raise HTTPException(503, "Too many pages are connected.")
        return StreamingResponse(self.broadcast.stream(listener), media_type="text/event-stream")

    async def metrics(self, _: Request) -> Response:
        """Return the counters."""
        status = await run_in_threadpool(self.status)
        text = prometheus(status, self.monitor.feed.waiting[0], self.broadcast.count)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


_KINDS = {"acknowledge": "acknowledged", "comment": "commented", "shelve": "shelved"}


def _values(action: str, found: dict[str, Any]) -> dict[str, Any]:
    """Return what an action writes."""
    if action == "shelve":
        asked = requests.minutes(found)
        return {"shelved_until": time.time() + 60.0 * asked if asked else None}
    if action == "comment":
        return {"comment": requests.comment(found)}
    given = {"comment": requests.comment(found)} if found.get("comment") else {}
    return {"acknowledged": time.time(), **given}


async def _json(make: Callable[[], Any]) -> Response:
    """Return JSON that is made in a thread, since it reads the state."""
    text = await run_in_threadpool(lambda: json.dumps(make(), allow_nan=False, separators=(",", ":")))
    return Response(text, media_type="application/json")


async def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, status_code=error.status_code, headers=error.headers)


async def _no_state(_: Request, error: Exception) -> Response:
    """Answer where the disk is full or another program locks the state: nothing was changed."""
    text = f"The state cannot be read or written ({error}). Nothing was changed; try again."
    return JSONResponse({"error": text}, status_code=503)


async def _defect(_: Request, error: Exception) -> Response:
    text = f"This is a defect of mercer; please report it: {type(error).__name__}: {error}"
    return JSONResponse({"error": text}, status_code=500)

"""Debian's chromium, driven by Playwright; where one of them is not installed, these tests are skipped and say so."""

import functools
import http.server
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mercer.watch
from watch.browser.live import Watch, assert_soon, level

STATIC = Path(mercer.watch.__file__).parent / "static"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    driver = pytest.importorskip(
        "playwright.sync_api", reason='playwright is not installed: pip install "mercer[browser]"'
    )
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip("chromium is not installed; on Debian: apt-get install chromium")
    options = ["--no-sandbox"] if os.geteuid() == 0 else []  # chromium refuses its sandbox to root
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


class _Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript"}

    def do_GET(self) -> None:
        if self.path != "/blank":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def modules(chromium: Any) -> Iterator[Any]:
    """A blank page of a plain file server, from which the modules of the page can be imported one by one."""
    handler = functools.partial(_Handler, directory=str(STATIC))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = chromium.new_page(locale="en-GB", timezone_id="UTC")
        page.goto(f"http://127.0.0.1:{server.server_port}/blank")
        yield page
        page.close()
        server.shutdown()


@pytest.fixture(scope="module")
def watch(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    """A monitor that has learned."""
    with Watch(tmp_path_factory.mktemp("state")) as monitor:
        monitor.learn()
        yield monitor


@pytest.fixture
def opened(chromium: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens a page; what the page complains about, or asks of other sites, fails the test."""
    contexts, complaints = [], []

    def opening(address: str, width: int = 1440, height: int = 900, **options: Any) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": height}, timezone_id="UTC", **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: _note_foreign(request.url, address.partition("?")[0], complaints))
        page.goto(address)
        assert_soon(page, lambda: level(page) == "connecting", False)
        return page

    yield opening
    for context in contexts:
        context.close()
    # a server that a test stops cannot answer, and one that asks for a token refuses
    assert [
        text for text in complaints if not re.search("net::ERR_(CONNECTION|EMPTY|INCOMPLETE)|status of 401", text)
    ] == []


def _note_foreign(url: str, address: str, complaints: list[str]) -> None:
    if not url.startswith((address, "data:")):
        complaints.append(f"asked another site: {url}")

"""The web server: one process, one thread for all pages."""

import contextlib
import logging
import socket
from collections.abc import Generator

import uvicorn

from mercer.watch.api import Api
from mercer.watch.monitor import Monitor
from mercer.watch.security import Guard

_LONGEST_HEAD = 16_384  # bytes of the first lines of a request


class _Server(uvicorn.Server):
    """A server that leaves signals to the command."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Take no signals."""
        yield


class WebServer:
    """Serves the pages of a monitor until it is stopped."""

    def __init__(self, monitor: Monitor, guard: Guard, listening: socket.socket) -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # malformed requests are no news
        config = uvicorn.Config(
            Api(monitor).application(guard),
            http="h11",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=_LONGEST_HEAD,
        )
        self._server, self._listening = _Server(config), listening

    def run(self) -> None:
        """Serve until `stop` is called."""
        self._server.run(sockets=[self._listening])

    def stop(self) -> None:
        """End soon; may be called from any thread or signal handler."""
        self._server.should_exit = True


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        reason = error.strerror or error
        raise OSError(f"Cannot listen at {host}, port {port}: {reason}. Give others with --host or --port.") from error
    listening.listen(128)
    return listening

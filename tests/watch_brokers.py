"""Programs that bring rows, on free ports of this machine; tests are skipped where they are not installed."""

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

import pytest


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed (Debian: apt-get install {name})")
    return found


@contextmanager
def running(command: list[str], port: int):
    """Run a server until the test is over."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        else:
            raise AssertionError(f"{command[0]} did not start")
        yield port
    finally:
        process.terminate()
        process.wait()


@contextmanager
def redis_server(folder):
    port = free_port()
    name = program("redis-server")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    with running([name, *options], port):
        yield port


@contextmanager
def mosquitto(folder):
    port = free_port()
    name = program("mosquitto")
    settings = folder / "mosquitto.conf"
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 100000\n")
    with running([name, "-c", str(settings)], port):
        yield port

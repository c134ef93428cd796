"""The server as it runs: a thousand malformed requests, many pages, standard input, and the command itself."""

import json
import socket
import subprocess
import urllib.request
from urllib.parse import urlsplit

import numpy as np
import pytest

pytest.importorskip("uvicorn")
from commands import failure, run
from watch_parts import csv_text, plant
from watch_process import WatchProcess, until

ROWS = plant(300, faults=((200, 230),))


@pytest.fixture(scope="module")
def process():
    found = WatchProcess("-", "--port", 0, "--learn", 60, "--alpha", 0.02, stdin=subprocess.PIPE)
    found.process.stdin.write(csv_text(ROWS))
    found.process.stdin.flush()
    found.judged(300)
    yield found
    assert found.end() == 0


def answer(address, data):
    """Send bytes, and return the first line of the answer, or nothing where there is none."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(200).partition(b"\r\n")[0]
        except OSError:
            return b""


def malformed(rng, number):
    """A request that is wrong in one of several ways."""
    junk = bytes(rng.integers(0, 256, int(rng.integers(1, 300)), dtype=np.uint8))
    good = b"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    kinds = [
        junk,
        b"GET " + junk + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /api/history?points=" + junk.replace(b" ", b"") + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + junk + b"\r\n\r\n",
        b"POST /api/alarms/1/comment HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        + f"Content-Length: {len(junk)}\r\n\r\n".encode() + junk,
        b"POST /api/alarms/1/comment HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n{}",
        b"POST /api/alarms/1/shelve HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + junk,
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 40_000 + b"\r\n\r\n",
        good[: int(rng.integers(1, len(good)))],
        b"GET /" + b"a" * 30_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ]  # fmt: skip
    return kinds[number % len(kinds)]


def test_a_thousand_malformed_requests_end_in_no_500(process):
    rng = np.random.default_rng(0)
    found = [answer(process.address, malformed(rng, i)) for i in range(1000)]
    statuses = {line.split(b" ")[1] for line in found if line}
    assert all(status.startswith((b"4", b"2")) for status in statuses)
    assert sum(line.startswith(b"HTTP/1.1 4") for line in found) > 500
    assert process.get("/api/status")["rows"] == 300
    assert not [line for line in process.said if "Traceback" in line]


def test_fifty_pages_listen_and_all_hear_of_an_alarm(process):
    parts = urlsplit(process.address)
    host = f"{parts.hostname}:{parts.port}"
    pages = [socket.create_connection((parts.hostname, parts.port), timeout=60) for _ in range(50)]
    for page in pages:
        page.sendall(f"GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    heard = [b""] * 50
    for i, page in enumerate(pages):
        while b"event: status" not in heard[i]:
            heard[i] += page.recv(65_536)
    assert process.post("/api/alarms/1/comment", {"comment": "hello pages"})["comment"] == "hello pages"
    process.process.stdin.write(csv_text(plant(40, seed=5), 300, header=False))
    process.process.stdin.flush()
    for i, page in enumerate(pages):
        while b"hello pages" not in heard[i] or b"event: rows" not in heard[i]:
            more = page.recv(65_536)
            assert more
            heard[i] += more
        page.close()


def test_a_token_is_made_and_printed_once_for_other_addresses(tmp_path):
    (tmp_path / "x.csv").write_text(csv_text(ROWS[:5]))
    process = WatchProcess(tmp_path / "x.csv", "--port", 0, "--host", "0.0.0.0", "--learn", 60)
    address = process.address.replace("0.0.0.0", "127.0.0.1")
    base, _, token = address.partition("?token=")
    assert len(token) >= 32
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(base + "api/status", timeout=60)
    request = urllib.request.Request(base + "api/status", headers={"Authorization": f"Bearer {token}"})
    assert json.loads(urllib.request.urlopen(request, timeout=60).read())["state"] in ("learning", "stopped")
    assert process.end() == 0
    assert sum(token in line for line in process.said) == 1


def test_a_file_without_a_page(tmp_path):
    (tmp_path / "x.csv").write_text(csv_text(ROWS))
    done = run(
        "watch", tmp_path / "x.csv", "--headless", "--learn", 60, "--alpha", 0.02, "--alarms", tmp_path / "a.jsonl"
    )
    assert "240 rows judged" in done.stderr
    events = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [event["kind"] for event in events][:2] == ["opened", "closed"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "--demo"),
        (["absent.csv"], "not a file"),
        ([".", "--follow"], "is a folder. Name the file in it."),
        (["-", "--persist", "3,2"], "--persist"),
        (["-", "--persist", "x"], "--persist"),
        (["-", "--model", "m", "--learn", "50"], "--learn"),
        (["-", "--model", "absent.mercer"], "absent.mercer"),
        (["-", "--host", "0.0.0.0", "--token", "short", "--port", "0"], "token"),
        (["-", "--headless", "--webhook", "ftp://x"], "http"),
        (["-", "--host", "192.0.2.1", "--port", "0"], "assign requested address. Give others with --host or --port."),
    ],
)
def test_wrong_options_end_in_one_line(args, words):
    assert words in failure("watch", *args)


def test_the_demonstration_runs(tmp_path):
    process = WatchProcess("--demo", "--port", 0)
    status = until(lambda: (s := process.get("/api/status"))["counts"]["judged"] > 3000 and s, "the past of the plant")
    assert len(status["variables"]) == 11
    alarms = process.get("/api/alarms")["alarms"]
    assert alarms[-1]["contributions"][0]["variable"] == "reactor temperature"
    assert process.end() == 0

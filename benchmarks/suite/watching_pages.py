"""Pages that listen, for measurements: `python -m benchmarks.suite.watching_pages PORT COUNT [FOLDER RATE]`.

With a folder, it also writes the rows that are there to a file, at a rate, and prints how long each took to the page.
"""

import json
import selectors
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.suite.watching import header, line


def connected(port: int) -> socket.socket:
    page = socket.create_connection(("127.0.0.1", port), timeout=60)
    page.sendall(f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    assert page.recv(20).startswith(b"HTTP/1.1 200")
    return page


def listen(pages: list[socket.socket]) -> None:
    """Read whatever comes, until this process is told to end; then print how many pages heard of rows."""
    heard = [False] * len(pages)
    signal.signal(signal.SIGTERM, lambda *_: (_told(heard), sys.exit(0)))
    selector = selectors.DefaultSelector()
    for i, page in enumerate(pages):
        page.setblocking(False)
        selector.register(page, selectors.EVENT_READ, i)
    print("connected", flush=True)
    while True:
        for key, _ in selector.select():
            data = pages[key.data].recv(1 << 20)
            heard[key.data] = heard[key.data] or b"event: rows" in data
            if not data:
                selector.unregister(key.fileobj)


def _told(heard: list[bool]) -> None:
    print(json.dumps({"heard": sum(heard)}), flush=True)


def write(path: Path, rows: np.ndarray, rate: float) -> None:
    start = time.time()
    with open(path, "w") as file:
        file.write(header())
        for i, row in enumerate(rows):
            time.sleep(max(0.0, start + i / rate - time.time()))
            file.write(line(time.time(), row))
            file.flush()


def measure(page: socket.socket, folder: Path, rate: float) -> None:
    """Print how long each row took from the file to the page."""
    rows = np.load(folder / "rows.npy")
    print("connected", flush=True)
    threading.Thread(target=write, args=(folder / "rows.csv", rows, rate), daemon=True).start()
    found: list[float] = []
    stream, latest = page.makefile("rb"), time.time() + len(rows) / rate + 20.0
    kind = b""
    while len(found) < len(rows) and time.time() < latest:
        text = stream.readline()
        if text.startswith(b"event: "):
            kind = text[7:].strip()
        elif text.startswith(b"data: ") and kind == b"rows":
            now = time.time()
            found += [now - at for at in json.loads(text[6:])["time"]]
    print(json.dumps({"latencies": found}), flush=True)


def main() -> None:
    port, count = int(sys.argv[1]), int(sys.argv[2])
    pages = [connected(port) for _ in range(count)]
    if len(sys.argv) > 3:
        measure(pages[0], Path(sys.argv[3]), float(sys.argv[4]))
    else:
        listen(pages)


if __name__ == "__main__":
    main()

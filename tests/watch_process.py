"""`mercer watch` as a process that can be asked, stopped and killed."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

LONG = 240.0  # seconds after which a test gives up; never a measure of speed


def until(condition, what, seconds=LONG):
    """Wait until something holds, and return it."""
    latest = time.monotonic() + seconds
    while time.monotonic() < latest:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


class WatchProcess:
    """A running monitor with its page on a free port."""

    def __init__(self, *args, stdin=None, env=None):
        code = "import sys; from mercer.cli.app import main; sys.argv = ['mercer', *sys.argv[1:]]; main()"
        command = [sys.executable, "-c", code, "watch", *map(str, args)]
        given = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "500", **(env or {})}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=stdin, text=True, env=given)
        self.said: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stderr:
            self.said.append(line.rstrip())

    @property
    def address(self):
        """The address of the page, once it is there."""
        return until(self._address, f"the page; it said {self.said}")

    def _address(self):
        if self.process.poll() is not None:
            raise AssertionError(f"it ended with {self.process.returncode}: {self.said}")
        found = [match[0] for line in self.said if (match := re.search(r"http://\S+", line))]
        return found[0] if found else None

    def get(self, path):
        with urllib.request.urlopen(self.address.partition("?")[0] + path.lstrip("/"), timeout=60) as answer:
            return json.loads(answer.read())

    def post(self, path, value):
        """Send JSON; return the answer, or None if the process was not there to give one."""
        request = urllib.request.Request(
            self.address + path.lstrip("/"), json.dumps(value).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())
        except (OSError, urllib.error.URLError):
            return None

    def judged(self, rows):
        """Wait until so many rows were used."""
        until(lambda: self.get("/api/status")["rows"] >= rows, f"{rows} rows")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        """Stop it as a supervisor does; return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LONG)

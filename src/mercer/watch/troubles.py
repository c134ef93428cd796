"""What a user must know because something does not work, for as long as it does not."""

import threading


class Troubles:
    """One sentence per subject; several threads tell."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._lock = threading.Lock()

    def tell(self, subject: str, text: str) -> None:
        """Note that something does not work."""
        with self._lock:
            self._texts[subject] = text

    def over(self, subject: str) -> None:
        """Note that it works again."""
        with self._lock:
            self._texts.pop(subject, None)

    def texts(self) -> dict[str, str]:
        """Return what does not work now, by subject."""
        with self._lock:
            return dict(self._texts)

"""The model files of a state: which one is used, and when it is saved."""

import hashlib
import time
from pathlib import Path
from typing import Any

from mercer.watch.judges import Judge, judge_of
from mercer.watch.settings import Settings
from mercer.watch.store import Store

_EVERY = 60.0  # seconds
_AGAIN = 1.0  # seconds before the next try, where the file could not be written
_MOST_ROWS = 50_000  # since the model was saved: more would make a restart slow
_LEARNED = "learned"


class Models:
    """Knows where the model came from and where it is saved."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self._origin = _LEARNED if settings.model is None else _digest(settings.model)
        self._saved_at, self._rows = time.monotonic(), 0
        self._failed_at: float | None = None  # when the file could not be written

    def same_origin(self) -> bool:
        """Tell whether the state belongs to this model, or to one that was learned from the rows."""
        return bool(self.store.meta("origin") == self._origin)

    def at_start(self) -> tuple[Judge | None, int]:
        """Return the model of the state, or the given one, or None; and the number of rows that it has judged."""
        saved = self.store.meta("model") if self.same_origin() else None
        if saved is not None:
            return judge_of(self.store.folder / saved["file"]), int(saved["row"])
        return (None if self.settings.model is None else judge_of(self.settings.model)), 0

    def begin_anew(self) -> None:
        """Let the state belong to this model, which is not the one that it had."""
        self.store.put({"origin": self._origin, "model": None, "engine": None})
        self.store.forget_history()

    def journalled(self, rows: int) -> None:
        """Note that rows were written to the journal."""
        self._rows += rows

    def due(self) -> bool:
        """Tell whether it is time to save the model."""
        now = time.monotonic()
        if self._failed_at is not None:
            return now - self._failed_at > _AGAIN
        return self._rows > 0 and (now - self._saved_at > _EVERY or self._rows > _MOST_ROWS)

    def saved(self, judge: Judge, row: int) -> dict[str, Any]:
        """Write the model to a new file; return what the state must say about it. OSError if that fails."""
        name = f"model-{row}.mercer"
        self._failed_at = time.monotonic()
        judge.save(self.store.folder / name)
        self._saved_at, self._rows, self._failed_at = time.monotonic(), 0, None
        return {"model": {"file": name, "row": row}, "origin": self._origin}

    def forget_others(self) -> None:
        """Delete the files of models that are not used any more."""
        used = self.store.meta("model")
        for path in self.store.folder.glob("model-*.mercer"):
            if used is None or path.name != used["file"]:
                path.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is not a file; give a detector of `mercer outliers --save`, or a monitor of "
            "`mercer monitor --save`."
        )
    return hashlib.sha256(path.read_bytes()).hexdigest()

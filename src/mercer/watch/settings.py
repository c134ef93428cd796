"""What a user asks for."""

from dataclasses import dataclass
from pathlib import Path

LEARN = 500  # rows
_CLEAR = 10  # quiet rows that close an alarm, at least


@dataclass(frozen=True)
class Settings:
    """How rows are judged, and when there is an alarm."""

    title: str = "mercer watch"
    alpha: float = 0.01  # where a model is learned; a saved one has its own
    learn: int = LEARN
    adapt: bool = False
    persist: tuple[int, int] = (2, 3)
    clear: int | None = None  # None: as many as m, and at least 10
    time: str | None = None
    model: Path | None = None
    durable: bool = True  # whether the state outlives the process

    @property
    def quiet_rows(self) -> int:
        """The number of quiet rows one after the other that close an alarm."""
        return max(self.persist[1], _CLEAR) if self.clear is None else self.clear

"""`Verdicts`: what a monitor says about rows, one line per row."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Verdicts of a `ProcessMonitor` on rows in the order of time.

    Parameters
    ----------
    time : ndarray of shape (n_samples,)
        The times of the rows where they have any, otherwise the number of each row in the stream.
    t2 : ndarray of shape (n_samples,)
        T2, smoothed; NaN for rows that cannot be judged because previous rows or all values are missing. For rows with
        some missing values it is on the scale of complete rows, so that the same limits hold.
    spe : ndarray of shape (n_samples,)
        SPE, smoothed; NaN as for T2.
    p : ndarray of shape (n_samples,)
        The p-values: the smallest rate of false alarms at which the row raises an alarm by T2, SPE or
        slow means.
    alarm : ndarray of bool of shape (n_samples,)
        Whether the row raises an alarm, by its p-value or by a sensor that is missing or frozen for long.
    which : ndarray of str of shape (n_samples,)
        What raises the alarm: "t2", "spe", "level: NAMES" for columns whose slow means are far from those of the
        training rows, or "relation: NAMES" for columns whose slow means are not what the other columns let expect, the
        furthest first; "missing: NAMES" or "frozen: NAMES" for sensors. Several are separated by "; ". Empty where
        there is no alarm.

    See Also
    --------
    mercer.ProcessMonitor : Alarms for rows in the order of time.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ProcessMonitor
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> monitor = ProcessMonitor(random_state=0).fit(X)
    >>> verdicts = monitor.judge([[0.0, 0.0, 0.0], [30.0, 0.0, 0.0]])
    >>> verdicts.alarm.tolist()
    [False, True]
    """

    time: npt.NDArray[Any]
    t2: Array
    spe: Array
    p: Array
    alarm: npt.NDArray[np.bool_]
    which: npt.NDArray[np.str_]

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).flags.writeable = False

    @classmethod
    def none(cls, timed: bool) -> "Verdicts":
        """Return the verdicts on no rows.

        Parameters
        ----------
        timed : bool
            Whether rows have times.

        Returns
        -------
        Verdicts
            A table without a line.
        """
        time = np.empty(0, "datetime64[ns]" if timed else np.int64)
        return cls(time, np.empty(0), np.empty(0), np.empty(0), np.empty(0, bool), np.empty(0, np.str_))

    def __len__(self) -> int:
        return len(self.time)

    def episodes(self) -> list[tuple[Any, Any]]:
        """Return the alarms as intervals of time.

        Returns
        -------
        list of tuple
            The times of the first and of the last row of each run of rows with an alarm.
        """
        return self._intervals(self.alarm)

    def sensor_episodes(self) -> list[tuple[Any, Any]]:
        """Return the alarms that only missing or frozen sensors raise, as intervals of time.

        Returns
        -------
        list of tuple
            The times of the first and of the last row of each run of such rows.
        """
        return self._intervals(
            self.alarm & (np.char.startswith(self.which, "missing: ") | np.char.startswith(self.which, "frozen: "))
        )

    def _intervals(self, rows: npt.NDArray[np.bool_]) -> list[tuple[Any, Any]]:
        padded = np.concatenate([[False], rows, [False]]).astype(np.int8)
        turns = np.flatnonzero(np.diff(padded))
        return [(self.time[first], self.time[last - 1]) for first, last in zip(turns[::2], turns[1::2], strict=True)]

    def to_frame(self) -> Any:
        """Return the verdicts as a data frame, indexed by time; it needs pandas.

        Returns
        -------
        pandas.DataFrame
            The columns t2, spe, p, alarm and which.
        """
        import pandas as pd

        columns = {field.name: getattr(self, field.name).copy() for field in fields(self) if field.name != "time"}
        return pd.DataFrame(columns, index=pd.Index(self.time.copy(), name="time"))

"""What every estimator with a model file shares: save, and the state that goes into the file."""

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from mercer.io import persist


class ModelFiles:
    """The part of an estimator that writes its fitted state to a file; `mercer.load` reads it."""

    _fitted_attributes: tuple[str, ...] = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file; `mercer.load(path)` reads it back.

        The file holds numbers and parameters and no code. It is written in full or not at all: where writing fails, a
        file that was there before stays as it was.

        Parameters
        ----------
        path : str or os.PathLike
            Name of the file.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        NotSaveableError
            If a part of the model cannot be stored without code, such as a kernel given as a function.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import mercer
        >>> model = mercer.KernelPCA(n_components=1).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(Path(folder) / "model.mercer")
        ...     again = mercer.load(Path(folder) / "model.mercer")
        >>> bool((again.transform([[1.0, 2.0]]) == model.transform([[1.0, 2.0]])).all())
        True
        """
        self._check_fitted()
        persist.save(self, path)

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def _saved_state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fitted_attributes if hasattr(self, name)}

    def _restore_state(self, state: dict[str, Any]) -> None:
        for name in self._fitted_attributes:
            if name in state:
                setattr(self, name, state[name])

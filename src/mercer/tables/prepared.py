"""`PreparedModel`: a fitted model with the scaling of its columns, so that new rows are scaled in the same way."""

import os
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.expansion.model import Expansion
from mercer.io import persist

_PLAIN = ("estimator", "means", "scale", "missing", "feature_names_in_")


class PreparedModel:
    """A fitted decomposition with the scaling of its columns and their means, as `mercer fit --scale` saves it.

    It takes rows before the scaling. `transform` and `reconstruction_error` scale them first. `inverse_transform`
    returns rows in their own units. `mercer.load` returns such a model for a file of `mercer fit --scale`.

    Parameters
    ----------
    estimator : estimator, default=None
        A decomposition of this package, fitted to scaled rows.
    scaling : Scaling, default=None
        The mean and the unit of each column.
    means : array-like of shape (n_features,), default=None
        The means of the columns in the training rows.
    scale : {"soft", "variance", "none"}, default="none"
        The kind of scaling.
    missing : {"error", "mean"}, default="error"
        What is done with NaN: an error, or replacement by the mean of the column in the training rows.

    Attributes
    ----------
    feature_names_in_ : ndarray of str
        The names of the columns, where the training rows had them.
    n_features_in_ : int
        The number of columns.
    expansion_ : Expansion
        The model in feature space, of scaled rows.

    See Also
    --------
    mercer.load : Loads a saved model.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> from mercer.tables.prepared import PreparedModel
    >>> from mercer.engine.scaling import Scaling
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 10.0, 100.0]
    >>> scaling = Scaling.of(X, "variance")
    >>> model = mercer.KernelPCA(2, kernel="rbf").fit(scaling(X))
    >>> PreparedModel(model, scaling, X.mean(axis=0), "variance").transform(X).shape
    (50, 2)
    """

    estimator: Any
    scaling: Scaling
    means: Array
    scale: str
    missing: str

    def __init__(
        self, estimator: Any = None, scaling: Any = None, means: Any = None, scale: str = "none", missing: str = "error"
    ) -> None:
        self.estimator, self.scaling, self.means, self.scale, self.missing = estimator, scaling, means, scale, missing

    def prepared(self, X: Any) -> Array:
        """Return rows as the estimator needs them: scaled, and with missing cells replaced.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows. Of a data frame, the columns that the model knows by name are taken.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The scaled rows.

        Raises
        ------
        ValueError
            If X has another number of columns, or a column is missing.
        """
        rows = self._numbers(X)
        if rows.ndim != 2 or rows.shape[1] != len(self.means):
            raise ValueError(f"X has the shape {rows.shape}; this model needs rows of {len(self.means)} features.")
        if self.missing == "mean":
            rows = filled(rows, self.means)
        return self.scaling(rows)

    def _numbers(self, X: Any) -> Array:
        """Return the rows as an array of floating point numbers, with the columns in the order of the training rows."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None and hasattr(X, "columns"):
            missing = [repr(name) for name in names if name not in X.columns]
            if missing:
                raise ValueError(f"X has no column {', '.join(missing)}, which the model was fitted on.")
            X = X[list(names)]
        rows = np.asarray(X)
        return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)

    def transform(self, X: Any) -> Array:
        """Return the scores of rows on the components.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows, in their own units.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The scores.
        """
        return np.asarray(self.estimator.transform(self.prepared(X)))

    def reconstruction_error(self, X: Any) -> Array:
        """Return each row's squared distance, in feature space, from the subspace of the components.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows, in their own units.

        Returns
        -------
        ndarray of shape (n_samples,)
            The squared distances.
        """
        return np.asarray(self.estimator.reconstruction_error(self.prepared(X)))

    def inverse_transform(self, X: Any) -> Array:
        """Return rows, in their own units, whose images in feature space are near the given scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The rows.
        """
        return np.asarray(self.estimator.inverse_transform(X) * self.scaling.unit + self.scaling.mean)

    def get_feature_names_out(self) -> Any:
        """Return the names of the components.

        Returns
        -------
        ndarray of str
            The names, one per component.
        """
        return self.estimator.get_feature_names_out()

    @property
    def expansion_(self) -> Expansion:
        """The model in feature space, of scaled rows."""
        found: Expansion = self.estimator.expansion_
        return found

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self.means)

    # -- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically; `mercer.load(path)` reads it.

        Parameters
        ----------
        path : str or path
            The file.
        """
        persist.save(self, path)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return no parameters: everything is fitted.

        Parameters
        ----------
        deep : bool, default=True
            Not used.

        Returns
        -------
        dict
            An empty dictionary.
        """
        return {}

    def _saved_state(self) -> dict[str, Any]:
        """Return what a model file stores."""
        state = {name: getattr(self, name) for name in _PLAIN if hasattr(self, name)}
        return {**state, "scaling": [self.scaling.mean, self.scaling.unit]}

    def _restore_state(self, state: dict[str, Any]) -> None:
        """Set what a model file stored."""
        for name in _PLAIN:
            if name in state:
                setattr(self, name, state[name])
        self.scaling = Scaling(*state["scaling"])


def training_means(model: Any) -> Array | None:
    """Return the means of the columns that a model was fitted on, where it knows them."""
    if isinstance(model, PreparedModel):
        return model.means
    if getattr(model, "standardize", False) and hasattr(model, "_scaling"):  # a detector, which scales
        found: Array = model._scaling.mean
        return found
    return None


def filled(X: Array, means: Array) -> Array:
    """Return rows in which NaN is replaced by these means."""
    return np.where(np.isnan(X), means.astype(X.dtype), X)

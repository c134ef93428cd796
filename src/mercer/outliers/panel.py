"""The models that judge rows together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.expansion.model import Expansion
from mercer.outliers.ellipsoid import Ellipsoid
from mercer.outliers.scores import ScoreModel

_ROUNDING = 64.0 * np.finfo(float).eps  # share of k(x, x) below which a squared distance from the mean is rounding


@dataclass(frozen=True, eq=False)
class Judge:
    """A scaling and a model of T2 and SPE, fitted to the same rows."""

    scaling: Scaling
    model: ScoreModel

    def __call__(self, X: Array) -> Array:
        """Return T2 and SPE of every row, (n, 2)."""
        return self.model(self.scaling.bounded(X))


@dataclass(frozen=True, eq=False)
class PanelJudge(Judge):
    """A judge with an ellipsoid of the same rows, if Mahalanobis distances count."""

    ellipsoid: Ellipsoid | None

    def __call__(self, X: Array) -> Array:
        """Return T2 and SPE of every row, (n, 2), with the squared distance where it counts, (n, 3)."""
        return with_distance(super().__call__(X), self.ellipsoid, X)


@dataclass(frozen=True, eq=False)
class Panel:
    """Several judges. Those that share scaling and points need only one block of kernel values for all of them."""

    judges: Sequence[PanelJudge]

    def __iter__(self) -> Iterator[PanelJudge]:
        return iter(self.judges)

    def __call__(self, X: Array) -> Array:
        """Return the statistics by every model, (models, rows, 2 or 3)."""
        if self._stacked is None:
            return np.stack([judge(X) for judge in self.judges])
        rows, models = self.judges[0].scaling.bounded(X), [judge.model for judge in self.judges]
        own = self._stacked.kernel.diagonal(rows)
        means = [model.expansion.nu for model in models if model.expansion.nu is not None]
        products = self._stacked.combine(np.vstack([self._stacked.coef, *means]), rows)
        scores, found = products[:, : len(self._stacked.coef)] - self._stacked.offset, []
        for k, (model, y) in enumerate(zip(models, self._separated(scores), strict=True)):
            norms = own
            if means:
                norms = own - 2.0 * products[:, scores.shape[1] + k] + model.expansion.mean_norm
                norms = np.where(norms > _ROUNDING * own, norms, 0.0)
            scored = np.column_stack([model.t2(y), model.spe(y, norms)])
            found.append(with_distance(scored, self.judges[k].ellipsoid, X))
        return np.stack(found)

    def _separated(self, scores: Array) -> list[Array]:
        """Return the scores of each model."""
        return np.split(scores, np.cumsum([judge.model.expansion.n_components for judge in self.judges])[:-1], axis=1)

    @property
    def points_are_shared(self) -> bool:
        """Whether all judges have the same scaling, kernel and points, and means or none."""
        first, *others = self.judges
        model = first.model.expansion
        return all(
            other.scaling is first.scaling
            and other.model.expansion.points is model.points
            and other.model.expansion.kernel == model.kernel
            and (other.model.expansion.nu is None) == (model.nu is None)
            and not other.model.expansion.empirical
            for other in others
        )

    @cached_property
    def _stacked(self) -> Expansion | None:
        """All components of all judges as one model, with the smallest of their spreads; None if points differ."""
        if len(self.judges) == 1 or not self.points_are_shared:
            return None
        models = [judge.model.expansion for judge in self.judges]
        return replace(
            min(models, key=lambda model: (model.trace or 0.0) / model.n_seen),
            coef=np.vstack([model.coef for model in models]),
            offset=np.concatenate([model.offset for model in models]),
            eigenvalues=np.concatenate([model.eigenvalues for model in models]),
            gram=block_diag(*(model.gram for model in models)),
        )


def with_distance(scores: Array, ellipsoid: Ellipsoid | None, X: Array) -> Array:
    """Return T2 and SPE, (n, 2), with the squared distances of the rows in a third column, if there is an ellipsoid."""
    return scores if ellipsoid is None else np.column_stack([scores, ellipsoid(X)])

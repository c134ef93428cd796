"""The models that judge rows together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.outliers.ellipsoid import Ellipsoid
from mercer.outliers.joint import JointEllipsoids, JointScores
from mercer.outliers.scores import ScoreModel


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
        if self._joint is None:
            return np.stack([judge(X) for judge in self.judges])
        found = list(self._joint(self.judges[0].scaling.bounded(X)))
        if self.judges[0].ellipsoid is not None:
            found.append(self._distances(X))
        return np.stack(found, axis=-1)

    def _distances(self, X: Array) -> Array:
        """Return the squared distances of the rows by every ellipsoid, (models, rows)."""
        joint = self._joint_ellipsoids
        return np.stack([ellipsoid(X) for ellipsoid in self._ellipsoids]) if joint is None else joint(X)

    @property
    def _ellipsoids(self) -> list[Ellipsoid]:
        return [judge.ellipsoid for judge in self.judges if judge.ellipsoid is not None]

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
    def _joint(self) -> JointScores | None:
        """All models as one; None if points differ."""
        if len(self.judges) == 1 or not self.points_are_shared:
            return None
        return JointScores.of([judge.model for judge in self.judges])

    @cached_property
    def _joint_ellipsoids(self) -> JointEllipsoids | None:
        return JointEllipsoids.of(self._ellipsoids)


def with_distance(scores: Array, ellipsoid: Ellipsoid | None, X: Array) -> Array:
    """Return T2 and SPE, (n, 2), with the squared distances of the rows in a third column, if there is an ellipsoid."""
    return scores if ellipsoid is None else np.column_stack([scores, ellipsoid(X)])

"""`KernelMutualSubspace`: sets of images told apart by the angles between their subspaces in feature space."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer.arrays import Array
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.incremental_kernel_pca import IncrementalKernelPCA
from mercer.expansion.model import Expansion
from mercer.images.image_sets import check_labels, check_set, in_order, listed, unit_rows
from mercer.images.verification import Roc, curve, is_complete, threshold_for
from mercer.kernels.resolve import resolve_gamma
from mercer.metrics.subspaces import orthonormal_basis

_NARROWNESS = 0.1  # the default gamma times the mean squared length of a row: a kernel as wide as the rows are long
_MEASURES = ("cosines", "angles")
Labels = npt.NDArray[Any]


class KernelMutualSubspace:
    """Classifier of sets of images by principal angles between kernel subspaces [chin2007, sec. V-C2].

    Every label has one subspace of feature space, spanned by the leading components of its images; it can grow a frame
    at a time. A set of unknown images gets a subspace of its own, and the label of the reference that makes the
    smallest angles with it. With kernel="linear" this is the mutual subspace method (MSM).

    Parameters
    ----------
    estimator : a Mercer estimator or None
        What finds the components; copies of it do the work. The mean of a centred model is not compared, so it should
        not centre. None: `IncrementalKernelPCA(n_components, kernel, gamma, center=False)`.
    n_components : int
        Dimensions of a subspace: the first components of the estimator.
    n_angles : int
        How many angles count, the smallest first, and at most the dimensions of the unknown set. The last ones
        compare directions that few images support. 1: the classical choice.
    measure : {"cosines", "angles"}
        Similarity, between 0 and 1. "cosines": the mean of cos^2. "angles": one minus the distance of [chin2007,
        eq. 36], sqrt(sum theta^2), divided by the largest possible one.
    kernel, gamma :
        Of the default estimator. gamma=None: 0.1 / mean |x|^2 over the rows of the first call. Whatever gives it, it is
        frozen as `gamma_` then: subspaces are comparable under one kernel only.
    normalize : bool
        Scale every image to unit length first, so that its brightness does not count.
    threshold : float or None
        Similarity from which on `verify` accepts; None: `calibrate` finds it.

    Attributes
    ----------
    references_ : dict of label to fitted estimator
    classes_ : ndarray of the labels, in the order of the columns of `similarity`
    threshold_ : float
    gamma_ : float

    Notes
    -----
    Where a set has fewer dimensions than its reference, all its angles count; where the reference has fewer, those that
    it lacks count as right angles.

    References
    ----------
    [chin2007] T.-J. Chin and D. Suter, Incremental kernel principal component analysis, IEEE Transactions on Image
    Processing 16 (2007). Principal angles in feature space: L. Wolf and A. Shashua, Journal of Machine Learning
    Research 4 (2003).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelMutualSubspace
    >>> X, y = load_digits(return_X_y=True)
    >>> known, unknown = ([X[part][y[part] == k] for k in range(10)] for part in (slice(0, 900), slice(900, None)))
    >>> model = KernelMutualSubspace().fit(known, range(10))
    >>> [int(label) for label in model.predict(unknown)]
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> model.similarity(unknown).shape
    (10, 10)
    """

    references_: dict[Any, Any]
    gamma_: float

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_components: int = 5,
        n_angles: int = 3,
        measure: str = "cosines",
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        normalize: bool = True,
        threshold: float | None = None,
    ) -> None:
        for name, count in (("n_components", n_components), ("n_angles", n_angles)):
            if int(count) != count or count < 1:
                raise ValueError(f"{name} must be a whole number of at least 1; got {count!r}.")
        if measure not in _MEASURES:
            raise ValueError(f"measure must be one of {', '.join(_MEASURES)}; got {measure!r}.")
        self.estimator = estimator
        self.n_components = int(n_components)
        self.n_angles = int(n_angles)
        self.measure = measure
        self.kernel = kernel
        self.gamma = gamma
        self.normalize = normalize
        self.threshold = threshold
        self._bases: dict[Any, Expansion] = {}

    # -- learning ------------------------------------------------------------------------------------------------

    def fit(self, sets: Sequence[Any], labels: Iterable[Any]) -> Self:
        """Forget everything and learn one subspace a label; sets with the same label are taken together, in order.

        A set is an array with one image a row, (images, pixels) or (images, height, width).
        """
        names = check_labels(labels, len(listed(sets)))
        if len(set(names)) < 2:
            raise ValueError(
                f"fit needs sets of at least two labels; all {len(names)} sets are labelled {names[0]!r}. To verify a "
                "single identity, pass its frames to partial_fit and use `similarity` or `verify`."
            )
        rows = self._checked_sets(sets, n_features=None)
        self._begin(np.vstack(rows))
        learned = {}
        for label in in_order(names):
            chunk = np.vstack([one for one, name in zip(rows, names, strict=True) if name == label])
            learned[label] = self._new_model().fit(chunk)
        self.references_ = learned
        return self

    @all_or_nothing
    def partial_fit(self, frames: Any, label: Any) -> Self:
        """Learn from one more frame, (pixels,), or from a chunk of frames, one a row; a new label becomes a reference.

        A single picture of (height, width) would be taken for rows: flatten it, or pass frames[None].
        """
        begun = bool(getattr(self, "references_", None))
        [rows] = self._checked_sets([frames], self._n_features if begun else None)
        if not begun:
            self._begin(rows)
            self.references_ = {}
        model = self.references_.get(label)
        model = self._new_model() if model is None else model
        _needs_partial_fit(model)
        self.references_ = {**self.references_, label: model.partial_fit(rows)}
        self._bases = {name: basis for name, basis in self._bases.items() if name != label}
        return self

    def _begin(self, rows: Array) -> Self:
        """Freeze what all subspaces share: the number of features and the width of the kernel."""
        gamma = self.gamma if self.estimator is None else getattr(self.estimator, "gamma", None)
        if gamma is None and self.estimator is None:
            length = float(np.mean(np.einsum("ij,ij->i", rows, rows)))
            gamma = _NARROWNESS / length if length > 0 else 1.0
        self.gamma_ = resolve_gamma(gamma, rows)
        self._n_features = rows.shape[1]
        self._bases = {}
        self._calibrated: float | None = None
        return self

    def _new_model(self) -> Any:
        if self.estimator is None:
            return IncrementalKernelPCA(
                self.n_components, kernel=self.kernel, gamma=self.gamma_, center=False, random_state=0
            )
        model = clone(self.estimator)
        return model.set_params(gamma=self.gamma_) if "gamma" in model.get_params(deep=False) else model

    # -- comparing -----------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> Labels:
        """The labels, in the order of the columns of `similarity`."""
        self._check_fitted()
        return np.array(list(self.references_))

    def similarity(self, sets: Sequence[Any]) -> Array:
        """Return how much each set is like each reference, (n_sets, n_references), from 0 to 1.

        A set is an array of images, or a model or `Expansion` that has already learned them with the same kernel.
        """
        cosines = self.cosines(sets)
        if self.measure == "cosines":
            return np.asarray(np.nanmean(cosines**2, axis=2))
        angles = np.arccos(cosines)
        counted = np.sum(~np.isnan(angles), axis=2)
        return np.asarray(1.0 - np.sqrt(np.nansum(angles**2, axis=2) / counted) / (np.pi / 2))  # (36)

    def cosines(self, sets: Sequence[Any]) -> Array:
        """Return the cosines of the angles that count, (n_sets, n_references, n_angles); nan where a set has fewer."""
        self._check_fitted()
        queries = self._subspaces(sets)
        references = [self._basis(label) for label in self.references_]
        points = np.vstack([basis.points for basis in references])  # one kernel block for a set against all of them
        ends = np.cumsum([basis.n_points for basis in references])[:-1]
        found = np.full((len(queries), len(references), self.n_angles), np.nan)
        for row, query in zip(found, queries, strict=True):
            values = np.split(query.combine(query.coef, points), ends)
            row[:, : query.n_components] = self._leading_cosines(references, values)
        return found

    def _leading_cosines(self, references: list[Expansion], values: list[Array]) -> Array:
        """Return singular values of inner products of orthonormal bases [Wolf and Shashua 2003], (references, t)."""
        r = self.n_components
        products = np.zeros((len(references), r, values[0].shape[1]))
        for product, basis, value in zip(products, references, values, strict=True):
            product[: basis.n_components] = basis.coef @ value
        t = min(self.n_angles, *products.shape[1:])
        return np.asarray(np.clip(np.linalg.svd(products, compute_uv=False)[:, :t], 0.0, 1.0))

    def _basis(self, label: Any) -> Expansion:
        if label not in self._bases:
            self._bases[label] = self._subspace_of(self.references_[label].expansion_)
        return self._bases[label]

    def _subspace_of(self, expansion: Expansion) -> Expansion:
        if expansion.empirical:
            raise ValueError("Models of the empirical kernel map cannot be compared; use feature_map='whitened'.")
        basis = orthonormal_basis(expansion.truncated(self.n_components))
        if basis.n_components == 0:
            raise ValueError(
                "A set spans no subspace: all its images are zero, or equal under a centred model. "
                "Drop such sets, or use an estimator with center=False."
            )
        return basis

    def _subspaces(self, sets: Sequence[Any]) -> list[Expansion]:
        kernel = next(iter(self.references_.values())).expansion_.kernel
        found = []
        for number, one in enumerate(listed(sets)):
            expansion = one if isinstance(one, Expansion) else getattr(one, "expansion_", None)
            if expansion is None:
                [rows] = self._checked_sets([one], self._n_features, number)
                expansion = self._new_model().fit(rows).expansion_
            if expansion.kernel != kernel:
                raise ValueError(f"Set {number} was learned with the kernel {expansion.kernel!r}, not with {kernel!r}.")
            found.append(self._subspace_of(expansion))
        return found

    # -- deciding ------------------------------------------------------------------------------------------------

    def predict(self, sets: Sequence[Any]) -> Labels:
        """Return for each set the label of the most similar reference."""
        similarity = self.similarity(sets)
        if similarity.shape[1] < 2:
            raise ValueError("There is one reference only, so there is nothing to choose from; use `verify`.")
        return np.asarray(self.classes_[np.argmax(similarity, axis=1)])

    def verify(self, sets: Sequence[Any], labels: Iterable[Any]) -> npt.NDArray[np.bool_]:
        """Tell for each set whether it is what its label claims: as similar to that reference as `threshold_`."""
        names, similarity = self._claims(sets, labels)
        columns = {label: column for column, label in enumerate(self.references_)}
        unknown = [name for name in names if name not in columns]
        if unknown:
            raise ValueError(f"There is no reference for {unknown[0]!r}; known are {list(columns)}.")
        return np.asarray(similarity[np.arange(len(names)), [columns[name] for name in names]] >= self.threshold_)

    @property
    def threshold_(self) -> float:
        """The similarity from which on `verify` accepts: `threshold`, or what `calibrate` found."""
        found = getattr(self, "_calibrated", None) if self.threshold is None else self.threshold
        if found is None:
            raise NotFittedError("There is no threshold yet; pass `threshold`, or call `calibrate` with labelled sets.")
        return float(found)

    def calibrate(self, sets: Sequence[Any], labels: Iterable[Any], false_accepts: float = 0.01) -> Self:
        """Set the threshold to the lowest that accepts at most this share of the pairs with different labels.

        Every set is compared with the references of all other labels. With m such pairs, k = floor(false_accepts * m)
        are accepted and the threshold is just above (1e-9) the similarity of the next one: for false_accepts < 1 / m
        just above the highest. Of pairs with different labels in new sets, about a share (k + 1) / (m + 1) is accepted.
        Pairs with equal labels do not count, so the sets may be those that were learned, or sets of strangers.
        """
        if not 0.0 <= false_accepts < 1.0:
            raise ValueError(f"false_accepts is a share of at least 0 and below 1; got {false_accepts!r}.")
        similarity, genuine = self._pairs(sets, labels)
        if genuine.all():
            raise ValueError(
                "calibrate needs pairs with different labels; no set has another label than its reference. "
                f"The references are {list(self.references_)}: pass sets of others too, with any other label."
            )
        self._calibrated = threshold_for(similarity[~genuine], false_accepts)
        if is_complete(self._calibrated):
            warnings.warn(
                "The threshold is as high as a similarity can be, so verify accepts no new set: too many pairs with "
                "different labels span the same subspace. Does a picture stand under two labels, or is n_components "
                "as large as the number of pixels?",
                UserWarning,
                stacklevel=2,
            )
        return self

    def roc(self, sets: Sequence[Any], labels: Iterable[Any]) -> Roc:
        """Return the ROC curve of verification: every set against every reference, over all thresholds.

        Pass sets that were not learned: a set that is its own reference has a similarity of 1 by construction.
        """
        similarity, genuine = self._pairs(sets, labels)
        if genuine.all() or not genuine.any():
            raise ValueError(
                "A ROC curve needs pairs with equal and pairs with different labels; these sets make only one kind. "
                f"The references are {list(self.references_)}."
            )
        themselves = int(is_complete(similarity[genuine]).sum())
        if themselves:
            warnings.warn(
                f"{themselves} of the {int(genuine.sum())} pairs with equal labels have a similarity of 1, as sets "
                "compared with themselves have: the ROC curve is too good. Pass sets that were not learned.",
                UserWarning,
                stacklevel=2,
            )
        return curve(similarity, genuine)

    def _pairs(self, sets: Sequence[Any], labels: Iterable[Any]) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Return the similarity of every set with every reference, and whether their labels are equal."""
        names, similarity = self._claims(sets, labels)
        return similarity, np.array([[name == label for label in self.references_] for name in names])

    def _claims(self, sets: Sequence[Any], labels: Iterable[Any]) -> tuple[list[Any], Array]:
        return check_labels(labels, len(listed(sets))), self.similarity(sets)

    # -- checks --------------------------------------------------------------------------------------------------

    def _check_fitted(self) -> None:
        if not getattr(self, "references_", None):
            raise NotFittedError("This KernelMutualSubspace has no references yet; call fit or partial_fit first.")

    def _checked_sets(self, sets: Sequence[Any], n_features: int | None, first: int = 0) -> list[Array]:
        found: list[Array] = []
        for number, one in enumerate(listed(sets), start=first):
            rows = check_set(one, f"Set {number}", n_features)
            n_features = rows.shape[1]
            found.append(unit_rows(rows) if self.normalize else rows)
        return found


def _needs_partial_fit(model: Any) -> None:
    if not hasattr(model, "partial_fit"):
        raise TypeError(
            f"{type(model).__name__} has no partial_fit; use fit, or an estimator for streams such as "
            "IncrementalKernelPCA(center=False)."
        )

"""`KernelMutualSubspace`: sets of images told apart by the angles between their subspaces in feature space."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from mercer.arrays import Array
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.incremental_kernel_pca import IncrementalKernelPCA
from mercer.estimators.learning_warnings import fewer_components_are_fine
from mercer.estimators.model_files import ModelFiles
from mercer.expansion.model import Expansion
from mercer.images.checks import check_counts, check_learns_in_parts
from mercer.images.image_sets import check_label, check_labels, check_set, in_order, listed, unit_rows
from mercer.images.subspace_angles import MEASURES, cosines_between, similarity_from, subspace_of
from mercer.images.verification import Roc, curve, threshold_for, warn_if_none_pass, warn_of_themselves
from mercer.kernels.resolve import resolve_gamma

_NARROWNESS = 0.1  # the default gamma times the mean squared length of a row: a kernel as wide as the rows are long
Labels = npt.NDArray[Any]


class KernelMutualSubspace(ModelFiles, BaseEstimator):  # type: ignore[misc]
    """Classifier of sets of images by principal angles between kernel subspaces.

    Every label has one subspace of feature space, spanned by the leading components of its images (sec. V-C2 of
    [chin2007]_); frames can be added to it one at a time. A set of unknown images gets a subspace of its own, and the
    label of the reference that makes the smallest angles with it [wolf2003]_. With kernel="linear" this is the mutual
    subspace method (MSM).

    Parameters
    ----------
    estimator : estimator or None, default=None
        The Mercer estimator that finds the components; copies of it are fitted. The mean of a centred model is not
        compared, so it should not centre. None: `IncrementalKernelPCA` with center=False and the parameters
        `n_components`, `kernel` and `gamma` of this class.
    n_components : int, default=5
        Dimension of a subspace: the first components of the estimator.
    n_angles : int, default=1
        Number of angles that count, the smallest first, at most the dimension of the unknown set. 1 is the classical
        choice. Further angles compare directions that few images support, which costs accuracy in small sets. They
        help where sets of one label differ much, for example in their light, and where images have fewer than ``2
        n_components`` pixels, because the smallest angle between large subspaces of a small space is always 0.
    measure : {"cosines", "angles"}, default="cosines"
        How angles become a similarity between 0 and 1. "cosines": the mean of cos^2. "angles": one minus the distance
        sqrt(sum theta^2) (eq. 36 of [chin2007]_), divided by the largest possible one.
    kernel : str, callable or kernel object, default="rbf"
        The kernel of the default estimator: a name such as "rbf" or "linear", a callable, or a kernel object of
        `mercer.kernels`. Ignored where `estimator` is given.
    gamma : float, "median" or None, default=None
        Coefficient of the kernel of the default estimator. None: 0.1 divided by the mean of the squared lengths of the
        rows of the first call. "median": 1 / (2 m^2), where m is the median distance between these rows; for
        "laplacian" and "chi2" it is 1 / (2 m), where m is the median of the distance in their exponent. The value is
        fixed as `gamma_` in the first call, because subspaces can be compared only under the same kernel.
    normalize : bool, default=True
        Scale every image to unit length first, so that its brightness does not count.
    threshold : float or None, default=None
        Similarity from which `verify` accepts. None: `calibrate` finds it.

    Attributes
    ----------
    references_ : dict
        The fitted estimator of each label.
    classes_ : ndarray of shape (n_references,)
        The labels, in the order of the columns of `similarity`.
    threshold_ : float
        The similarity from which `verify` accepts.
    gamma_ : float
        The value of `gamma` in use.

    See Also
    --------
    AppearanceTracker : Following an object in a video.
    IncrementalKernelPCA : Kernel PCA of a stream, without landmarks in advance.
    mercer.plots.roc_curves : Right and wrong acceptances.

    Notes
    -----
    Where a set has fewer dimensions than its reference, all its angles count. Where the reference has fewer, those that
    it lacks count as right angles.

    References
    ----------
    .. [chin2007] T.-J. Chin and D. Suter, Incremental kernel principal component analysis, IEEE Transactions on Image
       Processing 16, 2007.
    .. [wolf2003] L. Wolf and A. Shashua, Learning over sets using kernel principal angles, Journal of Machine Learning
       Research 4, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelMutualSubspace
    >>> X, y = load_digits(return_X_y=True)
    >>> known = [X[:900][y[:900] == digit] for digit in range(10)]
    >>> unknown = [X[900:][y[900:] == digit] for digit in range(10)]
    >>> model = KernelMutualSubspace().fit(known, range(10))
    >>> [int(label) for label in model.predict(unknown)]
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> model.similarity(unknown).shape
    (10, 10)
    """

    _fitted_attributes = ("gamma_", "_n_features", "_calibrated")
    references_: dict[Any, Any]
    _bases: dict[tuple[Any, int], Expansion]
    _calibrated: float | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_components: int = 5,
        n_angles: int = 1,
        measure: str = "cosines",
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        normalize: bool = True,
        threshold: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_components = n_components
        self.n_angles = n_angles
        self.measure = measure
        self.kernel = kernel
        self.gamma = gamma
        self.normalize = normalize
        self.threshold = threshold

    # -- learning ------------------------------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, sets: Sequence[Any], labels: Iterable[Any]) -> Self:
        """Forget everything and learn one subspace per label.

        Sets with the same label are taken together, in order. A call that raises an error leaves the model as it was.

        Parameters
        ----------
        sets : sequence of array-like
            The sets. Each is an array with one image per row, of shape (n_images, n_pixels) or (n_images, height,
            width).
        labels : iterable of length n_sets
            One label per set, at least two different ones.

        Returns
        -------
        KernelMutualSubspace
            The model itself, fitted.

        Raises
        ------
        ValueError
            If there is only one label, if the numbers of sets and labels differ, or if a set is empty, contains NaN or
            infinity or has images of another size.
        """
        self._check_parameters()
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
            learned[label] = self._fitted(chunk)
        self.references_ = learned
        return self

    @all_or_nothing
    def partial_fit(self, frames: Any, label: Any) -> Self:
        """Learn from one more frame or from a chunk of frames; a new label becomes a reference.

        A single picture of (height, width) would be taken for rows: flatten it, or pass ``picture[None]``. A call that
        raises an error leaves the model as it was.

        Parameters
        ----------
        frames : array-like of shape (n_pixels,), (n_images, n_pixels) or (n_images, height, width)
            One frame, or several with one image per row.
        label : object
            Label of the frames, any value that can be a key of a dictionary; not a list of labels, as in `fit`.

        Returns
        -------
        KernelMutualSubspace
            The model itself, fitted.

        Raises
        ------
        TypeError
            If `estimator` has no `partial_fit`, or if the label is a list or something else that cannot be a key of a
            dictionary.
        ValueError
            If the frames are empty, contain NaN or infinity or have another size than those before.
        """
        self._check_parameters()
        check_label(label)
        begun = bool(getattr(self, "references_", None))
        [rows] = self._checked_sets([frames], self._n_features if begun else None)
        if not begun:
            self._begin(rows)
            self.references_ = {}
        model = self.references_[label] if label in self.references_ else self._new_model()
        check_learns_in_parts(model)
        self.references_ = {**self.references_, label: model.partial_fit(rows)}
        self._bases = {key: basis for key, basis in self._bases.items() if key[0] != label}
        return self

    def _begin(self, rows: Array) -> None:
        """Fix what all subspaces share: the number of features and the width of the kernel."""
        gamma, kernel = self.gamma, self.kernel
        if self.estimator is not None:
            gamma, kernel = (getattr(self.estimator, name, None) for name in ("gamma", "kernel"))
        if gamma is None and self.estimator is None:
            gamma = _default_gamma(rows)
        self.gamma_ = resolve_gamma(gamma, rows, kernel=kernel)
        self._n_features = rows.shape[1]
        self._bases = {}
        self._calibrated = None

    def _fitted(self, rows: Array) -> Any:
        with fewer_components_are_fine():  # a set of few images has few dimensions
            return self._new_model().fit(rows)

    def _new_model(self) -> Any:
        if self.estimator is None:
            return IncrementalKernelPCA(self.n_components, kernel=self.kernel, gamma=self.gamma_, center=False)
        model = clone(self.estimator)
        return model.set_params(gamma=self.gamma_) if "gamma" in model.get_params(deep=False) else model

    # -- comparing -----------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> Labels:
        """Labels, in the order of the columns of `similarity`."""
        self._check_fitted()
        return _as_labels(list(self.references_))

    def similarity(self, sets: Sequence[Any]) -> Array:
        """Return how similar each set is to each reference.

        Parameters
        ----------
        sets : sequence of array-like, fitted models or Expansion
            The sets. Each is an array with one image per row, of shape (n_images, n_pixels) or (n_images, height,
            width), or a model or `Expansion` that has learned the images with the same kernel.

        Returns
        -------
        ndarray of shape (n_sets, n_references)
            Similarities from 0 to 1, with columns in the order of `classes_`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there are no references yet.
        ValueError
            If a set is empty, has images of another size, spans no subspace, or was learned with another kernel.
        """
        return similarity_from(self.cosines(sets), self.measure)

    def cosines(self, sets: Sequence[Any]) -> Array:
        """Return the cosines of the angles that count.

        Parameters
        ----------
        sets : sequence of array-like, fitted models or Expansion
            The sets. Each is an array with one image per row, of shape (n_images, n_pixels) or (n_images, height,
            width), or a model or `Expansion` that has learned the images with the same kernel.

        Returns
        -------
        ndarray of shape (n_sets, n_references, n_angles)
            Cosines, descending along the last axis; NaN where a set has fewer dimensions.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there are no references yet.
        ValueError
            If a set is empty, has images of another size, spans no subspace, or was learned with another kernel.
        """
        self._check_fitted()
        self._check_parameters()
        queries = self._subspaces(sets)
        references = [self._basis(label) for label in self.references_]
        return cosines_between(queries, references, self.n_components, self.n_angles)

    def _basis(self, label: Any) -> Expansion:
        key = label, self.n_components  # which may have been set to another number since the last comparison
        if key not in self._bases:
            self._bases[key] = subspace_of(self.references_[label].expansion_, self.n_components)
        return self._bases[key]

    def _subspaces(self, sets: Sequence[Any]) -> list[Expansion]:
        kernel = next(iter(self.references_.values())).expansion_.kernel
        found = []
        for number, one in enumerate(listed(sets)):
            expansion = one if isinstance(one, Expansion) else getattr(one, "expansion_", None)
            if expansion is None:
                [rows] = self._checked_sets([one], self._n_features, number)
                expansion = self._fitted(rows).expansion_
            if expansion.kernel != kernel:
                raise ValueError(f"Set {number} was learned with the kernel {expansion.kernel!r}, not with {kernel!r}.")
            found.append(subspace_of(expansion, self.n_components))
        return found

    # -- deciding ------------------------------------------------------------------------------------------------

    def predict(self, sets: Sequence[Any]) -> Labels:
        """Return for each set the label of the most similar reference.

        Parameters
        ----------
        sets : sequence of array-like, fitted models or Expansion
            The sets. Each is an array with one image per row, of shape (n_images, n_pixels) or (n_images, height,
            width), or a model or `Expansion` that has learned the images with the same kernel.

        Returns
        -------
        ndarray of shape (n_sets,)
            One label per set.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there are no references yet.
        ValueError
            If there is only one reference, or if a set cannot be compared.
        """
        similarity = self.similarity(sets)
        if similarity.shape[1] < 2:
            raise ValueError("There is one reference only, so there is nothing to choose from; use `verify`.")
        return np.asarray(self.classes_[np.argmax(similarity, axis=1)])

    def verify(self, sets: Sequence[Any], labels: Iterable[Any]) -> npt.NDArray[np.bool_]:
        """Tell for each set whether it is what its label claims.

        It is accepted if its similarity to the reference of that label is at least `threshold_`.

        Parameters
        ----------
        sets : sequence of array-like, fitted models or Expansion
            The sets. Each is an array with one image per row, of shape (n_images, n_pixels) or (n_images, height,
            width), or a model or `Expansion` that has learned the images with the same kernel.
        labels : iterable of length n_sets
            The claimed label of each set.

        Returns
        -------
        ndarray of bool of shape (n_sets,)
            True where the claim is accepted.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there are no references or no threshold yet.
        ValueError
            If there is no reference for a label, or if the numbers of sets and labels differ.
        """
        names, similarity = self._claims(sets, labels)
        columns = {label: column for column, label in enumerate(self.references_)}
        unknown = [name for name in names if name not in columns]
        if unknown:
            raise ValueError(f"There is no reference for {unknown[0]!r}; known are {list(columns)}.")
        return np.asarray(similarity[np.arange(len(names)), [columns[name] for name in names]] >= self.threshold_)

    @property
    def threshold_(self) -> float:
        """Similarity from which `verify` accepts: `threshold`, or the value that `calibrate` found."""
        found = getattr(self, "_calibrated", None) if self.threshold is None else self.threshold
        if found is None:
            raise NotFittedError("There is no threshold yet; pass `threshold`, or call `calibrate` with labelled sets.")
        return float(found)

    def calibrate(self, sets: Sequence[Any], labels: Iterable[Any], false_accepts: float = 0.01) -> Self:
        """Set the threshold to the lowest that accepts at most a given share of false claims.

        Every set is compared with the references of all other labels. With m such pairs, k = floor(false_accepts * m)
        of them are accepted, and the threshold is just above (by 1e-9) the similarity of the next one; for
        false_accepts < 1 / m it is just above the highest. Of pairs with different labels in new sets, about a share (k
        + 1) / (m + 1) is accepted. Pairs with equal labels do not count, so the sets may be those that were learned, or
        sets of unknown labels.

        Parameters
        ----------
        sets : sequence of array-like, fitted models or Expansion
            The sets. Each is an array with one image per row, of shape (n_images, n_pixels) or (n_images, height,
            width), or a model or `Expansion` that has learned the images with the same kernel.
        labels : iterable of length n_sets
            One label per set.
        false_accepts : float in [0, 1), default=0.01
            Largest share of the pairs with different labels that is accepted.

        Returns
        -------
        KernelMutualSubspace
            The model itself, with a new `threshold_`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there are no references yet.
        ValueError
            If `false_accepts` is out of its range, or if there are no pairs with different labels.

        Warns
        -----
        UserWarning
            If the threshold is so high that no new set is accepted.
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
        warn_if_none_pass(self._calibrated)
        return self

    def roc(self, sets: Sequence[Any], labels: Iterable[Any]) -> Roc:
        """Return the ROC curve of verification: every set against every reference, over all thresholds.

        Pass sets that were not learned: a set that is its own reference always has the similarity 1.

        Parameters
        ----------
        sets : sequence of array-like, fitted models or Expansion
            The sets. Each is an array with one image per row, of shape (n_images, n_pixels) or (n_images, height,
            width), or a model or `Expansion` that has learned the images with the same kernel.
        labels : iterable of length n_sets
            One label per set.

        Returns
        -------
        Roc
            An object with the arrays `false_accepts`, `true_accepts` and `thresholds`, and the `area` under the curve.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there are no references yet.
        ValueError
            If there are not both pairs with equal and pairs with different labels.

        Warns
        -----
        UserWarning
            If sets are compared with themselves.
        """
        similarity, genuine = self._pairs(sets, labels)
        if genuine.all() or not genuine.any():
            raise ValueError(
                "A ROC curve needs pairs with equal and pairs with different labels; these sets make only one kind. "
                f"The references are {list(self.references_)}."
            )
        warn_of_themselves(similarity[genuine])
        return curve(similarity, genuine)

    def _pairs(self, sets: Sequence[Any], labels: Iterable[Any]) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Return the similarity of every set with every reference, and whether their labels are equal."""
        names, similarity = self._claims(sets, labels)
        return similarity, np.array([[name == label for label in self.references_] for name in names])

    def _claims(self, sets: Sequence[Any], labels: Iterable[Any]) -> tuple[list[Any], Array]:
        return check_labels(labels, len(listed(sets))), self.similarity(sets)

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        kept = {**super()._saved_state(), "labels": list(self.references_)}
        return kept | {f"reference{i}": model for i, model in enumerate(self.references_.values())}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        self.references_ = {label: state[f"reference{i}"] for i, label in enumerate(state["labels"])}
        self._bases = {}

    # -- checks --------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_counts(n_components=self.n_components, n_angles=self.n_angles)
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}; got {self.measure!r}.")

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


def _default_gamma(rows: Array) -> float:
    """Return a width that fits the lengths of the images, or fail where their squares are no numbers."""
    with np.errstate(over="ignore", divide="ignore"):
        length = np.mean(np.einsum("ij,ij->i", rows, rows))
        gamma = float(_NARROWNESS / length) if rows.any() else 1.0
    if not 0.0 < gamma < np.inf:
        raise ValueError(
            f"The images reach {np.abs(rows).max():.3g}, and the squares of such numbers are too large or too small. "
            "Divide all images by a constant, or use normalize=True."
        )
    return gamma


def _as_labels(names: list[Any]) -> Labels:
    """Return labels as a vector; of objects where an ordinary array would change them (tuples, numbers and texts)."""
    found = np.array(names) if len({type(name) for name in names}) == 1 else np.empty(0)
    if found.ndim == 1 and found.tolist() == names:
        return found
    return np.fromiter(names, object, len(names))

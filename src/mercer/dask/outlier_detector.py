"""`mercer.dask.KernelOutlierDetector`: alarms with a known rate of false ones, from held-out partitions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin, clone

from mercer.arrays import Array
from mercer.dask.base import ClusterModel, keep_names, refuse_stream
from mercer.dask.checkpoints import fit_identity
from mercer.dask.cluster import Here, Workers
from mercer.dask.compared_rows import check_same_rows, row_digests
from mercer.dask.detector_folds import FoldMoments, Folds, HeldOutScores, added_folds, joined_scores
from mercer.dask.detector_progress import Progress, ProgressFile
from mercer.dask.landmark_moments import Measuring, plan_and_landmarks
from mercer.dask.parameters import like
from mercer.dask.partitions import Partitions
from mercer.dask.sample import Look, first_look
from mercer.dask.seeds import seed_of
from mercer.dask.settings import WORK
from mercer.dask.trees import grouped
from mercer.engine.moments import Moments, total
from mercer.engine.scaling import Scaling, resolved_scaling
from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA
from mercer.outliers.calibration import Calibration
from mercer.outliers.detector import KernelOutlierDetector as Local
from mercer.outliers.ellipsoid import Ellipsoid, distance_scale, distances_count
from mercer.outliers.fitting import FittedModels
from mercer.outliers.panel import Panel, PanelJudge
from mercer.outliers.scores import ScoreModel, leading_model
from mercer.outliers.settings import landmark_model
from mercer.solvers.landmark.models import solve_moments
from mercer.solvers.landmark.moments import Landmarks
from mercer.solvers.landmark.stream import LandmarkStream

_REFERENCE, _SHARE = 3000, 6  # rows that set scaling, gamma and landmarks: at most so many, and one in six
_ROWS_PER_LANDMARK, _LARGEST_SHARE = 2, 3
_CALIBRATION = 200_000  # rows that set the limits, at most: p-values of 5e-6 need no more
_NEUTRAL = ("client", "checkpoint", "verbose", "n_jobs", "alpha")  # do not change what is learned


@dataclass(frozen=True, eq=False)
class _Stage:
    """One pass over the partitions: what each gives, how that is joined, and who takes the result so far."""

    name: str
    call: Any
    join: Callable[[list[Any]], list[Any]]
    keep: Callable[[int, list[Any]], None]


@like(Local, "the sample, and sums and scores of the partitions so far, in one file")
class KernelOutlierDetector(OutlierMixin, ClusterModel):  # type: ignore[misc]
    """Outlier detector for rows that are too many for one machine, with a known rate of false alarms.

    The models are on landmarks. Whole partitions are held out, in `n_folds` groups (single rows, if there are fewer
    partitions than that): each is judged by the model of all others, and these scores set the limits (CV+, as in
    `mercer.KernelOutlierDetector`). A sample of all partitions sets scaling, gamma, landmarks and the covariance of
    Mahalanobis distances; its rows are in every model and set no limits. So the rate of false alarms is kept for rows
    without an order. At most 200,000 rows, drawn at random, set the limits.

    The parameters are those of the class for one machine. statistic="all" includes Mahalanobis distances if the sample
    has at least twice as many rows as columns. On a cluster, `estimator` is None or a
    `mercer.LandmarkKernelPCA`, `calibration` is "cv+" and `contamination` is None; other values are refused.

    Attributes
    ----------
    calibration_ : Calibration
        The statistics of the rows that set the limits. All other attributes of `mercer.KernelOutlierDetector` are there
        as well.

    Examples
    --------
    >>> import dask.array as da
    >>> from mercer.dask import KernelOutlierDetector
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(200, 3))
    >>> detector = KernelOutlierDetector(alpha=0.01, random_state=0).fit(X)
    >>> detector.predict([[0.0, 0.0, 0.0], [7.0, 0.0, 0.0]]).tolist()
    [1, -1]
    >>> detector.p_values(X).shape
    (2000,)
    """

    _local_class = Local

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the models and find the limits.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Training rows. They are read three times, so that the chunks of an iterator are held in memory.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        KernelOutlierDetector
            The detector itself, fitted.

        Raises
        ------
        TypeError
            If `estimator` is neither None nor a `mercer.LandmarkKernelPCA`.
        ValueError
            If a partition contains NaN or infinity or has other columns than the others (the message names it), if
            there are too few rows, if `contamination` is given, if `calibration` is not "cv+", or if the checkpoint
            belongs to another fit.
        ClusterError
            If the cluster has no workers, or workers with another version of Mercer.

        Warns
        -----
        NoAlarmWarning
            If no row can raise an alarm, however far away it is.
        """
        local = self._unfitted()
        if self.contamination is not None or self.calibration != "cv+":
            raise ValueError("On a cluster limits come from calibration='cv+' and alpha; leave contamination=None.")
        estimator = self._estimator()
        runs = self._runs()
        given = self._given(runs, X)
        m = estimator.landmarks if isinstance(estimator.landmarks, int | np.integer) else len(estimator.landmarks)
        file = self._file(given)
        progress = self._begun(runs, given, file, max(_REFERENCE, _ROWS_PER_LANDMARK * int(m)))
        given = replace(given, names=progress.names)
        look, sizes = progress.look, progress.look.counts
        reference = _reference(look, sum(sizes), int(m))
        folds = Folds.of(sizes, self.n_folds, progress.seed, float(reference.keys.max()))
        found = self._models(runs, given, estimator, reference, folds, sum(sizes), progress)
        local.n_features_in_ = reference.rows.shape[1]
        keep_names(local, given.names)
        local._adopt(found, self.explained, sum(sizes))
        local._tell_silence(sum(sizes))
        self._local = local
        if file is not None:
            file.remove()
        return self

    def _file(self, given: Partitions) -> ProgressFile | None:
        if self.checkpoint is None:
            return None
        identity = fit_identity(self.get_params(), _NEUTRAL, len(given.parts), given.names, WORK.group)
        return ProgressFile(self.checkpoint, identity)

    def _begun(self, runs: Here | Workers, given: Partitions, file: ProgressFile | None, most: int) -> Progress:
        """Return how far the fit is: as the checkpoint has it, or after a first look for at most so many rows."""
        kept = None if file is None else file.read()
        if file is not None and kept is not None:
            kept.names = check_same_rows(runs, given, kept.digests, file.path)
            return kept
        seed = seed_of(self.random_state)
        look = first_look(runs, given, most, seed, self._channel())
        progress = Progress(seed, look, look.names)
        if file is not None:
            progress.digests, progress.keep = row_digests(runs, given, progress.look.counts), file.write
        return progress

    def _estimator(self) -> LandmarkKernelPCA:
        if self.estimator is None:
            return landmark_model(self.random_state)
        given = self.estimator
        if type(given) is not LandmarkKernelPCA:
            raise TypeError(
                f"estimator must be None or a mercer.LandmarkKernelPCA, whose sums can be added over partitions; got "
                f"{type(given).__name__}."
            )
        if given.window is not None or given.forgetting != 1.0 or given.landmarks is None:
            raise ValueError("The LandmarkKernelPCA of a detector needs window=None, forgetting=1 and landmarks.")
        copied: LandmarkKernelPCA = clone(given)
        return copied

    def _models(
        self,
        runs: Here | Workers,
        given: Partitions,
        estimator: LandmarkKernelPCA,
        reference: Look,
        folds: Folds,
        n: int,
        progress: Progress,
    ) -> FittedModels:
        """Return the model of all rows and those without each fold, with the scores of the rows held out."""
        scaling = Scaling.of(reference.rows, resolved_scaling(self.standardize, reference.rows))
        rows = scaling(reference.rows.astype(np.float64))
        plan, landmarks, dictionary = plan_and_landmarks(estimator, rows, progress.points)
        progress.points = landmarks.points
        measuring = Measuring.on(landmarks, rows, plan.n_components, 1.0)
        learning = _Stage("folds learned", FoldMoments(folds, scaling, measuring), added_folds, progress.add_moments)
        moments = self._over(runs, given, learning, progress.moments, progress.measured)
        around = None
        if distances_count(self.statistic, *reference.rows.shape):
            around = Ellipsoid.of(reference.rows.astype(np.float64), distance_scale(reference.rows))
        models = [
            self._without(landmarks, moments[:k] + moments[k + 1 :], plan.n_components, estimator.center)
            for k in range(folds.count)
        ]
        judges = [PanelJudge(scaling, model, around) for model in models]
        share = min(1.0, _CALIBRATION / max(1, n))
        judging = _Stage(
            "held-out rows judged", HeldOutScores(folds, judges, share), joined_scores, progress.add_scores
        )
        scores = self._over(runs, given, judging, progress.scores, progress.judged)
        estimator.n_features_in_ = rows.shape[1]
        estimator._adopt(LandmarkStream.of_moments(plan, landmarks, dictionary, total(moments), n))
        kept = [k for k, own in enumerate(scores) if len(own)]
        calibration = Calibration(tuple(scores[k] for k in kept), self.statistic)
        held = np.arange(calibration.n)
        return FittedModels(scaling, estimator, around, Panel([judges[k] for k in kept]), calibration, held)

    def _over(self, runs: Here | Workers, given: Partitions, stage: _Stage, found: list[Any], done: int) -> list[Any]:
        """Return what all partitions give, fold by fold; `found` is that of the groups which are done."""
        tasks = given.calls(stage.call, [(number,) for number in range(len(given.parts))])
        channel = self._channel()
        groups = grouped(tasks[done * WORK.group :], stage.join, WORK.group)
        for number, group in enumerate(runs.results(groups), start=done + 1):
            found = stage.join([found, group] if found else [group])
            stage.keep(number, found)
            channel.emit(stage.name, min(number * WORK.group, len(tasks)), len(tasks))
        return found

    def _without(self, landmarks: Landmarks, parts: list[Moments], r: int, center: bool) -> ScoreModel:
        """Return the model of T2 and SPE from all moments but those of one fold."""
        moments = total(parts)
        model = solve_moments(landmarks.whitening, moments, r, center)
        means, variances = np.zeros(model.n_components), model.eigenvalues / max(model.n_seen - 1, 1)
        if not center:
            spread = model.coef @ moments.scatter(True) @ model.coef.T
            means = model.coef @ moments.mean - model.offset
            variances = np.diag(spread) / max(moments.freedom, 1.0)
        return leading_model(model, means, variances, self.explained)[0]

    # -- scoring -------------------------------------------------------------------------------------------------

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit the detector to the rows of X, and return -1 for those that raise an alarm and +1 for the others.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, or array-like
            Training rows.
        y : None
            Ignored; present for scikit-learn's conventions.
        **params : dict
            Further arguments of `fit`; there are none, so leave it empty.

        Returns
        -------
        dask Array or ndarray, of shape (n_samples,)
            -1 or +1 for each row; lazy where X is.

        Raises
        ------
        ValueError
            If X is an iterator, which can be read once only.
        """
        refuse_stream(X)
        return super().fit_predict(X, y, **params)

    def predict(self, X: Any) -> Any:
        """Return -1 for rows that raise an alarm and +1 for the others.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Rows to judge, with the features of the training rows.

        Returns
        -------
        dask Array, iterator or ndarray, of shape (n_samples,)
            -1 or +1 for each row; lazy where X is.
        """
        return self._applied("predict", X, None, np.int64)

    def p_values(self, X: Any) -> Any:
        """Return for every row the share of clean rows that are at least as unusual.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Rows to judge, with the features of the training rows.

        Returns
        -------
        dask Array, iterator or ndarray, of shape (n_samples,)
            The p-values; lazy where X is.
        """
        return self._applied("p_values", X, None)

    def score_samples(self, X: Any) -> Any:
        """Return how normal each row is: the logarithm, to base 10, of its p-value.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Rows to judge, with the features of the training rows.

        Returns
        -------
        dask Array, iterator or ndarray, of shape (n_samples,)
            One value per row, lower for more unusual rows; lazy where X is.
        """
        return self._applied("score_samples", X, None)

    def decision_function(self, X: Any) -> Any:
        """Return `score_samples` minus `offset_`: negative for an alarm.

        Parameters
        ----------
        X : dask Array or DataFrame, sequence of delayed pieces, iterator of chunks, or array-like
            Rows to judge, with the features of the training rows.

        Returns
        -------
        dask Array, iterator or ndarray, of shape (n_samples,)
            One value per row; lazy where X is.
        """
        return self._applied("decision_function", X, None)


def _reference(look: Look, n: int, landmarks: int) -> Look:
    """Return the rows with the smallest keys, as many as scaling, gamma and landmarks need."""
    wanted = max(min(n // _SHARE, _REFERENCE), min(_ROWS_PER_LANDMARK * landmarks, n // _LARGEST_SHARE))
    if wanted < 2 or n - wanted < 2:
        raise ValueError(f"KernelOutlierDetector on a cluster needs at least 12 rows; got {n}.")
    kept = np.sort(np.argsort(look.keys)[:wanted])
    rows: Array = look.rows[kept]
    return Look(rows, look.keys[kept], look.places[kept], look.sizes)

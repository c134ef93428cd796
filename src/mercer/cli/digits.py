"""The experiment behind `mercer demo`: noisy handwritten digits, cleaned by linear and by kernel PCA."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import sklearn.decomposition as reference
from sklearn.datasets import load_digits
from sklearn.metrics import mean_squared_error

from mercer.arrays import Array, IntArray
from mercer.estimators.kernel_pca import KernelPCA
from mercer.events import SILENT, Channel, Tally
from mercer.metrics import snr

SHAPE = (8, 8)
_Result = TypeVar("_Result")
_SOLVERS = ("auto", "dense", "arpack", "randomized")


@dataclass(frozen=True)
class Digits:
    """Half of the digits to learn from, the other half to clean."""

    train: Array  # (n, 64), grey values from 0 to 1
    clean: Array  # (m, 64)
    noisy: Array  # (m, 64)
    labels: IntArray  # (m,)


@dataclass(frozen=True)
class Cleaned:
    """Result of one method on the noisy digits."""

    method: str
    components: int | None
    images: Array  # (m, 64)
    error: float
    decibels: float


def digits(noise: float, seed: int = 0) -> Digits:
    """Split scikit-learn's digits at random and add Gaussian noise to the half that is not learned from."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    learn, test = np.array_split(order, 2)
    clean = X[test] / 16.0
    noisy = clean + noise * rng.normal(size=clean.shape)
    return Digits(X[learn] / 16.0, clean, noisy, y[test])


def judge(method: str, components: int | None, images: Array, data: Digits) -> Cleaned:
    """Compare images with the clean ones."""
    error = float(mean_squared_error(data.clean, images))
    return Cleaned(method, components, images, error, float(snr(data.clean, images)))


def clean_by(method: str, model: Any, data: Digits) -> Cleaned:
    """Project the noisy digits onto a model's components and return to images."""
    images = np.asarray(model.inverse_transform(model.transform(data.noisy)))
    return judge(method, model.n_components, images, data)


def best_linear(data: Digits) -> Cleaned:
    """Choose the number of components of linear PCA by the true error: the best result that it can reach."""
    full = reference.PCA().fit(data.train)
    scores = full.transform(data.noisy)
    every = (
        judge("linear PCA, best number", n, full.mean_ + scores[:, :n] @ full.components_[:n], data)
        for n in range(1, scores.shape[1] + 1)
    )
    return min(every, key=lambda cleaned: cleaned.error)


def compare(data: Digits, components: int, channel: Channel = SILENT) -> tuple[KernelPCA, list[Cleaned]]:
    """Clean by linear PCA, by the best linear PCA and by kernel PCA.

    Pre-images are computed from distances to training digits (kwok), which is the best method for such strong noise.
    """
    model = KernelPCA(components, kernel="rbf", gamma="median", preimage="kwok").fit(data.train)
    linear = reference.PCA(components).fit(data.train)
    works: list[Callable[[], Cleaned]] = [
        lambda: judge("noisy", None, data.noisy, data),
        lambda: clean_by("linear PCA", linear, data),
        lambda: best_linear(data),
        lambda: clean_by("kernel PCA", model, data),
    ]
    return model, list(_reported(works, "ways to clean", channel))


def race(model: KernelPCA, data: Digits, channel: Channel = SILENT) -> tuple[float, dict[str, float]]:
    """Time fit and transform on all digits with the same parameters: Mercer's, and scikit-learn's by each solver.

    scikit-learn's solvers are named as its `eigen_solver`; "auto" is its default.
    """
    X = np.concatenate([data.train, data.clean])
    given: dict[str, Any] = {"n_components": model.n_components, "kernel": "rbf", "gamma": model.gamma_}
    calls = {
        solver: reference.KernelPCA(**given, eigen_solver=solver, random_state=0).fit_transform for solver in _SOLVERS
    }
    works = [partial(_time, call, X) for call in (KernelPCA(**given).fit_transform, *calls.values())]
    ours, *theirs = _reported(works, "solvers timed", channel)
    return ours, dict(zip(calls, theirs, strict=True))


def _reported(works: Sequence[Callable[[], _Result]], stage: str, channel: Channel) -> Iterator[_Result]:
    """Call functions one after the other; report each one."""
    tally = Tally(channel, stage, len(works))
    for work in works:
        yield work()
        tally.add()


def _time(work: Callable[[Array], Any], X: Array) -> float:
    """Return the seconds of the fastest of three runs."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work(X)
        times.append(time.perf_counter() - start)
    return min(times)

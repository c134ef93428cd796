"""What all tests share: data sets that may be absent, and how hard hypothesis tries."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - brings its own BLAS, which is limited below
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

settings.register_profile(
    "steady", deadline=None, max_examples=30, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", settings.get_profile("steady"), max_examples=500, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


if "PYTEST_XDIST_WORKER" in os.environ:
    threadpool_limits(1)  # the workers already take all processors: threads in each would only wait


_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"  # beside the repository
if "MERCER_DATA" not in os.environ and _BESIDE.is_dir():
    os.environ["MERCER_DATA"] = str(_BESIDE)


@pytest.fixture(scope="session")
def data_set() -> Callable[[str], dict[str, np.ndarray]]:
    """A function that reads a data set by name, or skips the test where the file is not there."""

    def read(name: str) -> dict[str, np.ndarray]:
        path = Path(os.environ.get("MERCER_DATA", "")) / f"{name}.npz"
        if not path.is_file():
            pytest.skip(f"{path.name} is not there; set MERCER_DATA to the folder that holds it")
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}

    return read


@pytest.fixture(scope="session")
def usps(data_set: Callable[[str], dict[str, np.ndarray]]) -> np.ndarray:
    """The USPS training digits, (7291, 256), in [-1, 1]."""
    return data_set("usps")["X"]


@pytest.fixture(scope="session")
def usps_hundred(data_set: Callable[[str], dict[str, np.ndarray]]) -> np.ndarray:
    """The first hundred USPS training images of each digit, (1000, 256)."""
    digits = data_set("usps")
    return digits["X"][np.concatenate([np.flatnonzero(digits["y"] == k)[:100] for k in range(10)])]


@pytest.fixture(scope="session")
def ionosphere(data_set: Callable[[str], dict[str, np.ndarray]]) -> np.ndarray:
    """The ionosphere radar returns, (351, 33)."""
    return data_set("odds_ionosphere")["X"]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240229)


@pytest.fixture(scope="session")
def _in_process():
    distributed = pytest.importorskip("distributed")
    given = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**given, silence_logs=40, protocol="tcp") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(_in_process):
    """A client of two workers in this process: quick to start, and with all of Dask's protocol."""
    return _in_process

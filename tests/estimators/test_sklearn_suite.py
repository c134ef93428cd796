"""scikit-learn's own tests of KernelPCA, run on ours: the installed file, with the one class exchanged."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import sklearn.decomposition

from mercer import KernelPCA

# these tests ask for what deserves a warning: bad pre-images, indefinite kernels, a perceptron stopped early
pytestmark = [
    pytest.mark.filterwarnings("ignore::mercer.errors.PreImageWarning"),
    pytest.mark.filterwarnings("ignore::mercer.errors.IndefiniteKernelWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
_FILE = Path(sklearn.decomposition.__file__).parent / "tests" / "test_kernel_pca.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sklearn_test_kernel_pca", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.KernelPCA = KernelPCA  # type: ignore[attr-defined]
    return module


@pytest.fixture
def global_random_seed() -> int:
    return 42


def test_the_exchange_happened() -> None:
    assert _load().test_kernel_pca.__globals__["KernelPCA"] is KernelPCA


globals().update({name: value for name, value in vars(_load()).items() if name.startswith("test_")})

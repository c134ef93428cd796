"""`mercer info --system`: versions, threads, and where compiled functions are kept."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import mercer

_PACKAGES = {"numpy": "numpy", "scipy": "scipy", "scikit-learn": "scikit-learn", "numba": "numba"}


def facts() -> dict[str, str]:
    """Return what a report of a problem needs to say about a machine and its installation."""
    return {
        "mercer": mercer.__version__,
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        **{name: _version(package) for name, package in _PACKAGES.items()},
        "BLAS": _blas(),
        "threads": _threads(),
        "compiled functions": _cache(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _blas() -> str:
    import scipy.linalg  # loads its BLAS, which is listed with that of numpy
    from threadpoolctl import threadpool_info

    found = [one for one in threadpool_info() if one["user_api"] == "blas"]
    texts = [f"{_name(one)}, {one['num_threads']} threads" for one in found]
    return "; ".join(dict.fromkeys(texts)) or f"not known to threadpoolctl (scipy {scipy.__version__})"


def _name(library: dict[str, Any]) -> str:
    """Return name, version, and for which processors the library's code is: half of its speed may depend on that."""
    architecture = library.get("architecture")
    name = f"{library['internal_api']} {library['version'] or ''}" + (f" for {architecture}" if architecture else "")
    given = os.environ.get("OPENBLAS_CORETYPE")
    return f"{name} (by OPENBLAS_CORETYPE)" if given and library["internal_api"] == "openblas" else name


def _threads() -> str:
    from mercer.kernels.threads import available_threads

    return f"{available_threads()} for kernel matrices"


def _cache() -> str:
    from numba import config

    from mercer.kernels.compile_cache import used_folder

    if config.DISABLE_JIT:
        return "not compiled, and slow: NUMBA_DISABLE_JIT is set"
    folder, writable = used_folder()
    if folder is None:
        return "kept nowhere: compiled again in every process; set NUMBA_CACHE_DIR to a folder that can be written to"
    return f"{folder} ({'writable' if writable else 'not writable'})"

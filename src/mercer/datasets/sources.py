"""The description of every data set: its file, the arrays in that file, and where the data are public."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import datasets as bundled

_PYOD = "ODDS; on GitHub yzhao062/pyod, notebooks/data/{}.mat"
_OUTLIERS = "y {}: 1 for an outlier, 0 for the others"


@dataclass(frozen=True)
class Source:
    """The file of a data set, where the data are public, and what replaces them where the file is missing."""

    file: str
    what: str
    arrays: tuple[str, ...]  # name, shape and meaning of each array in the file
    public: str  # where the data are public
    substitute: Callable[[], Mapping[str, Any]] | None = None
    substitute_name: str = ""

    def needed(self) -> str:
        """Return which file with which arrays is needed, and where to get the data."""
        return f"It needs the file {self.file} with {'; '.join(self.arrays)}. Public source: {self.public}."


def _digits() -> Mapping[str, Any]:
    """Return scikit-learn's digits in the range of USPS, split into training and test rows."""
    X, y = bundled.load_digits(return_X_y=True)
    X = X / 8.0 - 1.0  # the range of USPS
    return {"X": X[:1500], "y": y[:1500], "X_test": X[1500:], "y_test": y[1500:]}


def _breast_cancer() -> Mapping[str, Any]:
    """Return scikit-learn's breast cancer cases: all benign ones, and 21 malignant ones as outliers."""
    X, benign = bundled.load_breast_cancer(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    kept = np.concatenate([np.flatnonzero(benign == 1), np.flatnonzero(benign == 0)[:21]])
    return {"X": X[kept], "y": 1 - benign[kept]}


def _outliers(name: str, n: int, d: int, public: str, **more: Any) -> Source:
    """Return the description of a data set of the ODDS collection."""
    arrays = (f"X ({n}, {d}): one case per row", _OUTLIERS.format(f"({n},)"))
    return Source(f"odds_{name}.npz", f"ODDS {name}", arrays, public, **more)


SOURCES: dict[str, Source] = {
    "usps": Source(
        "usps.npz",
        "USPS digits, 7291 x 256",
        (
            "X (7291, 256): training images of 16 x 16 pixels, grey values from -1 to 1",
            "y (7291,): digits 0 to 9",
            "X_test (2007, 256) and y_test (2007,): the same for the test images",
        ),
        "zip.train and zip.test of the book The Elements of Statistical Learning; on GitHub cran/ElemStatLearn; "
        "OpenML 41082",
        _digits,
        "scikit-learn's 8 x 8 digits",
    ),
    "mnist": Source(
        "mnist_train10k.npz",
        "MNIST, first 10,000 images",
        ("X (10000, 28, 28): grey values from 0 to 255, uint8", "y (10000,): digits 0 to 9"),
        "MNIST (LeCun, Cortes, Burges); OpenML 554",
    ),
    "mnist3": Source(
        "mnist_digit3.npz",
        'MNIST, the digit "3"',
        (
            "X (6131, 28, 28): the training images, grey values from 0 to 255, uint8",
            "X_test (1010, 28, 28): the test images",
            "y (6131,) and y_test (1010,): all 3",
        ),
        "MNIST (LeCun, Cortes, Burges); OpenML 554",
    ),
    "frey": Source(
        "frey_faces.npz",
        "Frey faces, 1965 x 560",
        ("X (1965, 560): frames of 28 x 20 pixels in the order of the video, grey values from 0 to 255, uint8",),
        "frey_rawface.mat of Sam Roweis's page; on GitHub lawrennd/datasets_mirror, brendan_faces",
    ),
    "phoneme": Source(
        "phoneme_nfda.npz",
        "phoneme log-periodograms, 2000 x 150",
        (
            "X (2000, 150): one log-periodogram per row",
            "y (2000,): 1 to 5 for the phonemes sh, iy, dcl, aa, ao",
        ),
        "phoneme data of the NPFDA book (Ferraty, Vieu), from TIMIT; on GitHub cran/SCBmeanfd, data/phoneme.rda",
    ),
    "mocap": Source(
        "mocap_cmu35_01_walk.npz",
        "a walk from the CMU motion capture database",
        (
            "X (358, 93): x, y, z of 31 joints per frame, the root first, y upwards",
            "joint_names (31,): their names",
            "parents (31,): the joint to which each is tied, -1 for the root",
        ),
        "mocap.cs.cmu.edu, subject 35, clip 01; on GitHub SheffieldML/GPmat, datasets/data/mocap/cmu/35",
    ),
    "yaleb": Source(
        "yaleb_32x32.npz",
        "Extended Yale B faces, 32 x 32",
        (
            "X (2414, 32, 32): cropped faces, upright, grey values from 0 to 255, uint8",
            "y (2414,): the person, 1 to 38",
        ),
        "Extended Yale Face Database B, cropped; on GitHub SK4772/GReBLS, data/YaleB_32x32.mat",
    ),
    "david": Source(
        "track_david_indoor.npz",
        "the David indoor tracking sequence",
        (
            "X (471, 120, 160): grey frames, uint8",
            "boxes (471, 4): x, y, width, height of the face in each frame, in pixels",
        ),
        "David of the Object Tracking Benchmark (Wu, Lim, Yang 2013), at half its size; on GitHub "
        "opencv/opencv_extra, testdata/cv/tracking/david",
    ),
    "camera": Source(
        "camera_512.npz",
        "the camera test image, 512 x 512",
        ("X (512, 512): grey values from 0 to 255, uint8",),
        "skimage.data.camera() of the package scikit-image",
    ),
    "wbc": _outliers(
        "wbc",
        378,
        30,
        _PYOD.format("wbc"),
        substitute=_breast_cancer,
        substitute_name="the same cases from scikit-learn, other choice of outliers",
    ),
    "ionosphere": _outliers("ionosphere", 351, 33, f"{_PYOD.format('ionosphere')}; OpenML 59"),
    "breastw": _outliers("breastw", 683, 9, "ODDS; on GitHub Minqi824/ADBench, 4_breastw.npz; OpenML 15"),
    "cardio": _outliers("cardio", 1831, 21, _PYOD.format("cardio")),
    "musk": _outliers("musk", 3062, 166, _PYOD.format("musk")),
    "odds_mnist": _outliers("mnist", 7603, 100, _PYOD.format("mnist")),
    "skab": Source(
        "skab_valve1.npz",
        "SKAB valve1, 16 runs of a water circuit",
        (
            "X (18160, 8): one row per second",
            "y (18160,): 1 for an anomaly, 0 for the others",
            "series (18160,): number of the run",
        ),
        "SKAB v0.9; on GitHub waico/SKAB, data/valve1",
    ),
}

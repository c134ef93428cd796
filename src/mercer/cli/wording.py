"""Messages of the library in the terms of a command: its options in the place of parameters of Python."""

import re
from typing import Any

_OTHER_NAMES = {"n_components": "components", "standardize": "scale", "random_state": "seed", "estimator": "method"}
# Parameters without an option of their own that messages name; `mercer fit` and `mercer monitor` set them by --set.
_SETTABLE = ("eigen_solver", "eta0", "gain", "landmarks", "max_iter", "preimage", "smd_rate", "tol", "update")
_NEVER_WORDS = ("eta0", "max_iter", "n_components", "random_state", "smd_rate", "tol")  # others are words, too: gain
_APPLY_A_MODEL = ("transform", "score", "denoise")  # these have no parameters to name but those of `mercer fit`

# Advice that only a Python program can follow, and what takes its place.
_PHRASES = (
    (r", or pass trim=[\d.]*\d", ""),
    (r"; pass contaminated=True or False where", "; use --contaminated or --clean where"),
    (r"; return_residual=True gives the values", ""),
    (
        r"^The model of appearance needs \w+, which \w+ has not; IncrementalKernelPCA and LandmarkKernelPCA have it",
        "A tracker needs a --method that learns row by row: incremental-kernel-pca or landmark-kernel-pca",
    ),
    (r" Choose a smaller window or fewer parts; channels come last", " Give a smaller --window, or --split 1"),
    (r"^contaminated is only for", "--contaminated and --clean are only for"),
    (r"^alpha, arl0 and false_alarms_per all set", "--alpha, --set arl0 and --false-alarms-per all set"),
    (
        r"^false_alarms_per needs the times of the training rows: pass a data frame with a DatetimeIndex, or alpha,",
        "--false-alarms-per needs the times of the rows: name their column with --time, or give --alpha,",
    ),
    (r"^false_alarms_per needs (a period .*), such as \('1D', 1\)", r"--false-alarms-per needs \1, such as 1D,1"),
    (r"^persist is a number of rows k, or \(k, m\) with 1 <= k <= m", "--persist is K, or K,M with 1 <= K <= M"),
    (r": drop these columns\.", ": leave these columns out with --exclude."),
    (r"another `preimage` method", "another --set preimage=NAME"),
    (r"Pass numbers for gamma and", "Give numbers to --gamma and"),
    (r"Pass kernel\(X, X\), or pass the data with", "Give that matrix, or the rows with"),
    (r"KernelPCA(?=, which)", "--method kernel-pca"),
    (r"Use ProcessMonitor\b", "Use `mercer monitor`"),
    (r"KernelOutlierDetector needs\b", "A detector needs"),
    (r"ProcessMonitor needs\b", "A monitor needs"),
    (r"(the model has) n_components_=(\d+)", r"\1 \2"),
    (r"\bmax_iter=(\d+ rounds)", r"\1"),
    (r" \(n_samples = \d+\)", ""),
    (r"\bn_samples = (\d+), n_features = (\d+)", r"\1 and \2"),
    (r"\bn_samples = (\d+)", r"\1"),
)
_WITHOUT_SCALE = ((r",? \(?(for example|e\.g\.) with (sklearn\.preprocessing\.)?StandardScaler\)?", ""),)
_WITH_SCALE = ((r"(sklearn\.preprocessing\.)?StandardScaler", "--scale soft"),)
_WITHOUT_SET = ((r" Raise max_iter or tol\.", ""),)

# The values that scikit-learn allows for a parameter.
_VALUES = (
    (r", an instance of '[\w.]*\.Kernel' or a callable", ""),
    (r", an instance of '[\w.]*\.RandomState'", ""),
    (r" or an instance of 'tuple'", ", or two of them such as 2,3"),
    (r"\ban int\b", "a whole number"),
    (r"\ba float\b", "a number"),
    (r"\bin the range \[([-\d.]+), inf\)", r"of at least \1"),
    (r"\bin the range \(([-\d.]+), inf\)", r"above \1"),
    (r"\bin the range \(([-\d.]+), ([-\d.]+)\)", r"between \1 and \2"),
    (r"\bin the range \[([-\d.]+), ([-\d.]+)\]", r"from \1 to \2"),
    (r"\bin the range \(([-\d.]+), ([-\d.]+)\]", r"above \1 and at most \2"),
    (r"\bin the range \[([-\d.]+), ([-\d.]+)\)", r"of at least \1 and below \2"),
    (r" or None\.", "."),  # an option that is left out
    (r"\bNone\b", "none"),
)


class OptionError(ValueError):
    """A value of an option is wrong; the text is in terms of the command already."""


def in_options(text: str, commands: Any, name: str | None) -> str:
    """Return a message as the command of this name says it; `commands` are all of them by their names."""
    if name not in commands:
        return text
    applies = name in _APPLY_A_MODEL
    terms = _Terms(commands["fit" if applies else name])
    told = terms.told(text)
    named = set(re.findall(r"--[a-z][a-z-]*", told)) - set(re.findall(r"--[a-z][a-z-]*", text))
    foreign = named - {option for one in commands[name].params for option in one.opts}
    return f"{told} These are options of `mercer fit`." if applies and foreign else told


class _Terms:
    """What parameters are called by a command."""

    def __init__(self, command: Any) -> None:
        own = {one.name: one.opts[0] for one in command.params if one.opts[0].startswith("--")}
        self._sets = "--set" in own.values()
        self._options = {name: f"--set {name}" for name in _SETTABLE if self._sets} | own
        self._options |= {name: own[other] for name, other in _OTHER_NAMES.items() if other in own}

    def told(self, text: str) -> str:
        """Return a message with options instead of parameters."""
        scaling = _WITH_SCALE if "scale" in self._options else _WITHOUT_SCALE
        text = re.sub(r"^The '(\w+)' parameter of \w+ must be (.*)", self._allowed, text)
        text = _replaced(text, (*_PHRASES, *scaling, *(() if self._sets else _WITHOUT_SET)))
        text = re.sub(r"(?<!--set )\b([a-z]\w*)=('[^']*'|\([^()]*\)|[\w.+-]*\w)", self._given, text)
        return re.sub(rf"(?<!--set )\b({'|'.join(_NEVER_WORDS)})\b(?=\W)", self._named, text)

    def _allowed(self, found: re.Match[str]) -> str:
        values = re.sub(r"a str among \{([^}]*)\}", _listed, found[2])
        return f"{self._named(found)} must be {_replaced(values, _VALUES)}"

    def _given(self, found: re.Match[str]) -> str:
        """Return name=value as it is given: --name value, or --set name=value."""
        option, value = self._named(found), re.sub("[()' ]", "", found[2])
        if option == found[1]:
            return found[0]
        return f"{option}={value}" if option.startswith("--set ") else f"{option} {value}"

    def _named(self, found: re.Match[str]) -> str:
        return str(self._options.get(found[1], found[1]))


def _replaced(text: str, phrases: tuple[tuple[str, str], ...]) -> str:
    for pattern, plain in phrases:
        text = re.sub(pattern, plain, text)
    return text


def _listed(found: re.Match[str]) -> str:
    names = sorted(name.strip(" '") for name in found[1].split(","))
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"

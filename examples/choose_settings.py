"""Choose the width and the number of components for noisy digits: python examples/choose_settings.py cleaned.png

Draws digits cleaned with default settings, by linear PCA and with selected settings, and beside this figure
(cleaned_choice.png) the criterion over the width of the kernel.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import mercer
from mercer import KernelPCA, plots

_SHOWN = 14


def main(path: str) -> None:
    """Select settings from noisy rows, clean other noisy rows, and draw both."""
    clean = np.random.default_rng(1).permutation(load_digits().data / 16.0)
    noisy = clean + 0.25 * np.random.default_rng(0).standard_normal(clean.shape)
    learned, new, truth = noisy[:1000], noisy[1000:], clean[1000:]
    found = mercer.select(learned, purpose="denoising", random_state=0)
    linear = mercer.select(learned, "denoising", candidates={"kernel": ["linear"]}, random_state=0)
    default = KernelPCA(4, kernel="rbf", gamma="median", preimage="auto")
    rows = {"noisy": new[:_SHOWN]}
    for name, model in {"default": default, "linear PCA": linear.estimator, "selected": found.estimator}.items():
        model.fit(learned)
        cleaned = model.inverse_transform(model.transform(new))
        left = ((cleaned - truth) ** 2).sum() / ((new - truth) ** 2).sum()
        rows[f"{name}: {left:.0%} of the error left"] = cleaned[:_SHOWN]
    figure = plots.image_grid({"without noise": truth[:_SHOWN], **rows}, (8, 8), size=0.5)
    figure.savefig(path, dpi=200)
    beside = Path(path).with_name(f"{Path(path).stem}_choice.png")
    found.plot().savefig(beside, dpi=200, bbox_inches="tight")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cleaned.png")

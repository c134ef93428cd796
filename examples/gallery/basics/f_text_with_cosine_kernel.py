"""
Text: sparse rows and the cosine kernel
=======================================

Texts become rows with thousands of columns that are nearly all zero. The cosine kernel compares them by the words
that they have in common, whatever their lengths; the rows stay sparse.
"""

# %%
# The texts are the help of SciPy's functions, from six of its packages. Each becomes a row of word weights.
from inspect import getdoc, isclass

import matplotlib.pyplot as plt
import scipy.fft
import scipy.integrate
import scipy.linalg
import scipy.signal
import scipy.spatial.distance
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer

from mercer import KernelPCA

packages = [scipy.fft, scipy.integrate, scipy.linalg, scipy.signal, scipy.spatial.distance, scipy.stats]
names = [(one, name, getattr(one, name)) for one in packages for name in dir(one) if name[0] != "_"]
functions = [found for found in names if callable(found[2]) and hasattr(found[2], "__name__") and not isclass(found[2])]
texts = [(package.__name__, name, getdoc(function)) for package, name, function in functions if getdoc(function)]
X = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=3).fit_transform(text for _, _, text in texts)
print(
    f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} of them in an average text; {type(X).__name__}"
)

# %%
# `transform` takes sparse rows as `fit` does. Help on similar subjects lies together: the first two components separate
# statistics, linear algebra and signals from the rest, and the next two Fourier transforms and distances.
scores = KernelPCA(4, kernel="cosine").fit_transform(X)
shown = {"butter", "eigh", "expm", "kstest"}, {"rfft", "dct", "cosine", "cityblock", "butter"}
figure, panels = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
for axes, first, few in zip(panels, (0, 2), shown, strict=True):
    for package in dict.fromkeys(package for package, _, _ in texts):
        mine = [i for i, (owner, _, _) in enumerate(texts) if owner == package]
        axes.scatter(*scores[mine, first : first + 2].T, s=16, alpha=0.6, label=package)
    for i, (_, name, _) in enumerate(texts):
        if name in few:
            axes.annotate(name, scores[i, first : first + 2], xytext=(7, 4), textcoords="offset points", fontsize=11)
    axes.set(xlabel=f"component {first + 1}", ylabel=f"component {first + 2}")
    axes.spines[["top", "right"]].set_visible(False)
panels[0].legend(frameon=False)

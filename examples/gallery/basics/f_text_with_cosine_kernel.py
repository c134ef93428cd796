"""
Text: sparse rows and the cosine kernel
=======================================

Texts become rows with thousands of columns that are nearly all zero. The cosine kernel compares them by the words
that they have in common, whatever their lengths; the rows stay sparse.
"""

# %%
# The texts are the help of SciPy's functions, from six of its packages. Each becomes a row of word weights.
from inspect import getdoc, isfunction

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
functions = [(one.__name__, name, getattr(one, name)) for one in packages for name in dir(one) if name[0] != "_"]
texts = [(package, name, getdoc(found)) for package, name, found in functions if isfunction(found) and getdoc(found)]
X = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=3).fit_transform(text for _, _, text in texts)
print(f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} of them in a text; {type(X).__name__}")

# %%
# `transform` takes sparse rows as `fit` does. The map shows the second and the third component: help on similar
# subjects lies together.
scores = KernelPCA(4, kernel="cosine").fit_transform(X)
figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
shown = {"welch", "butter", "eigh", "lu_factor", "dct", "quad", "kendalltau", "cosine", "cityblock", "kstest", "expm"}
for package in dict.fromkeys(package for package, _, _ in texts):
    mine = [i for i, (owner, _, _) in enumerate(texts) if owner == package]
    axes.scatter(*scores[mine, 1:3].T, s=16, alpha=0.7, label=package)
for i, (_, name, _) in enumerate(texts):
    if name in shown:
        axes.annotate(name, scores[i, 1:3], xytext=(5, 4), textcoords="offset points", fontsize=9)
axes.set(xlabel="component 2", ylabel="component 3")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)

"""
Pipelines and grid search, with and without labels
==================================================

Mercer's estimators work like those of scikit-learn: they can be steps of a pipeline, and ``GridSearchCV`` can vary
their parameters.
"""

# %%
# Breast cancer: 569 tumours, 30 measurements, benign or malignant. Kernel PCA makes new features for a linear
# classifier, and the grid search takes the width and the number of components that classify best.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelPCA

X, y = load_breast_cancer(return_X_y=True)
widths, counts = np.logspace(-3.5, -0.5, 6).round(4).tolist(), (2, 5, 10, 20)
pipeline = make_pipeline(StandardScaler(), KernelPCA(kernel="rbf"), LogisticRegression(max_iter=2000))
grid = {"kernelpca__gamma": widths, "kernelpca__n_components": counts}
with_labels = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
print("with labels:   ", with_labels.best_params_, f"{with_labels.best_score_:.1%} right")

# %%
# Without labels it works too. `KernelPCA.score` hides cells of new rows and says how well the model predicts them, so
# that the same search compares models of the rows themselves.
rows = StandardScaler().fit_transform(X)[::4]
search = GridSearchCV(KernelPCA(kernel="rbf"), {"gamma": widths, "n_components": counts}, cv=3).fit(rows)
print("without labels:", search.best_params_)

# %%
# The scores of both searches; a ring marks the best. The setting that describes the rows best is not the one that
# classifies them best, and it need not be.
figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for axes, found, title in zip(
    panels, (with_labels, search), ("right answers, with labels", "hidden cells predicted, no labels"), strict=True
):
    table = found.cv_results_["mean_test_score"].reshape(len(widths), len(counts)).T
    picture = axes.imshow(table, aspect="auto", cmap="viridis", vmin=np.quantile(table, 0.2))
    best = np.unravel_index(table.argmax(), table.shape)
    axes.plot(best[1], best[0], "o", markersize=16, markerfacecolor="none", markeredgecolor="white", markeredgewidth=2)
    axes.set_xticks(range(len(widths)), [f"{width:.1g}" for width in widths])
    axes.set_yticks(range(len(counts)), counts)
    axes.set(xlabel="gamma", ylabel="components")
    axes.set_title(title, loc="left")
    figure.colorbar(picture, ax=axes, extend="min")

"""
Robust and plain components
===========================

A few wrong rows can pull the components of plain kernel PCA towards themselves; then they hardly stand out any more.
`mercer.RobustKernelPCA` gives such rows small weights, so that they stand out again.
"""

# %%
# Pictures that are filed as the digit 3. Some of them (12 %) are zeros: somebody filed them in the wrong folder.
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA, RobustKernelPCA, plots

X, y = load_digits(return_X_y=True)
X = np.vstack([X[y == 3][:176], X[y == 0][:24]])
wrong = np.arange(200) >= 176

plain = KernelPCA(5, kernel="rbf", gamma="median").fit(X)
robust = RobustKernelPCA(5, kernel="rbf", gamma="median").fit(X)

# %%
# The weights: near 1 for rows that agree with the others, near 0 for rows that are far from the components. All zeros
# have a weight near 0. So do a quarter of the threes: handwriting differs, and those that look least like the others do
# not count either. A small weight says that a row is unusual, not that it is wrong.
figure = plots.sample_weights(robust, wrong)

# %%
# Which 24 pictures does each model find most unusual? (16 of them are drawn.) For the robust one nearly all are zeros.
# The plain one spent a component on the zeros; it explains them well, and finds badly written threes more unusual.
worst = {
    name: np.argsort(-model.reconstruction_error(X))[:24] for name, model in (("plain", plain), ("robust", robust))
}
figure = plots.image_grid(
    {f"{name}: {wrong[found].sum()} of 24 are wrong": X[found][:16] for name, found in worst.items()}, (8, 8), size=0.5
)

# %%
# Robustness has a price: unusual threes hardly count, so the robust model describes the threes as a whole slightly less
# well than the plain one, although that one spent a component on the zeros.
for name, model in (("plain", plain), ("robust", robust)):
    print(f"{name}: mean error of the threes {model.reconstruction_error(X[~wrong]).mean():.3f}")
# sphinx_gallery_thumbnail_number = 2

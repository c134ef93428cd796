"""
Alarms with a known rate, and the reason for each
=================================================

`mercer.KernelOutlierDetector` learns from normal rows. Of new normal rows a share `alpha` raises an alarm, as
promised; for each alarm it tells which features caused it.
"""

# %%
# Breast cancer: the normal rows are benign tumours. New rows are benign ones that were not learned, and then malignant
# ones.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from mercer import KernelOutlierDetector, plots

data = load_breast_cancer()
benign = np.random.default_rng(0).permutation(data.data[data.target == 1])
malignant = data.data[data.target == 0]
train, new = benign[:200], np.vstack([benign[200:], malignant[:60]])

alpha = 0.05
detector = KernelOutlierDetector(alpha=alpha, random_state=0).fit(train)
alarm = detector.predict(new) == -1
print(f"alarms: {alarm[:157].mean():.1%} of 157 new benign tumours (asked for: {alpha:.0%})", end=", ")
print(f"{alarm[157:].mean():.0%} of 60 malignant ones")

# %%
# The control chart: T2 is how far a row lies from the centre within the components, SPE how far it lies from them, and
# the Mahalanobis distance how badly it fits the linear relations between the features. The last 60 rows are the
# malignant ones. Red rows raise an alarm. The detector judges all statistics together, and a dashed line is the limit
# of one of them alone: so a row beyond only one of the lines need not raise an alarm.
figure = plots.control_chart(detector, new, alpha=alpha)

# %%
# Why? The contributions of the features to the most unusual rows.
worst = np.argsort(detector.p_values(malignant) + 1e-9 * detector.score_samples(malignant))[:12]
shares = detector.contributions(malignant[worst])
shares = shares / shares.sum(axis=1, keepdims=True)
top = np.argsort(-shares.mean(axis=0))[:10]
figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
picture = axes.imshow(shares[:, top].T, cmap="Reds", aspect="auto", vmin=0)
axes.set_yticks(range(len(top)), data.feature_names[top])
axes.set(xlabel="the twelve most unusual malignant tumours", xticks=[])
figure.colorbar(picture, ax=axes, label="share of all contributions")

"""
Follow a face through a video
=============================

`mercer.AppearanceTracker` starts from a box in the first frame. It learns how the object looks, forgets slowly how it
looked before, and finds it in the next frame.
"""

# %%
# The video is made here: the face of Grace Hopper, from a photograph that comes with matplotlib, moves over another
# photograph, changes its size, and the light changes.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cbook import get_sample_data
from scipy.ndimage import map_coordinates, zoom
from sklearn.datasets import load_sample_image

from mercer import AppearanceTracker, plots

with get_sample_data("grace_hopper.jpg") as file:
    photograph = plt.imread(file, format="jpg").mean(axis=2)
face = zoom(photograph[55:270, 170:345], 0.25)
ground = zoom(load_sample_image("china.jpg").mean(axis=2), 0.45)
high, wide = face.shape

frames, truth = [], []
for k in range(60):
    size = 1 + 0.25 * np.sin(k / 12)
    x, y = 110 + 75 * np.sin(k / 10), 60 + 35 * np.sin(k / 7)
    rows, columns = (np.arange(int(side * size)) for side in face.shape)
    patch = map_coordinates(face, np.meshgrid(rows / size, columns / size, indexing="ij"), order=1, mode="nearest")
    light = 0.75 + 0.35 * np.cos(k / 9)
    frame = ground.copy()
    frame[int(y) : int(y) + len(rows), int(x) : int(x) + len(columns)] = np.clip(patch * light, 0, 255)
    frames.append(frame)
    truth.append((int(x), int(y), wide * size, high * size))
frames, truth = np.array(frames), np.array(truth)

# %%
# Solid: the boxes found. Dashed: the true ones, which are hardly seen, because the boxes found lie on top of them.
boxes = AppearanceTracker(random_state=0).track(frames, truth[0])
figure = plots.track_strip(frames, boxes, truth, count=12, columns=4)

# %%
# The overlap of both boxes, from 0 (they do not touch) to 1 (they are the same).
low = np.maximum(boxes[:, :2], truth[:, :2])
top = np.minimum(boxes[:, :2] + boxes[:, 2:], truth[:, :2] + truth[:, 2:])
shared = np.prod(np.maximum(top - low, 0), axis=1)
overlap = shared / (np.prod(boxes[:, 2:], axis=1) + np.prod(truth[:, 2:], axis=1) - shared)
print(f"mean overlap {overlap.mean():.2f}, smallest {overlap.min():.2f}")

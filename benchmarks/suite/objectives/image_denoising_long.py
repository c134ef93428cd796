"""Denoising an image by 800 passes of plain KHA, as it was first published: many minutes."""

from benchmarks.suite.objectives.image_denoising import by, decibels, hebbian, images, paper
from benchmarks.suite.plan import Objective, Solver

OBJECTIVE = Objective(
    name="image_denoising_long",
    question="how many passes of plain KHA with a gain of 0.05 does KHA/et save on the camera image?",
    datasets={"camera 512 x 512": images},
    solvers=[
        Solver("KHA, 800 passes, gain 0.05", by(paper(hebbian("constant", 800, eta0=0.05))), peer=True),
        Solver("KHA/et, 50 passes", by(paper(hebbian("et")))),
    ],
    quality=decibels,
    rounds=0,
    default=False,
)

"""Draw the pictures of the guide that are also in the gallery: python docs/pictures/from_gallery.py [folder]"""

import sys
from pathlib import Path
from typing import Any

import matplotlib

ROOT = Path(__file__).resolve().parents[2]
PICTURES = {  # name of the picture: example, and which of its figures
    "clusters": ("images/a_clusters", 0),
    "drift": ("streams/b_drift", 0),
    "alarms": ("outliers/a_alarms_and_contributions", 0),
}


def figures_of(example: Path) -> list[Any]:
    """Run an example block by block, and return its figures in their order."""
    space: dict[str, Any] = {}
    found: list[Any] = []
    for block in example.read_text().split("\n# %%\n"):
        exec(compile(block, str(example), "exec"), space)
        if space.get("figure") is not None and space["figure"] not in found:
            found.append(space["figure"])
    return found


def main(folder: str = "docs/images") -> None:
    """Write all pictures to a folder."""
    matplotlib.use("agg")
    for name, (example, number) in PICTURES.items():
        figure = figures_of(ROOT / "examples" / "gallery" / f"{example}.py")[number]
        figure.savefig(Path(folder) / f"{name}.png", dpi=160, facecolor="white", bbox_inches="tight", pad_inches=0.1)


if __name__ == "__main__":
    main(*sys.argv[1:])

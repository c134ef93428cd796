"""What readers copy runs: every Python snippet of README and docs, tables of code, examples, pictures of the guide."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from sklearn.datasets import load_digits

import mercer

ROOT = Path(__file__).resolve().parents[1]
README, START = ROOT / "README.md", ROOT / "docs" / "guide" / "start.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "guide").glob("*.md"))]
GUIDES = [
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *(ROOT / "docs" / f"{name}.md" for name in ("index", "watch", "watch_reference", "tracking", "cluster")),
]
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"(?<![\w./<*-])\w+(?:/\w+)+(?:\.py|\.md)?(?![\w>*-])|\b\w+\.py\b")  # with a folder, or a module
SNIPPETS = {
    f"{page.name} {number}": text
    for page in PAGES
    for number, text in enumerate(_BLOCK.findall(page.read_text()), start=1)
}
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SLOW = {"track_face"}  # some seconds


def prepared() -> dict[str, object]:
    """The names that readers bring along: their own rows, images, sets of images and frames. Nothing is imported."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 6)) * [3, 2, 1, 1, 1, 1]
    video = rng.uniform(0, 255, (4, 60, 80))
    return {
        "X": rows[:300], "X_new": rows[300:], "new": rows[300:], "chunk": rows[:250],
        "stream": [rows[:250], rows[250:]],
        "image": X[:64].reshape(8, 8, 8, 8).swapaxes(1, 2).reshape(64, 64) / 16,
        "sets": [X[y == k][:60] for k in range(10)], "labels": list(range(10)),
        "unknown_sets": [X[y == k][60:120] for k in range(10)],
        "claimed_labels": list(range(10)), "true_labels": list(range(10)), "frame": X[0],
        "frames": video, "x": 20, "y": 20, "w": 24, "h": 24,
    }  # fmt: skip


def test_the_pages_have_snippets():
    first = ["start", "how_it_works", "choosing_settings", "preimages_denoising", "streams_drift", "outliers_alarms"]
    others = ["process_monitoring", "larger_than_memory", "images_faces_tracking", "clustering", "files_safety"]
    guides = {f"{name}.md" for name in (*first, *others)}
    assert {name.split()[0] for name in SNIPPETS} >= {"README.md", *guides}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    """Names of files and folders in code and in links; files of the package may be named without `src/mercer`."""
    text = page.read_text()
    quoted = [name for code in re.findall(r"`([^`\n]+)`", text) for name in _FILE.findall(code)]
    linked = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    folders = (ROOT, ROOT / "src", ROOT / "src" / "mercer")
    assert not [name for name in quoted if not any((folder / name).exists() for folder in folders)]
    assert not [link for link in linked if not (page.parent / link).exists()]


def _anchors(page: Path) -> set[str]:
    """The names by which links find the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_into_pages_lead_to_their_headings(page):
    """Of README, too, which the site does not show."""
    links = re.findall(r"\]\(([\w./]*)#([^)\s]+)\)", page.read_text())
    missing = [f"{to}#{name}" for to, name in links if name not in _anchors((page.parent / to) if to else page)]
    assert not missing


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_what_a_user_reads_is_short(page):
    """Records of evidence are on pages of their own, or at the end of a page that is short."""
    assert len(page.read_bytes()) <= 10_500


def test_every_package_has_a_layer():
    parts = {path.stem for path in (ROOT / "src" / "mercer").iterdir() if path.suffix in ("", ".py")}
    parts = {name for name in parts if not name.startswith(("_", "."))}
    text = (ROOT / "docs" / "architecture.md").read_text()
    table = text.split("| layer | what it holds |")[1].split("\n\n")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", " ".join(first_cells))) == parts
    contract = (ROOT / "pyproject.toml").read_text().split("layers = [")[1].split("]")[0]
    assert set(re.findall(r"mercer\.(\w+)", contract)) == parts


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippet_runs_as_it_stands(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = prepared()
    exec(compile(SNIPPETS[name], name, "exec"), names)
    assert set(names) > set(prepared())


def _second_column(page: Path, heading: str) -> list[str]:
    """The code in the second column of the table of a page with this heading."""
    table = page.read_text().split(heading)[1].split("\n\n")[0]
    cells = [line.split("|")[2] for line in table.splitlines()[2:]]
    return [code for cell in cells for code in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize(
    "code", [c for c in _second_column(START, "| you want | you write |") if "=" in c.split("(")[0]]
)
def test_parameters_of_the_table_are_accepted(code, capsys):
    if "Wavelet" in code:
        pytest.importorskip("pywt")
    X = np.random.default_rng(0).uniform(size=(30, 560 if "28, 20" in code else 4))
    model = eval(f"mercer.KernelPCA(**{{'n_components': 2, 'kernel': 'rbf', **dict({code})}})", {"mercer": mercer})
    assert np.isfinite(model.fit(X).transform(X)).all()


def test_every_way_back_of_the_table_works(rng):
    [row] = [line for line in START.read_text().splitlines() if line.startswith("| rows back from scores")]
    X = rng.standard_normal((40, 3))
    methods = re.findall(r'"(\w+)"', row)
    assert set(methods) == {"auto", "mika", "kwok", "gradient", "exact", "ridge"}
    assert 'with `fit_inverse_transform=True` `"ridge"`' in row
    assert 'for linear and wavelet kernels `"exact"`' in row
    for method in methods:
        more = {"fit_inverse_transform": True} if method == "ridge" else {}
        kernel = "linear" if method == "exact" else "rbf"
        model = mercer.KernelPCA(3, kernel=kernel, preimage=method, **more).fit(X)
        back, residual = model.inverse_transform(model.transform(X), return_residual=True)
        assert np.isfinite(back).all()
        assert residual.shape == (40,)


@pytest.mark.parametrize(
    "code", [c for c in _second_column(README, "| for | there is | more |") if not c.startswith((".", "mercer "))]
)
def test_tools_of_the_table_can_be_called(code, tmp_path):
    names = {name: getattr(mercer, name) for name in mercer.__all__}
    given = prepared() | {"estimator": mercer.KernelPCA(3, kernel="rbf"), "mercer": mercer, "box": (20, 20, 24, 24)}
    given["path"] = tmp_path / "model.mercer"
    mercer.KernelPCA(2).fit(given["X"]).save(given["path"])
    assert eval(code, {**names, **given, "frame": given["frames"][0]}) is not None


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path.stem in SLOW else []) for path in EXAMPLES],
    ids=lambda path: path.stem,
)
@pytest.mark.filterwarnings("ignore:USPS digits")
def test_example_draws_without_data(path, tmp_path, monkeypatch):
    (tmp_path / "no data").mkdir()
    monkeypatch.setenv("MERCER_DATA", str(tmp_path / "no data"))
    runpy.run_path(str(path))["main"](str(tmp_path / "figure.png"))
    assert imread(tmp_path / "figure.png")[..., :3].std() > 0.01  # not a blank page


def test_pictures_of_how_it_works_are_drawn_by_their_script(tmp_path):
    script = runpy.run_path(str(ROOT / "docs" / "pictures" / "how_it_works.py"))
    script["main"](str(tmp_path))
    shown = re.findall(r"how_it_works/(\w+\.png)", (ROOT / "docs" / "guide" / "how_it_works.md").read_text())
    assert shown == [f"{name}.png" for name in script["PICTURES"]]
    assert all(imread(tmp_path / name)[..., :3].std() > 0.01 for name in shown)


def test_the_picture_of_the_monitor_shows_what_its_caption_says(tmp_path):
    script = runpy.run_path(str(ROOT / "docs" / "pictures" / "monitor_tank.py"))
    script["main"](str(tmp_path))
    assert imread(tmp_path / "monitor_tank.png")[..., :3].std() > 0.01
    monitor, rows = script["judged"]()
    verdicts = monitor.verdicts(rows)
    fault = np.arange(script["NEW"]) >= script["NEW"] - script["BAD"]
    assert not verdicts.alarm[~fault].any()
    assert verdicts.alarm[fault].mean() > 0.9
    t2, spe = monitor.limits()
    assert (verdicts.t2 < t2).all()  # T2 sees nothing
    assert (verdicts.spe[fault] >= spe).mean() > 0.8
    assert ["relation: " in text for text in verdicts.which[fault]].count(True) > 0.9 * fault.sum()

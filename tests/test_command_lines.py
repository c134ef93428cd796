"""Every line `mercer ...` in README and in the pages of docs runs as it stands, against small files."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from matplotlib.image import imsave

from benchmarks.suite import runner
from commands import run
from mercer import KernelOutlierDetector, ProcessMonitor
from mercer.cli.root import app
from papers import catalogue

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "guide").glob("*.md"))]
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SHELL = {"", "sh", "bash", "console"}
MADE_ELSEWHERE = {"watch", "serve", "reproduce", "demo"}  # these have their own tests: they go on, or take long
ON_CLUSTERS = {"--cluster", "--workers"}  # these need other processes and have their own tests, too


def commands_of(page: Path) -> list[list[str]]:
    """Return the words of each line of a page that calls `mercer`, without comments; a backslash joins lines."""
    blocks = [text for language, text in _BLOCK.findall(page.read_text()) if language in _SHELL]
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines if line.strip().startswith(("mercer ", "$ mercer "))]
    found = [some[some.index("mercer") + 1 :] for some in words]
    return [some for some in found if some[0] not in MADE_ELSEWHERE and not ON_CLUSTERS & set(some)]


WITH_COMMANDS = {page.name: commands for page in PAGES if (commands := commands_of(page))}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """The files that readers bring along: rows with a time and an id, models of them, images and frames."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((400, 4)) * [3, 2, 1, 1], columns=list("abcd"))
    table["when"] = pd.date_range("2024-05-31", periods=400, freq="min").astype(str)
    table["machine_id"] = "m1"
    for name, rows in {"data": table[:150], "normal": table[:300], "new": table[300:], "today": table[300:]}.items():
        rows.to_csv(folder / f"{name}.csv", index=False)
    table[300:].to_parquet(folder / "new.parquet")
    values = table[list("abcd")].to_numpy()
    np.save(folder / "noisy.npy", values[300:])
    run("fit", folder / "data.csv", "-o", folder / "model.mercer", "--components", 3)
    KernelOutlierDetector(random_state=0).fit(table[:150][list("abcd")]).save(folder / "alarm.mercer")
    ProcessMonitor(smoothing=1).fit(table[:300][list("abcd")]).save(folder / "plant.mercer")
    picture = np.clip(np.kron(rng.uniform(size=(4, 4)), np.ones((10, 10))) + rng.normal(0, 0.1, (40, 40)), 0, 1)
    imsave(folder / "in.png", picture, cmap="gray")
    frames = rng.uniform(0, 255, (4, 240, 320))
    np.savez(folder / "frames.npz", frames=frames)
    (folder / "frames").mkdir()
    for number, frame in enumerate(frames):
        imsave(folder / "frames" / f"{number}.png", frame, cmap="gray")
    return folder


def test_pages_have_command_lines():
    assert sum(map(len, WITH_COMMANDS.values())) >= 10
    assert set(WITH_COMMANDS) >= {"outliers_alarms.md", "process_monitoring.md", "larger_than_memory.md"}


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_command_lines_of_a_page_run_one_after_the_other(name, files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for words in WITH_COMMANDS[name]:
        if any(word.endswith(".mp4") for word in words):
            continue  # videos need an extra, and have their own tests
        run(*words)
        outputs = [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-o", "--save", "--plot", "--out")]
        assert all(Path(path).stat().st_size > 0 for path in outputs if path != "-"), words


def code_of(page: Path) -> list[str]:
    """Return each line of code of a page: in blocks of commands without comments, and in the text between backticks."""
    text = page.read_text()
    blocks = [part for language, part in _BLOCK.findall(text) if language in _SHELL]
    lines = [line.partition("  #")[0] for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    inline = re.findall(r"`([^`]+)`", _BLOCK.sub("", text))
    return [" ".join(code.split()) for code in (*lines, *inline)]


CODE = {page.name: code_of(page) for page in (*PAGES, ROOT / "CONTRIBUTING.md")}


def test_commands_that_are_not_run_here_have_the_options_that_pages_give_them():
    """Those that go on, need a cluster or a video, or stand in the text."""
    commands = typer.main.get_command(app).commands
    seen = set()
    for page, lines in CODE.items():
        calls = [found for line in lines for found in re.findall(r"(?:^|\| )\$? ?mercer ([a-z]\w*)((?: [^|]*)?)", line)]
        for name, rest in calls:
            assert name in commands, (page, name)
            known = {option for one in commands[name].params for option in (*one.opts, *one.secondary_opts)}
            given = set(re.findall(r"(?<=\s)(--[a-z][a-z-]*|-[a-z])(?=[\s=]|$)", rest))
            assert given <= {*known, "--help", "--debug"}, (page, name)
            seen.add(name)
    assert seen >= {"watch", "track", "fit", "monitor"}


def test_objectives_experiments_and_targets_that_pages_name_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    objectives, experiments = set(), set()
    for page, lines in CODE.items():
        for line in lines:
            words = line.split()
            if "benchmarks" in words[1:3]:
                rest = re.sub(r"--data \S+", "", line.partition("benchmarks")[2])
                objectives |= set(re.findall(r"(?<=\s)[a-z]\w+", rest))
            if "papers" in words[1:3]:
                experiments |= {word for word in words if re.fullmatch(r"[a-z]\w+:\w+", word)}
            if words[:1] == ["make"] and len(words) > 1:
                assert words[1] in targets, (page, line)
    assert len(objectives) > 20
    assert objectives <= set(runner.names())
    assert len(experiments) > 0
    assert catalogue.find(sorted(experiments))

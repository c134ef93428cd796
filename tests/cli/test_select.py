"""`mercer select`, and the word `select` in other commands."""

import io
import shlex

import numpy as np
import pandas as pd
import pytest

import mercer
from commands import failure, run
from mercer.io.pictures import read_picture
from selection_data import curve, low_rank

X, PLANE = curve(90), low_rank(120)
WIDE = np.hstack([X, curve(90, seed=5)])


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)])
    frame.insert(0, "name", [f"r{i}" for i in range(90)])
    frame.to_csv("x.csv", index=False)
    np.save("x.npy", X)
    np.save("wide.npy", WIDE)
    np.save("plane.npy", PLANE)
    return tmp_path


def built(shown: str):
    """The estimator that the printed lines of Python build."""
    lines = [line for line in shown.splitlines() if line.startswith(("from ", "model = "))]
    scope: dict = {}
    exec("\n".join(lines), scope)
    return scope["model"]


@pytest.mark.parametrize("purpose", ["reconstruction", "denoising", "features", "outliers"])
def test_it_prints_the_reason_the_best_and_python_that_builds_the_estimator(files, purpose):
    shown = run("select", "x.npy", "--purpose", purpose)
    found = mercer.select(X, purpose, random_state=0)
    why = found.why.replace("pass contaminated=True or False", "use --contaminated or --clean")
    assert shown.stdout.splitlines()[0] == why
    assert f"The best of {len(found.table)} candidates" in shown.stdout
    assert shown.stdout.count("chosen") == 1
    assert str(built(shown.stdout)) == str(found.estimator)


def test_a_scaled_choice_is_a_pipeline(files):
    np.save("units.npy", PLANE * np.logspace(0, 6, 12))
    shown = run("select", "units.npy", "--purpose", "features")
    found = mercer.select(PLANE * np.logspace(0, 6, 12), "features", random_state=0)
    assert str(built(shown.stdout)) == str(found.estimator)
    assert ("--scale variance" in shown.stderr) == ("make_pipeline" in shown.stdout)


def test_the_command_that_it_names_fits_the_choice(files):
    told = run("select", "x.npy").stderr
    command = told[told.index("mercer fit") :].split()[1:]
    run(*command)
    found = mercer.select(X, random_state=0).estimator
    model = mercer.load("model.mercer")
    assert (model.kernel, model.gamma_, model.n_components_) == (found.kernel, found.gamma, found.n_components)


def test_for_outliers_it_names_the_command_that_uses_it(files):
    told = [run("select", "x.npy", "--purpose", "outliers", *known).stderr for known in ((), ("--clean",))]
    assert "mercer outliers x.npy --method select" in told[0]
    assert "mercer outliers NEW --train x.npy --method select" in told[1]
    assert "--kernel linear --components" in run("select", "plane.npy").stderr


@pytest.mark.parametrize("target", ["t.csv", "t.parquet", "t.jsonl", "-"])
def test_all_candidates_are_written(files, target):
    shown = run("select", "x.csv", "--id", "name", "-o", target)
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "jsonl": lambda path: pd.read_json(path, lines=True)}
    got = pd.read_csv(io.StringIO(shown.stdout)) if target == "-" else read[target.partition(".")[2]](target)
    expected = mercer.select(X, random_state=0).table
    assert got["kernel"].tolist() == expected["kernel"].tolist()
    np.testing.assert_allclose(got["score"].astype(float), expected["score"], atol=1e-6)
    assert got["chosen"].sum() == 1


def test_the_picture_is_drawn(files):
    told = run("select", "x.npy", "--plot", "choice.png").stderr
    assert "The picture is choice.png." in told
    assert read_picture("choice.png").shape[:2] == (504, 840)


def test_columns_missing_cells_rows_and_seeds_are_those_of_other_commands(files):
    chosen = run("select", "x.csv", "--columns", "c0,c1,c2", "-o", "a.csv")
    left = run("select", "x.csv", "--exclude", "c3,c4,c5,c6,c7", "-o", "b.csv")
    assert chosen.stdout == left.stdout
    assert "Left out, not numbers: name" in left.stderr
    holes = X.copy()
    holes[3, 2] = np.nan
    np.save("holes.npy", holes)
    assert "--missing drop" in failure("select", "holes.npy")
    assert "Dropped 1 of 90 rows" in run("select", "holes.npy", "--missing", "drop").stderr
    assert "predicts" in run("select", "holes.npy", "--missing", "mean").stdout
    some = run("select", "x.npy", "--rows", 40)
    assert some.stdout != run("select", "x.npy", "--rows", 40, "--seed", 1).stdout
    assert some.stdout == run("select", "x.npy", "--rows", 40).stdout


def test_standard_input_is_read(files):
    text = "\n".join(",".join(map(str, row)) for row in X.tolist())
    assert run("select", "-", stdin=text).stdout.splitlines()[0] == mercer.select(X, random_state=0).why


def test_time_may_be_short_and_progress_is_shown(files, caplog):
    assert "6 kernels were not tried" in run("select", "x.npy", "--seconds", 0).stdout
    with caplog.at_level("INFO", "mercer"):
        run("select", "x.npy", "-v")
    assert "kernels compared: step 8 of 8" in caplog.text


def test_what_cannot_be_done_fails_at_once(files):
    np.save("few.npy", X[:19])
    assert "at least 20 rows" in failure("select", "few.npy")
    assert "write .csv" in failure("select", "x.npy", "-o", "t.npy")
    assert "suffix" in failure("select", "x.npy", "-o", "t.docx")
    assert "does not exist" in failure("select", "x.npy", "--plot", "nowhere/a.png")
    run("select", "x.npy", "--purpose", "clusters", code=2)
    run("select", "x.npy", "--seconds", -1, code=2)


# -- the word in other commands ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [("--gamma", "select", "--components", "select"), ("--set", "gamma=select", "--set", "n_components=select")],
)
def test_fit_selects(files, options):
    told = run("fit", "x.npy", "-o", "model", *options).stderr
    peer = mercer.KernelPCA("select", kernel="rbf", gamma="select").fit(X)
    model = mercer.load("model")
    assert (model.gamma_, model.n_components_) == (peer.gamma_, peer.n_components_)
    assert f"Selected: gamma = {peer.gamma_:.6g}, n_components = {peer.n_components_}." in told


def test_fit_selects_the_components_of_a_linear_model_and_of_scaled_columns(files):
    assert (
        "Selected: n_components = "
        in run(
            "fit", "plane.npy", "-o", "model", "--kernel", "linear", "--components", "select", "--scale", "soft"
        ).stderr
    )
    assert "Selected" not in run("fit", "plane.npy", "-o", "model").stderr


def test_what_fit_cannot_select_fails(files):
    assert "mercer.select compares kernels" in failure(
        "fit", "x.npy", "-o", "m", "--kernel", "poly", "--gamma", "select"
    )
    assert "gamma" in failure("fit", "x.npy", "-o", "m", "--method", "landmark", "--gamma", "select")
    assert "give a number such as 0.1, median, select, or none" in failure("fit", "x.npy", "-o", "m", "--gamma", "best")
    np.save("many.npy", np.random.default_rng(0).normal(size=(20_001, 2)))
    assert "needs all rows at once" in failure("fit", "many.npy", "-o", "m", "--gamma", "select")
    assert "needs all rows at once" in failure("fit", "many.npy", "-o", "m", "--components", "select")


@pytest.mark.parametrize(("known", "contaminated"), [("--clean", False), ("--contaminated", True)])
def test_it_can_be_told_whether_there_are_outliers_among_the_rows(files, known, contaminated):
    shown = run("select", "x.npy", "--purpose", "outliers", known)
    found = mercer.select(X, "outliers", contaminated=contaminated, random_state=0)
    assert shown.stdout.splitlines()[0] == found.why
    assert str(built(shown.stdout)) == str(found.estimator)
    assert ("On the command line: mercer outliers x.npy\n" in shown.stderr) == contaminated
    assert "purpose" in failure("select", "x.npy", known)


@pytest.mark.parametrize("purpose", ["reconstruction", "outliers"])
def test_the_command_that_it_names_runs_as_it_is(files, purpose):
    frame = pd.read_csv("x.csv")
    frame.loc[3, "c1"] = None
    frame.to_csv("own rows.csv", index=False)
    chosen = ["--exclude", "c5, c6", "--id", "name", "--missing", "drop"]
    told = run("select", "own rows.csv", "--purpose", purpose, *chosen).stderr
    words = shlex.split(told.partition("On the command line: mercer ")[2])
    run(*words)
    if purpose == "reconstruction":
        assert list(mercer.load("model.mercer").feature_names_in_) == ["c0", "c1", "c2", "c3", "c4", "c7"]


def test_outliers_takes_rows_that_it_judges_for_clean_only_if_there_are_others_to_learn_from(files):
    for train, trim in (((), 0.05), (("--train", "wide.npy"), 0.0)):
        run("outliers", "wide.npy", "--method", "select", "--save", "alarm", *train)
        assert mercer.load("alarm").trim == trim
        assert mercer.select(WIDE, "outliers", contaminated=False if trim == 0 else None).estimator.trim == trim


def test_outliers_with_few_columns_takes_the_default_as_select_does(files):
    told = run("outliers", "x.npy", "--method", "select", "-o", "a.csv").stderr
    run("outliers", "x.npy", "-o", "b.csv")
    assert "Selected: KernelPCA(gamma='median', kernel='rbf', n_components=4)." in told
    np.testing.assert_array_equal(pd.read_csv("a.csv"), pd.read_csv("b.csv"))
    told = run("outliers", "x.npy", "--train", "x.npy", "--method", "select").stderr
    assert f"n_components={mercer.select(X, 'outliers', contaminated=False).estimator.estimator.n_components}" in told


def test_outliers_selects_saves_and_judges_again(files):
    told = run("outliers", "wide.npy", "--method", "select", "--save", "alarm", "-o", "a.csv").stderr
    found = mercer.select(WIDE, "outliers", random_state=0).estimator
    peer = found.set_params(alpha=0.05, random_state=0).fit(WIDE)
    assert f"n_components={peer.estimator_.n_components}" in told[told.index("Selected: KernelPCA(") :]
    run("outliers", "wide.npy", "--detector", "alarm", "-o", "b.csv")
    first, second = pd.read_csv("a.csv"), pd.read_csv("b.csv")
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first["p"], peer.p_values(WIDE))

"""`mercer fit`: its seed, and rows that come from several files and from standard input."""

import numpy as np
import pytest

import mercer
from commands import failure, run
from mercer.cli import methods
from mercer.io import writers

X = np.random.default_rng(0).normal(size=(120, 3)) * [1, 2, 3]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    writers.write("whole.csv", [X], list("abc"))
    writers.write("first.csv", [X[:50]], list("abc"))
    writers.write("second.csv", [X[50:]], list("abc"))


@pytest.mark.parametrize("method", [methods.AUTO, "landmark", "hebbian-kernel-pca", "robust"])
@pytest.mark.parametrize("more", [(), ("--rows", 100)])
def test_the_seed_reaches_every_method_and_set_comes_before_it(files, method, more):
    given = ("fit", "whole.csv", "-o", "m", "--method", method, "--components", 2, "--seed", 7, *more)
    run(*given)
    assert mercer.load("m").random_state == 7
    run(*given, "--set", "random_state=5")
    assert mercer.load("m").random_state == 5


def test_another_seed_gives_another_model_and_the_same_seed_the_same(files):
    for name, seed in (("a", 1), ("b", 2), ("c", 1)):
        run("fit", "whole.csv", "-o", name, "--method", "landmark", "--set", "landmarks=10", "--seed", seed)
    first, other, again = (mercer.load(name).expansion_.points for name in "abc")
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("prepared", [("--scale", "soft"), ("--missing", "mean"), ()])
@pytest.mark.parametrize("order", [("first.csv", "-"), ("-", "second.csv")])
def test_standard_input_is_one_of_several_files(files, prepared, order):
    given = ("--components", 2, "--chunk-rows", 7, *prepared, "-o")
    piped = "second.csv" if order[1] == "-" else "first.csv"
    with open(piped, "rb") as stream:
        run("fit", *order, *given, "piped", stdin=stream.read())
    run("fit", "whole.csv", *given, "whole")
    np.testing.assert_allclose(mercer.load("piped").transform(X), mercer.load("whole").transform(X), atol=1e-9)


def test_standard_input_is_given_once(files):
    with open("whole.csv", "rb") as stream:
        assert "only once" in failure("fit", "-", "-", "-o", "m", stdin=stream.read())


@pytest.mark.parametrize("method", [name for name in methods.names() if name != methods.EXACT])
def test_all_components_are_those_of_the_exact_method_only(files, method):
    told = failure("fit", "whole.csv", "-o", "m.mercer", "--method", method, "--components", "all")
    assert f"is for --method kernel-pca only. Give {method} a number" in told


@pytest.mark.parametrize("target", ["-", "/dev/null"])
def test_a_model_is_written_to_a_file_only(files, target):
    assert f"--out {target}: a model is written to a file only" in failure("fit", "whole.csv", "-o", target)

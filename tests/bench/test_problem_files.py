"""Problems of the user's: from TOML and from CSV, and what is said of those that are not right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edhie.bench import ProblemError, load_problems
from edhie.bench.metrics import is_equivalent

GOOD = """
[defaults]
n_train = 20

[[problem]]
id = "cup"
target = "T"
formula = "20 + 60*exp(-t/7)"
unit = "T"
variables = { t = [0, 30, "s"] }
"""


def written(folder: Path, text: str, name: str = "own.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file(tmp_path: Path) -> None:
    (problem,) = load_problems(written(tmp_path, GOOD))
    assert (problem.id, problem.names, problem.n_train, problem.n_test) == ("cup", ("t",), 20, 1000)
    assert problem.unit == (0, 0, 0, 1, 0)
    points, y = problem.data("train", 0)
    np.testing.assert_allclose(y, 20 + 60 * np.exp(-points[:, 0] / 7))
    assert load_problems(str(tmp_path / "own.toml")) == (problem,)


def test_a_variable_may_have_the_constants_name(tmp_path: Path) -> None:
    (problem,) = load_problems(written(tmp_path, GOOD.replace("t/7", "c/7").replace("t = [", "c = [")))
    assert problem.truth is not None
    assert problem.truth.variables == ("c",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("formula", "fromula", "unknown key 'fromula'; did you mean 'formula'"),
        ("n_train", "ntrain", "unknown key 'ntrain'; did you mean 'n_train'"),
        ("[defaults]", "[default]", "unknown key 'default'; did you mean 'defaults'"),
        ("[0, 30", "[30, 0", r"the range \[30, 0\] holds no numbers; write \[0, 30\]"),
        ("[0, 30", "[3, 3", "the two ends must differ"),
        ("[0, 30", "[0, inf", "the ends of a range are finite numbers, not inf"),
        ("[0, 30", '[0, "30"', "the ends of a range are finite numbers, not '30'"),
        ('[0, 30, "s"]', "3", 'write .low, high. or .low, high, "unit"., not 3'),
        ('"s"', '"sec"', "cannot read 'sec' in the unit 'sec'; write powers of m, s, kg, T, V"),
        ('unit = "T"', "unit = 3", "unit must be a text in quotes, not 3"),
        ("-t/7", "-u/7", "the formula is over t; unknown symbol 'u'; there are t, c"),
        ("-t/7", "-t/c", "'c' in '20 \\+ 60\\*exp\\(-t/c\\)' has no value; write a number"),
        ("exp(-t/7)", "exp(-t/7", "the formula is over t; .* in '20 \\+ 60\\*exp\\(-t/7'"),
        ('target = "T"', 'target = "t"', "'t' is a variable and the target too"),
        ('target = "T"\n', "", "target is missing"),
        ('id = "cup"\n', "", "problem 1: id is missing"),
        ('formula = "20 + 60*exp(-t/7)"\n', "", "give a formula to draw data from, or the path of a CSV file"),
        ("variables = { t", "variables = { sin", "'sin' is a function; rename it"),
        ("variables = { t", 'variables = { "a b"', "a name is letters, digits and _"),
        ("n_train = 20", "n_train = 0", "n_train must be a whole number from 1 to 10,000,000, not 0"),
        ("n_train = 20", "n_train = true", "n_train must be a whole number from 1 to 10,000,000, not True"),
        ("n_train = 20", "n_train = 1000000000000", "n_train must be a whole number from 1 to 10,000,000"),
        ('id = "cup"', 'id = "../cup"', "files are named by the id"),
        ('id = "cup"', 'id = "=cup"', "files are named by the id"),
        ('id = "cup"', 'id = "[red]cup"', "files are named by the id"),
        ("[[problem]]", "[[problem]", "is not valid TOML"),
        ("n_train = 20", f"n_train = {'1' * 5000}", "is not valid TOML: Exceeds the limit"),
        ("n_train = 20", f"n_train = {'[' * 5000}", "is not valid TOML: .*recursion"),
        ("[[problem]]", "[problem]", r"write \[defaults\] once and \[\[problem\]\] before each"),
    ],
)
def test_faults(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(ProblemError, match=message) as raised:
        load_problems(written(tmp_path, GOOD.replace(old, new)))
    assert "own.toml" in str(raised.value)


def test_faults_of_whole_files(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="contains no problem"):
        load_problems(written(tmp_path, ""))
    with pytest.raises(ProblemError, match="there is no file"):
        load_problems(tmp_path / "none.toml")
    twice = GOOD + GOOD[GOOD.index("[[problem]]") :]
    with pytest.raises(ProblemError, match="the id 'cup' is given to two problems"):
        load_problems(written(tmp_path, twice))


def test_values_that_are_not_finite(tmp_path: Path) -> None:
    (problem,) = load_problems(written(tmp_path, GOOD.replace("exp(-t/7)", "log(t - 15)")))
    with pytest.raises(
        ProblemError, match=r"cup: .* has no finite value at \d+ of 20 points, such as t = .*; narrow the ranges"
    ):
        problem.data("train", 0)


# -- measurements ---------------------------------------------------------------------

TABLE = "t,T\n" + "".join(f"{k},{20 + k / 2}\n" for k in range(11))


def test_a_csv_file_alone(tmp_path: Path) -> None:
    (problem,) = load_problems(written(tmp_path, TABLE, "cup.csv"))
    assert (problem.id, problem.target, problem.names, problem.truth) == ("cup", "T", ("t",), None)
    parts = [problem.data(split, 1) for split in ("train", "test")]
    assert [len(y) for _, y in parts] == [6, 5]
    assert sorted(np.concatenate([points[:, 0] for points, _ in parts])) == list(range(11))
    for points, y in parts:
        np.testing.assert_allclose(y, 20 + points[:, 0] / 2)
    assert not np.array_equal(parts[0][0], problem.data("train", 2)[0])


def test_a_problem_that_points_to_a_csv_file(tmp_path: Path) -> None:
    written(tmp_path, TABLE.replace("t,T", "T,t"), "cup.csv")
    text = '[[problem]]\nid = "cup"\ntarget = "t"\ndata = "cup.csv"\nformula = "20 + T/2"\n'
    (problem,) = load_problems(written(tmp_path, text))
    assert problem.names == ("T",)
    assert (problem.variables[0].low, problem.variables[0].high) == (0, 10)
    assert problem.truth is not None
    assert is_equivalent(problem.truth, problem) == "yes"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("t,T\n1,2\n", "has 1 rows below the header; at least 4 are needed"),
        (TABLE + "1,x\n", "line 13: 'x' is not a number"),
        (TABLE + "1\n", "line 13 has 1 columns, the first 2"),
        (TABLE + "1,nan\n", "line 13 holds a number that is not finite"),
        (TABLE.replace("t,T", "t,t"), "the first row must name each column"),
        (TABLE.replace("t,T", "a b,T"), "column 'a b': a name is letters, digits and _"),
    ],
)
def test_faulty_tables(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        load_problems(written(tmp_path, table, "cup.csv"))


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    written(tmp_path, TABLE, "cup.csv")
    text = '[[problem]]\nid = "cup"\ntarget = "TT"\ndata = "cup.csv"\n'
    with pytest.raises(ProblemError, match="has no column 'TT'; did you mean 'T'"):
        load_problems(written(tmp_path, text))

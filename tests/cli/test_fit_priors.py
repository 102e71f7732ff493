"""What a person knows beforehand, told to `fit` and `revise`: formulas, a form, what is forbidden."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie import Constraints
from edhie.cli.search_options import Asked
from edhie.fit import field
from edhie.fit.run_folder import load

RNG = np.random.default_rng(0)
T, ANGLE = RNG.uniform(0.5, 3, (2, 60))
GUESS = "c*exp(c*t)*sin(c*angle_1) + c"
FORMULAS = "V*S/(K + S)\na*exp(-k*t)\n"


@pytest.fixture
def swing(tmp_path: Path) -> Path:
    """Sixty rows of a swing that comes to rest."""
    y = 2.7 * np.exp(-0.83 * T) * np.sin(1.9 * ANGLE) + 0.3
    path = tmp_path / "swing.csv"
    np.savetxt(path, np.column_stack([T, ANGLE, y]), delimiter=",", header="t,angle 1,y", comments="")
    return path


@pytest.fixture
def fit(edhie: Callable[..., Any], swing: Path) -> Callable[..., Any]:
    def run(*options: object, evaluations: int = 80) -> Any:
        return edhie("fit", swing, "--target", "y", "--evaluations", evaluations, "--quiet", "--no-report", *options)

    return run


@pytest.fixture
def untuned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus is used as it is, which takes no time."""
    monkeypatch.setattr(field, "_tuned", lambda generator, formulas: generator)


# -- what they do ---------------------------------------------------------------------


def test_a_guess_leads_to_the_truth(fit: Callable[..., Any]) -> None:
    code, out, err = fit("--guess", GUESS, "--guess", "-c*t", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["selected"]["loss"] < 1e-9
    assert json.loads(fit("--json").out)["selected"]["loss"] > 1e-3


def test_a_template_is_the_form_of_equations(fit: Callable[..., Any], tmp_path: Path) -> None:
    code, out, _ = fit("--template", "f(t)*g(angle_1) + c", "--out", tmp_path / "run", evaluations=3000)
    assert (code, out.startswith("y = ")) == (0, True)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["asked"]["template"] == "f(t)*g(angle_1) + c"


def test_constraints_hold_for_all_that_is_tried(fit: Callable[..., Any], tmp_path: Path) -> None:
    options = ["--max-size", 9, "--forbid-nesting", "exp:exp,log", "--only", "sin:angle 1", "--all-variables"]
    assert fit(*options, "--out", tmp_path / "run").code == 0
    found = load(tmp_path / "run")
    same = Constraints(9, {"exp": ["exp", "log"]}, {"sin": ["angle_1"]}, True)
    assert same.allowed(found.explored.forest).all()
    assert found.result.counts.forbidden > 0
    assert json.loads((tmp_path / "run" / "discovery.json").read_text())["counts"]["forbidden"] > 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["asked"]["constraints"]["max_size"] == 9


def test_the_grammar_of_constraints() -> None:
    columns = ["angle", "a, b", "sin:x"]

    def read(nested: list[str], only: list[str]) -> Constraints | None:
        return Asked(Path("data.csv"), "y", forbid_nesting=nested, only=only).constraints(columns)

    assert read([], []) is None
    assert read(["sin:sin", "sin: cos, *", "*:exp"], []) == Constraints(
        nested={"sin": ("sin", "cos", "*"), "*": ("exp",)}
    )
    assert read([], ['log: "a, b",angle', "ln:sin:x", "exp:"]) == Constraints(
        only_on={"log": ("a, b", "angle"), "ln": ("sin:x",), "exp": ()}
    )


@pytest.mark.usefixtures("untuned")
def test_formulas_of_the_field(fit: Callable[..., Any], edhie: Callable[..., Any], tmp_path: Path) -> None:
    path, folder = tmp_path / "field.txt", tmp_path / "field"
    path.write_text(FORMULAS + "sin(\n", encoding="utf-8")
    code, out, err = fit("--corpus", path)
    told = f"1 formulas of {path} cannot be read and are left out; the first: line 3: the expression ends"
    assert (code, err.startswith(told)) == (0, True)
    path.write_text(FORMULAS, encoding="utf-8")
    assert edhie("corpus", "import", path, "--out", folder).code == 0
    assert fit("--corpus", folder) == fit("--corpus", path) == (0, out, "")


def test_rows_for_validation_of_their_own(edhie: Callable[..., Any], swing: Path, tmp_path: Path) -> None:
    rows = swing.read_text().splitlines()
    train, other = tmp_path / "train.csv", tmp_path / "other.csv"
    train.write_text("\n".join(rows[:41]), encoding="utf-8")
    other.write_text("\n".join([rows[0], *rows[41:]]), encoding="utf-8")
    options = ["--target", "y", "--evaluations", 300, "--no-report", "--out", tmp_path / "run"]
    code, _, err = edhie("fit", train, *options, "--validation", other)
    assert (code, err.splitlines()[1]) == (0, f"{other}: 20 rows for validation")
    found = load(tmp_path / "run")
    assert found.validation is not None
    assert (found.train.n_rows, found.validation.n_rows) == (40, 20)


def test_a_generator_has_both_names(fit: Callable[..., Any]) -> None:
    assert fit("--generator", "general-2") == fit("--model", "general-2") == fit()
    assert fit("--select", "accuracy") == fit("--selection", "accuracy")


# -- what is wrong --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--guess", "c*t + sinn(t)"], "in guess 0: unknown function 'sinn'; did you mean 'sin'? at 6 in"),
        (["--guess", "c*speed"], "in guess 0: unknown symbol 'speed'"),
        (["--template", "f(t"], "this '(' is never closed at 1 in 'f(t'"),
        (["--template", "f(t)", "--guess", "t"], "template and guesses cannot be combined; give one of them"),
        (["--corpus", "nowhere.txt"], "there is no file nowhere.txt"),
        (["--corpus", "table.csv"], "table.csv is a table; give a file with one formula per line, or the folder that"),
        (["--forbid-nesting", "sinn:sin"], "unknown operator 'sinn' in --forbid-nesting; did you mean 'sin'?"),
        (["--forbid-nesting", "sin:cosi"], "unknown operator 'cosi' in --forbid-nesting; did you mean 'cos'?"),
        (["--only", "sin:angle"], "unknown column 'angle' in --only; did you mean 'angle 1'?"),
        (["--max-size", 2, "--all-variables"], "no equation of 2 nodes has all 2 variables: give a max_size of at"),
        (["--validation", "nowhere.csv"], "there is no file nowhere.csv"),
        (["--generator", "generel-2"], "there is no model folder generel-2"),
    ],
)
def test_one_message(options: list[Any], message: str, fit: Callable[..., Any], tmp_path: Path) -> None:
    code, out, err = fit(*options, "--out", tmp_path / "run")
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert message in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", [["--only", "sin"], ["--forbid-nesting", ":sin"], ["--max-size", "0"]])
def test_wrong_usage(option: list[str], fit: Callable[..., Any]) -> None:
    assert fit(*option).code == 2


def test_a_template_has_a_search_of_its_own(fit: Callable[..., Any]) -> None:
    code, _, err = fit("--template", "f(t)", "--search", "draw")
    assert (code, "the default search fills a --template; leave out --search draw" in err) == (2, True)


# -- going on -------------------------------------------------------------------------


@pytest.mark.usefixtures("untuned")
@pytest.mark.parametrize(
    ("began", "goes_on", "message"),
    [
        (["--guess", "c*t"], ["--guess", "c*t^2"], 'the saved search has guesses ["c*t"], not guesses ["c*t^2"]'),
        ([], ["--template", "f(t) + c"], 'the saved search has no template, not template "f(t) + c"'),
        ([], ["--operators", "+,*"], 'the saved search has no operators, not operators ["+", "*"]'),
        (
            ["--max-size", 9],
            ["--max-size", 7],
            'the saved search has constraints {"max_size": 9}, not constraints {"max_size": 7}',
        ),
        (["--corpus", "one.txt"], ["--corpus", "two.txt"], "the corpus differs from that of the saved search"),
    ],
)
def test_another_search_is_refused(
    began: list[Any], goes_on: list[Any], message: str, fit: Callable[..., Any], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name, text in (("one.txt", FORMULAS), ("two.txt", "a*t\n"), ("moved.txt", FORMULAS)):
        Path(name).write_text(text, encoding="utf-8")
    assert fit(*began, "--out", "run", evaluations=60).code == 0
    before = Path("run/run.json").read_bytes()
    told = f"error: cannot resume run: {message}; pass the same, or another folder\n"
    assert fit(*goes_on, "--out", "run", "--resume", evaluations=90) == (1, "", told)
    assert Path("run/run.json").read_bytes() == before
    moved = ["moved.txt" if each == "one.txt" else each for each in began]
    assert fit(*moved, "--out", "run", "--resume", evaluations=90).code == 0


# -- revising -------------------------------------------------------------------------


def test_revising_knows_the_same_options() -> None:
    def options(name: str) -> dict[str, Any]:
        function = getattr(import_module("edhie.cli.fit"), name)
        return {key: each for key, each in function.__annotations__.items() if key != "return"}

    fitting, revising = options("fit"), options("revise")
    assert set(revising) - set(fitting) == {"formula"}
    assert all(revising[name] is fitting[name] for name in set(revising) & set(fitting))
    assert {"max_size", "forbid_nesting", "only", "all_variables", "generator", "validation"} <= set(revising)


def test_a_revision_within_constraints(edhie: Callable[..., Any], swing: Path, tmp_path: Path) -> None:
    options = ["--target", "y", "--evaluations", 200, "--quiet", "--out", tmp_path / "run"]
    assert edhie("revise", "c*t", swing, *options, "--forbid-nesting", "*:*", "--operators", "+,*,exp").code == 0
    asked = json.loads((tmp_path / "run" / "run.json").read_text())["asked"]
    assert asked["constraints"]["nested"] == {"*": ["*"]}
    code, _, err = edhie("revise", "c*t", swing, *options, "--resume", "--operators", "+,*,exp")
    assert (code, "the saved search has constraints" in err) == (1, True)

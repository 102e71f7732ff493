"""Files of formulas that people have, in every state they have them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy.abc import x, y, z

from edhie.corpora import BadLine, Corpus, ImportOptions, import_file
from edhie.errors import CorpusError, SymbolError
from edhie.expr import Expr
from edhie.expr.standard_libraries import everything
from strategies import TAME_NUMBERS, exprs


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "formulas.txt"


def imported(path: Path, content: str | bytes, **options: Any) -> Corpus:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    corpus, _ = import_file(path, ImportOptions(**options))
    return corpus


def texts(corpus: Corpus) -> list[str]:
    return [str(expr) for expr in corpus.forest]


# -- what is read ---------------------------------------------------------------------


def test_infix(file: Path) -> None:
    corpus = imported(file, "3*x0**2 + sin(x1)/c\nexp(-t) \n\n  # a comment\n\tx0^2\n")
    assert texts(corpus) == ["3*x0^2 + sin(x1)/c", "exp(-t)", "x0^2"]
    assert corpus.library.names == ("+", "*", "/", "neg", "^2", "exp", "sin", "x0", "x1", "t", "c", "3")
    assert corpus.name == "formulas"
    assert corpus.provenance["formulas"] == 3
    assert corpus.provenance["left out"] == {"unreadable": 0, "repeated": 0}


def test_latex_among_infix(file: Path) -> None:
    corpus = imported(file, "\\frac{1}{2} m v^2\n\\sqrt{x_{0}} + \\theta_{max}\nx + 1\n")
    assert texts(corpus) == ["1/2*m*v^2", "sqrt(x0) + theta_max", "x + 1"]
    assert texts(imported(file, "x y\n", notation="latex")) == ["x*y"]
    with pytest.raises(CorpusError, match=r"an operator is missing before 'y'"):
        imported(file, "x y\n", notation="infix")


SYMPY = [
    sympy.Abs(x) + sympy.Max(x, y, z) - sympy.Min(x, 2),
    sympy.log(x) / sympy.log(10),
    sympy.Rational(3, 7) * x**2 - sympy.Rational(1, 2) / y,
    sympy.sqrt(x) * x ** sympy.Rational(1, 3) * sympy.exp(-x) * sympy.E,
    sympy.pi * x**-2 + sympy.sign(y) + sympy.atan(z),
    1.5e-7 * x + 2.0**30,
    x ** (y**z) / (x * y) ** z,
]


@pytest.mark.parametrize("value", SYMPY, ids=str)
@pytest.mark.parametrize("notation", ["auto", "sympy"])
def test_sympys_text(file: Path, value: sympy.Expr, notation: str) -> None:
    (expr,) = imported(file, f"{value}\n", notation=notation).forest
    point = {"x": 1.3, "y": 0.7, "z": 2.1}
    found = expr(**{name: np.array([point[name]]) for name in expr.library.variables})
    assert float(found[0]) == pytest.approx(float(value.subs(point)))


@pytest.mark.parametrize("name", ["I", "oo", "zoo", "nan"])
def test_what_sympy_has_beyond_the_reals(file: Path, name: str) -> None:
    with pytest.raises(
        CorpusError, match=f"line 1: SymPy's {name} in 'x \\+ {name}' has no place in a real expression"
    ):
        imported(file, f"x + {name}\n", notation="sympy")
    for options in ({"notation": "auto"}, {"notation": "sympy", "variables": (name,)}):
        assert imported(file, f"x + {name}\n", **options).library.variables == ("x", name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'id,formula\n1,x + 1\n2,"max(x, y)"\n'),
        ("a.CSV", '"id","formula"\r\n1,x + 1\r\n2,"max(x, y)"\r\n'),
        ("a.tsv", "id\tformula\n1\tx + 1\n2\tmax(x, y)\n"),
        ("a.txt", '\n id , formula \n1, x + 1\n2,"max(x, y)"\n'),
        ("a.csv", 'formula\nx + 1\n\n""\n"max(x,\n y)"\n'),
        ("a.csv", 'id,formula\n1,x + 1\n2\n,\n3,"max(x, y)",more\n'),
    ],
)
def test_tables(tmp_path: Path, name: str, content: str) -> None:
    corpus = imported(tmp_path / name, content, column="formula")
    assert texts(corpus) == ["x + 1", "max(x, y)"]
    assert corpus.provenance["formulas"] == 2


def test_bom_and_line_ends(file: Path) -> None:
    for content in (b"\xef\xbb\xbfx + 1\r\n\r\ny\r\n", b"x + 1\ry\r", b"x + 1\n\n\ny"):
        assert texts(imported(file, content)) == ["x + 1", "y"]
    table = file.with_suffix(".csv")
    assert texts(imported(table, b"\xef\xbb\xbfformula,id\r\nx + 1,2\r\n", column="formula")) == ["x + 1"]


def test_repeated_formulas_count_once(file: Path) -> None:
    corpus = imported(file, "x+1\nx + 1\nx + 1.0\ny\n")
    assert texts(corpus) == ["x + 1", "y"]
    assert corpus.provenance["left out"]["repeated"] == 2


def test_numbers(file: Path) -> None:
    content = "2*x + 0.5\npi*x^2 + e\n-1e-3*x\n"
    kept = imported(file, content)
    assert [symbol.name for symbol in kept.library.symbols if symbol.kind == "literal"] == [
        "pi",
        "e",
        "-0.001",
        "0.5",
        "2",
    ]
    assert kept.library.constant is None
    assert not kept.library.has_numbers
    fitted = imported(file, content, numbers="constants")
    assert texts(fitted) == ["c*x + c", "c*x^2 + c", "c*x"]
    assert fitted.library.names == ("+", "*", "^2", "x", "c")
    assert set(fitted.forest[0].constants) == {None}


def test_generic_variables(file: Path) -> None:
    corpus = imported(file, "m*v^2/2\nq*x1 + q*c\ny - x0/y\n", generic_variables=True)
    assert texts(corpus) == ["x0*x1^2/2", "x0*x1 + x0*c", "x0 - x1/x0"]
    assert corpus.library.variables == ("x0", "x1")


def test_the_order_of_variables(file: Path) -> None:
    assert imported(file, "b + x10\nx2 + a + x①\n").library.variables == ("x2", "x10", "b", "a", "x①")


def test_names_that_mean_something_else(file: Path) -> None:
    content = "m*c^2\nq*E + e\npi*r + C\n"
    assert imported(file, content).library.variables == ("m", "q", "r", "C")
    corpus = imported(file, content, variables=("c", "E", "e", "pi"))
    assert texts(corpus) == content.split("\n")[:-1]
    assert set(corpus.library.variables) == {"m", "c", "q", "E", "e", "pi", "r", "C"}
    assert corpus.library.constant is None
    assert imported(file, "\\frac{E}{m c^2}\n", variables=("c", "E")).library.variables == ("E", "m", "c")


def test_a_constant_of_one_formula_is_no_variable_of_another(file: Path) -> None:
    # c being a variable, numbers become C where that is free, and here it is free in one formula only
    corpus = imported(file, "2*c\n3*c*C\n", variables=("c",), numbers="constants")
    assert corpus.library.variables == ("c", "C")
    assert corpus.library.constant == "k"
    assert texts(corpus) == ["k*c", "k*c*C"]


@given(st.lists(exprs(everything(["x", "y", "x3"]), numbers=TAME_NUMBERS, max_symbols=12), min_size=1, max_size=5))
def test_what_edhie_writes_it_reads(tmp_path_factory: pytest.TempPathFactory, trees: list[Expr]) -> None:
    path = tmp_path_factory.mktemp("written") / "written.txt"
    corpus = imported(path, "".join(f"{tree}\n" for tree in trees), notation="infix")
    wide = trees[0].library  # in a smaller one, without a symbol for squares, x^(2) is x^2
    assert [str(each.cast(wide)) for each in corpus.forest] == list(dict.fromkeys(map(str, trees)))
    assert texts(Corpus.load(corpus.save(path.parent / "saved"))) == texts(corpus)


def test_a_huge_line(file: Path) -> None:
    (expr,) = imported(file, "+".join(["x"] * 20_000) + "\n").forest
    assert expr.size == 39_999


# -- what is not ----------------------------------------------------------------------


def test_bad_lines_are_reported_with_their_numbers(file: Path) -> None:
    content = "x + 1\n\n# no formula\nx +\nsinn(x)\ny\n"
    with pytest.raises(CorpusError) as caught:
        imported(file, content)
    message = str(caught.value)
    assert message.startswith(f"2 of 4 formulas in {file} cannot be read (leave them out with --skip-bad):\nline 4: ")
    assert "line 5: unknown function 'sinn'; did you mean 'sin'?" in message
    corpus, bad = import_file(file, ImportOptions(skip_bad=True))
    assert texts(corpus) == ["x + 1", "y"]
    assert [(line.number, line.text) for line in bad] == [(4, "x +"), (5, "sinn(x)")]
    assert isinstance(bad[0], BadLine)
    assert str(bad[1]).startswith("line 5: unknown function")
    assert corpus.provenance["left out"]["unreadable"] == 2


def test_bad_lines_of_tables_are_where_their_rows_begin(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('name,formula\n"two\nlines",x\nx,y +\n\n"three\n\nlines",z /\n,"a\n+\n"\n')
    _, bad = import_file(path, ImportOptions(column="formula", skip_bad=True))
    assert [(line.number, line.text) for line in bad] == [(4, "y +"), (6, "z /"), (9, "a\n+")]


def test_many_bad_lines_are_not_all_shown(file: Path) -> None:
    with pytest.raises(CorpusError, match=r"25 of 25 formulas(?s:.)*line 10: (?s:.)*… and 15 more$") as caught:
        imported(file, "x +\n" * 25)
    assert "line 11:" not in str(caught.value)
    with pytest.raises(CorpusError, match=r"none of the 25 formulas in .* can be read; the first: line 1: "):
        imported(file, "x +\n" * 25, skip_bad=True)


@pytest.mark.parametrize(
    "line", ["y = x", "x == 1", "f(x)", "sin", "lambda x", "x[0]", "1e999", "x" * 10 + "(" * 5000, "\0"]
)
def test_what_is_no_formula(file: Path, line: str) -> None:
    with pytest.raises(CorpusError, match=r"1 of 2 formulas(?s:.)*\nline 2: "):
        imported(file, f"x\n{line}\n")


@pytest.mark.parametrize("line", [r"\frac{1}{x", r"\foo{x}", "{x", r"x = \pi", r"\sin"])
def test_what_is_no_latex(file: Path, line: str) -> None:
    with pytest.raises(CorpusError, match=r"1 of 2 formulas(?s:.)*\nline 2: "):
        imported(file, f"x\n{line}\n")


@pytest.mark.parametrize("content", ["", "\n\n", "# nothing\n  # more\n", "\ufeff"])
def test_files_without_formulas(file: Path, content: str) -> None:
    with pytest.raises(CorpusError, match=r"formulas\.txt holds no formulas"):
        imported(file, content)


@pytest.mark.parametrize("content", ["", "\n", "formula\n", "formula,b\n,1\n"])
def test_tables_without_formulas(tmp_path: Path, content: str) -> None:
    with pytest.raises(CorpusError, match=r"a\.csv holds no formulas"):
        imported(tmp_path / "a.csv", content, column="formula")


def test_tables_without_the_column(tmp_path: Path) -> None:
    path, content = tmp_path / "a.csv", "id,Formula,name\n1,x,y\n"
    with pytest.raises(CorpusError, match=r"is a table: say which column .* with --column \(id, Formula, name\)"):
        imported(path, content)
    with pytest.raises(
        CorpusError, match=r"no column 'formula'; did you mean 'Formula'\?; its columns are id, Formula"
    ):
        imported(path, content, column="formula")
    with pytest.raises(CorpusError, match=r"no column 'zzz'; its columns are id, Formula, name"):
        imported(path, content, column="zzz")


def test_broken_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with pytest.raises(CorpusError, match=r"a\.csv is not a table, from line 2 on: unexpected end of data"):
        imported(path, 'formula\n"x + 1\ny\nz\n', column="formula")
    with pytest.raises(CorpusError, match=r"not a table, from line 3 on: .*field larger than field limit"):
        imported(path, "formula\nx\n" + "x+" * 200_000 + "x\n", column="formula")


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"x\ny\n\xff\xfe\n", 3), (b"x\n" * 20_000 + b"\x80", 20_001), ("x + ä\n".encode("latin-1"), 1)],
)
def test_other_encodings(file: Path, content: bytes, line: int) -> None:
    with pytest.raises(CorpusError, match=rf"formulas\.txt is not text in UTF-8: .* in line {line}$"):
        imported(file, content)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"there is no file .*nowhere\.txt"):
        import_file(tmp_path / "nowhere.txt")
    with pytest.raises(CorpusError, match="cannot be read: Is a directory"):
        import_file(tmp_path)
    with pytest.raises(CorpusError, match="cannot be read: File name too long"):
        import_file(tmp_path / ("long" * 100))


def test_variables_that_cannot_be(file: Path) -> None:
    with pytest.raises(SymbolError, match="'2x' cannot name a variable"):
        imported(file, "x\n", variables=("2x",))


def test_too_many_numbers(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edhie.corpora.importing.MAX_SYMBOLS", 50)
    content = "".join(f"x + {number}\n" for number in range(49))
    with pytest.raises(CorpusError, match="49 different numbers are too many to keep; use --numbers constants"):
        imported(file, content)
    assert texts(imported(file, content, numbers="constants")) == ["x + c"]

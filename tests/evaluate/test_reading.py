"""Tables and targets of every kind: what is read, and what is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import DataError
from edhie.evaluate.reading import read_columns, read_data

Y = [1.0, 2.0, 4.0]


class Frame:
    """What edhie asks of a DataFrame, of pandas or polars, and no more."""

    def __init__(self, columns: dict[Any, Any], labels: list[Any] | None = None) -> None:
        self.columns = list(columns) if labels is None else labels
        self._columns = columns

    def to_numpy(self) -> Any:
        raise AssertionError("columns are read one by one, so that each keeps its type")

    def __getitem__(self, label: Any) -> Any:
        values = self._columns[label]
        return values if isinstance(values, Column) else Column(values)


class Column:
    """A Series: NumPy alone would make one object of it."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def to_numpy(self) -> Any:
        return self._values if isinstance(self._values, np.ndarray) else np.array(self._values, dtype=object)


# -- what is read ---------------------------------------------------------------------

TABLE = [[1, 10], [2, 20], [3, 30]]
BY_NAME = {"a": [1, 2, 3], "b": [10, 20, 30]}


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        tuple(map(tuple, TABLE)),
        np.array(TABLE),
        np.array(TABLE, dtype=np.float32),
        np.array(TABLE, dtype=np.uint8),
        np.array(TABLE, dtype=np.longdouble),
        np.array(TABLE, dtype=object),
        np.array(TABLE, dtype=float, order="F"),
        np.array(TABLE, dtype=">f8"),
        np.ma.masked_array(TABLE, mask=False),
        np.array([[1, 0, 10], [2, 0, 20], [3, 0, 30]])[:, ::2],
        [[Decimal(a), Fraction(b)] for a, b in TABLE],
        [np.array(row) for row in TABLE],
        BY_NAME,
        {"b": BY_NAME["b"], "spare": ["no", "numbers", "here"], "a": np.array([[1], [2], [3]])},
        np.array([(10, 1), (20, 2), (30, 3)], dtype=[("b", "i4"), ("a", "f4")]),
        Frame({"b": BY_NAME["b"], "spare": ["no", "numbers", "here"], "a": BY_NAME["a"]}),
        Frame({0: BY_NAME["a"], 1: BY_NAME["b"]}),  # pandas numbers the columns of a frame without names
    ],
)
def test_every_kind_of_table_gives_the_same_columns(table: Any) -> None:
    data = read_data(table, Y, names=["a", "b"])
    assert data.columns.tolist() == [[1, 2, 3], [10, 20, 30]]
    assert data.columns.dtype == np.float64
    assert data.columns.flags.c_contiguous
    assert data.names == ("a", "b")
    assert (data.n_rows, data.n_variables, data.total_weight) == (3, 2, 3.0)
    assert np.array_equal(read_columns(table, names=["a", "b"]), data.columns)


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (TABLE, ("x0", "x1")),
        ([1, 2, 3], ("x0",)),
        (Column([1, 2, 3]), ("x0",)),
        (BY_NAME, ("a", "b")),
        (Frame(BY_NAME), ("a", "b")),
        (Frame({7: [1, 2, 3]}), ("x0",)),
        (Frame({"a": [1, 2, 3], 7: [1, 2, 3]}), ("a", "7")),
    ],
)
def test_without_names_a_table_s_own_are_taken_or_made(table: Any, names: tuple[str, ...]) -> None:
    assert read_data(table, Y).names == names


@pytest.mark.parametrize("table", [np.empty((3, 0)), {"a": [1, 2, 3]}, Frame({"a": [1, 2, 3]})])
def test_a_library_without_variables_needs_no_columns(table: Any) -> None:
    assert read_data(table, Y, names=()).columns.shape == (0, 3)


@pytest.mark.parametrize(
    "y", [Y, tuple(Y), np.array(Y), np.array(Y)[:, None], Column(Y), [[1], [2], [4]], list(map(Decimal, Y))]
)
def test_every_kind_of_target_gives_the_same(y: Any) -> None:
    data = read_data(TABLE, y, weights=y)
    assert data.weights is not None
    assert data.y.tolist() == data.weights.tolist() == Y
    assert data.total_weight == 7


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([True, False, np.True_], [1, 0, 1]),
        ([2**70, 2**53 + 1, -1], [2.0**70, 2.0**53, -1]),
        ([np.int8(3), 2.5, Decimal("0.1")], [3, 2.5, 0.1]),
        ([np.array(1.5), 2, 3], [1.5, 2, 3]),
        (range(3), [0, 1, 2]),
        (np.array([1, 2, 3], dtype=object), [1, 2, 3]),
    ],
)
def test_whatever_is_a_number_is_read(column: Any, expected: list[float]) -> None:
    assert read_columns({"a": column}).tolist() == [expected]


@given(st.integers(1, 5), st.integers(1, 6), st.sampled_from("CF"), st.randoms(use_true_random=False))
def test_columns_are_the_table_turned_round(rows: int, variables: int, order: Any, random: Any) -> None:
    table = np.array([[random.uniform(-1e300, 1e300) for _ in range(variables)] for _ in range(rows)], order=order)
    assert np.array_equal(read_columns(table), table.T)


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_the_caller_does_later_changes_nothing(order: Any) -> None:
    table, y, weights = np.ones((3, 2), order=order), np.array(Y), np.array(Y)
    data = read_data(table, y, weights=weights)
    for array in (table, y, weights):
        array[:] = -7
    assert data.weights is not None
    assert (data.columns.min(), data.y.min(), data.weights.min()) == (1, 1, 1)


def test_large_values_whose_sum_overflows_are_finite() -> None:
    assert read_columns([1.7e308, 1.7e308]).tolist() == [[1.7e308, 1.7e308]]


# -- what is refused ------------------------------------------------------------------

NOT_NUMBERS: list[tuple[Any, str]] = [
    (np.nan, r"is nan in row 1 \(counted from 0\), no other; drop such rows or fill them"),
    (-np.inf, r"is -inf in row 1 \(counted from 0\), no other; drop such rows or fill them"),
    (None, r"is nan in row 1 \(counted from 0\), no other; drop such rows"),
    (Decimal("NaN"), r"is nan in row 1"),
    (Decimal("sNaN"), r"holds Decimal\('sNaN'\) in row 1 \(counted from 0\), which is no number"),
    (type("NAType", (), {})(), r"is nan in row 1"),
    ("many", r"holds the text 'many' in row 1 \(counted from 0\); leave this column out or turn it into numbers"),
    ("2.5", r"holds the text '2.5' in row 1 .*for example with \.astype\(float\)"),
    (b"many", r"holds the text b'many' in row 1"),
    ("x" * 999, r"holds the text 'x+… in row 1"),
    (1 + 2j, r"holds the complex number \(1\+2j\) in row 1 \(counted from 0\); give real numbers"),
    (np.complex64(2j), r"holds the complex number 2j in row 1"),
    (date(2020, 1, 2), r"holds the time 2020-01-02 in row 1 \(counted from 0\); turn times into numbers"),
    (datetime(2020, 1, 2), r"holds the time 2020-01-02 00:00:00 in row 1"),
    (timedelta(1), r"holds the time 1 day, 0:00:00 in row 1"),
    (np.datetime64("2020-01-02"), r"holds the time 2020-01-02 in row 1"),
    ({"a": 1}, r"holds \{'a': 1\} in row 1 \(counted from 0\), which is no number; give real numbers"),
    (10**400, r"holds 10+… in row 1 \(counted from 0\), which is beyond float64 \(1.8e308\); use a larger unit"),
    (-(10**5000), r"holds an integer of 16610 bits in row 1 \(counted from 0\), which is beyond float64"),
    (Decimal("1e400"), r"holds Decimal\('1E\+400'\) in row 1 \(counted from 0\), which is beyond float64"),
    (Fraction(10**400), r"holds Fraction\(10+… in row 1 \(counted from 0\), which is beyond float64"),
]


@pytest.mark.parametrize(("bad", "message"), NOT_NUMBERS, ids=[message[:40] for _, message in NOT_NUMBERS])
def test_what_is_no_finite_number_is_found(bad: Any, message: str) -> None:
    as_object = np.array([1.0, None, 3.0], dtype=object)
    as_object[1] = bad
    for column in ([1.0, bad, 3.0], as_object, Column(as_object)):
        for table in ({"a": Y, "b": column}, Frame({"a": Y, "b": column})):
            with pytest.raises(DataError, match=rf"^column 'b' of X {message}"):
                read_columns(table)
        with pytest.raises(DataError, match=rf"^y {message}"):
            read_data(TABLE, column)
        with pytest.raises(DataError, match=rf"^weights {message}"):
            read_data(TABLE, Y, weights=column)
    with pytest.raises(DataError, match=rf"^column 'x1' of X {message}"):
        read_columns([[1.0, 2.0], [3.0, bad], [5.0, 6.0]])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([1j, 2, 3]), r"holds the complex number 1j in row 0"),
        (np.array(["a", "b", "c"]), r"holds the text 'a' in row 0"),
        (np.array(["2020-01-02"] * 3, dtype="M8[ns]"), r"holds the time 2020-01-02T00:00:00.000000000 in row 0"),
        (np.array([1, 2, 3], dtype="m8[s]"), r"holds the time 1 seconds in row 0"),
        (
            np.ma.masked_array([1.0, 2, 3], mask=[0, 1, 1]),
            r"is masked in row 1 \(counted from 0\), the first of 2 such",
        ),
        (
            np.array([np.nan, 1, np.inf]),
            r"is nan in row 0 \(counted from 0\), the first of 2 such rows; drop such rows",
        ),
    ],
)
def test_arrays_of_other_types_are_refused(array: Any, message: str) -> None:
    for table, name in ((array, "x0"), (array[:, None], "x0"), ({"t": array}, "t"), (Frame({"t": array}), "t")):
        with pytest.raises(DataError, match=rf"^column {name!r} of X {message}"):
            read_columns(table)
    for call in (lambda: read_data(TABLE, array), lambda: read_data(TABLE, array[:, None])):
        with pytest.raises(DataError, match=rf"^y {message}"):
            call()


def test_a_long_double_beyond_float64_is_named() -> None:
    huge = np.array([1, 2, 3], dtype=np.longdouble)
    huge[1] = np.longdouble("1e400")
    if np.isinf(huge[1]):
        pytest.skip("long doubles are float64 here")
    with pytest.raises(DataError, match=r"1e\+400.* in row 1 \(counted from 0\), which is beyond float64"):
        read_columns(huge)


def test_masks_name_their_column() -> None:
    table = np.ma.masked_array(np.ones((3, 2)), mask=[[0, 0], [0, 0], [0, 1]])
    with pytest.raises(
        DataError, match=r"^column 'x1' of X is masked in row 2 .*no other; drop such rows or fill them"
    ):
        read_columns(table)


def test_objects_inside_of_arrays_are_no_numbers() -> None:
    nested = np.empty(2, dtype=object)
    nested[:] = [np.array([1.0]), np.array([2.0])]
    with pytest.raises(DataError, match=r"^y holds array\(\[1\.\]\) in row 0 \(counted from 0\), which is no number"):
        read_data([1, 2], nested)


def test_sparse_matrices_are_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse").csr_matrix(np.eye(3))
    with pytest.raises(DataError, match=r"^X is a sparse matrix; make an array of it with \.toarray\(\)$"):
        read_columns(sparse)
    with pytest.raises(DataError, match=r"^y is a sparse matrix"):
        read_data(TABLE, sparse)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read_data(TABLE, Y[:2]), r"X has 3 rows and y has 2; give one value for each row of X; .*give X\.T$"),
        (lambda: read_data(TABLE, [1, 2, 3, 4]), r"X has 3 rows and y has 4; give one value for each row of X$"),
        (
            lambda: read_data(TABLE, Y, weights=[1]),
            r"X has 3 rows and weights has 1; give one value for each row of X$",
        ),
        (
            lambda: read_columns({"a": Y, "b": Y[:2]}),
            r"column 'a' of X has 3 rows and column 'b' of X has 2; columns must be equally long$",
        ),
        (
            lambda: read_columns([[1, 2], [3, 4], [5]]),
            r"row 0 of X has length 2 and row 2 has length 1; rows must be equally long$",
        ),
        (lambda: read_columns([]), r"X has no rows; give at least one$"),
        (lambda: read_columns(np.empty((0, 3))), r"X has no rows; give at least one$"),
        (lambda: read_columns({"a": []}), r"X has no rows; give at least one$"),
        (lambda: read_data(Frame({"a": []}), []), r"X has no rows; give at least one$"),
        (lambda: read_columns(np.empty((3, 0))), r"X has no columns; give at least one variable$"),
        (lambda: read_columns({}), r"X has no columns; give at least one variable$"),
        (
            lambda: read_columns(np.empty((3, 0)), names=["a", "b"]),
            r"X has 0 columns and there are 2 variables \(a, b\); give one column for each, in that order, or a Data",
        ),
        (lambda: read_columns(TABLE, names=["a"]), r"X has 2 columns and there are 1 variables \(a\); give one column"),
        (lambda: read_columns(TABLE, names=[]), r"X has 2 columns and there are no variables; give one column"),
        (
            lambda: read_columns(np.zeros((2, 3, 4))),
            r"X has 3 dimensions, shape \(2, 3, 4\); give a table of numbers: ",
        ),
        (lambda: read_columns(None), r"X is None; give a table of numbers: "),
        (lambda: read_columns(3.5), r"X is 3\.5; give a table of numbers: "),
        (lambda: read_columns({"a": "text"}), r"column 'a' of X is 'text'; give one column of numbers$"),
        (lambda: read_columns({"a": np.zeros((3, 2))}), r"column 'a' of X has shape \(3, 2\); give one column of numb"),
        (lambda: read_data(TABLE, np.zeros((1, 3))), r"y has shape \(1, 3\); give one column of numbers$"),
        (lambda: read_data(TABLE, 3), r"y is 3; give one column of numbers$"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(DataError, match=f"^{message}"):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: read_columns({"speed": Y, "mass": Y}, names=["sped"]),
            r"X has no column 'sped', only: speed, mass; did you mean 'speed'\?$",
        ),
        (lambda: read_columns(Frame({"speed": Y}), names=["t"]), r"X has no column 't', only: speed$"),
        (lambda: read_columns(Frame({"a": Y}, ["a", "a"])), r"X has 2 columns named 'a'; rename them or leave"),
        (lambda: read_columns(TABLE, names="ab"), r"names='ab' is one text; give a list of names, such as \['ab'\]$"),
        (lambda: read_columns(TABLE, names=["a", "a"]), r"the name 'a' is given to 2 variables; rename all but one"),
    ],
)
def test_names_that_do_not_fit_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(DataError, match=f"^{message}"):
        call()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [1, -2, -3],
            r"weights is -2\.0 in row 1 \(counted from 0\), the first of 2 such rows; no weight may be below 0",
        ),
        ([0, 0, 0], r"all weights are 0; give a weight above 0 to the rows that count$"),
        ([1e308, 1e308, 1e308], r"the weights, up to 1e\+308, sum to infinity; divide them by the largest$"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(DataError, match=f"^{message}"):
        read_data(TABLE, Y, weights=weights)


def test_a_constant_target_is_refused_unless_allowed() -> None:
    with pytest.raises(
        DataError, match=r"^y is 2\.5 in every row, so there is nothing to explain; .*allow_constant_targ"
    ):
        read_data(TABLE, [2.5, 2.5, 2.5])
    with pytest.raises(DataError, match=r"^y is 2\.5 in every row with a weight above 0, so there is nothing"):
        read_data(TABLE, [2.5, 7.0, 2.5], weights=[1, 0, 1])
    assert read_data(TABLE, [2.5, 2.5, 2.5], allow_constant_target=True).squares_about_mean == 0


@pytest.mark.parametrize(("scale", "unit"), [(1e200, "larger"), (1e-200, "smaller")])
def test_a_target_whose_squares_leave_float64_is_refused(scale: float, unit: str) -> None:
    with pytest.raises(DataError, match=rf"^y lies between 1e.* and 4e.*; measure it in a {unit} unit$"):
        read_data(TABLE, np.array(Y) * scale)


# -- real frames ----------------------------------------------------------------------


def test_pandas_frames_and_series() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"b": [10, 20, 30], "note": list("xyz"), "a": [1, 2, 3]}, index=[7, 8, 9])
    frame["n"] = pd.array([1, 2, 3], dtype="Int64")
    frame["f"] = pd.array([True, False, True], dtype="boolean")
    data = read_data(frame, pd.Series(Y), names=["a", "b", "n", "f"])
    assert data.columns.tolist() == [[1, 2, 3], [10, 20, 30], [1, 2, 3], [1, 0, 1]]
    assert read_columns(pd.DataFrame(TABLE), names=["a", "b"]).tolist() == [[1, 2, 3], [10, 20, 30]]
    frame["gap"] = pd.array([1, None, 3], dtype="Int64")
    frame["when"] = pd.to_datetime(["2020-01-01"] * 3)
    for name, message in (
        ("gap", "is nan in row 1"),
        ("when", "holds the time"),
        ("note", "holds the text 'x' in row 0"),
    ):
        with pytest.raises(DataError, match=f"^column {name!r} of X {message}"):
            read_columns(frame, names=[name])


def test_polars_frames_and_series() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"b": [10, 20, 30], "note": list("xyz"), "a": [1, 2, 3], "gap": [1, None, 3]})
    data = read_data(frame, pl.Series(Y), names=["a", "b"])
    assert data.columns.tolist() == [[1, 2, 3], [10, 20, 30]]
    for name, message in (("gap", "is nan in row 1"), ("note", "holds the text 'x' in row 0")):
        with pytest.raises(DataError, match=f"^column {name!r} of X {message}"):
            read_columns(frame, names=[name])


def test_a_target_too_large_for_squares_is_told_even_where_it_is_constant() -> None:
    for y in ([1e200] * 3, [1e160, 1e160 + 1e150, 1e160]):
        with pytest.raises(DataError, match="larger unit"):
            read_data(TABLE, y, allow_constant_target=True)

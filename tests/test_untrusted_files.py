"""Files and folders that a stranger made to do harm are refused with a clear error, before memory is taken."""

from __future__ import annotations

import ast
import gzip
import io
import json
import os
import shutil
import struct
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from descriptions import unsealed
from edhie import archives, files, storage
from edhie.archives import read_arrays
from edhie.bench.problem import load_problems
from edhie.bench.records import Records
from edhie.bench.trial import COLUMNS, TrialSettings
from edhie.corpora import Corpus
from edhie.errors import DataError, EdhieError, GeneratorError, SearchError
from edhie.evaluate import Data
from edhie.evaluate.tables import columnar, frames, open_table
from edhie.expr import SymbolLibrary, parse
from edhie.expr.latex_reader import from_latex
from edhie.files import holder_of, locked, replace_file
from edhie.fit import Settings, discover
from edhie.fit import run_folder as runs
from edhie.fit.generator import with_generator
from edhie.generators import load as load_model
from edhie.generators.saving import FORMAT as MODEL
from edhie.generators.saving import SHIPPED, STATE, read_state
from edhie.generators.sequence.model import CVAE, shapes
from edhie.grammar import PCFG
from edhie.grammar import load as load_grammar
from edhie.search.checkpoint import ARRAYS, DESCRIPTION, read_unfinished
from edhie.storage import pack

SOURCES = Path(archives.__file__).parent
DEEP = "[" * 100_000 + "]" * 100_000
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder, with its checkpoint; not to be changed."""
    x = np.random.default_rng(0).uniform(1, 5, (2, 40))
    settings = Settings(max_time=None, max_evaluations=60, search="draw")
    folder = tmp_path_factory.mktemp("runs") / "run"
    found = discover(Data(x, 3 * x[0] / x[1], None, ("a", "b")), settings, folder=folder)
    return runs.save(found, folder)


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A copy of the run folder, whose files may be changed."""
    copy = shutil.copytree(made, tmp_path / "run")
    for name in (runs.DESCRIPTION, "result.json", DESCRIPTION):
        unsealed(copy / name)
    return copy


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model folder that may be changed."""
    return shutil.copytree(SHIPPED / "general-1", tmp_path / "model")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus folder that may be changed."""
    forest = load_grammar("ae").sample(5, np.random.default_rng(0))
    folder = Corpus("five", forest).save(tmp_path / "corpus")
    unsealed(folder / "corpus.json")
    return folder


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Fail where much memory was taken."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * MEGABYTE


def changed(path: Path, **changes: Any) -> None:
    """Write other values into a description."""
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


# -- nothing is executed --------------------------------------------------------------


def test_no_reader_unpickles() -> None:
    """Pickle is for workers of one's own cluster; arrays are always read without it."""
    loads = 0
    for path in SOURCES.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not any(word in text for word in ("load", "eval(", "exec(", "system")):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called == "np.load":
                loads += 1
                assert "allow_pickle=True" not in ast.unparse(node), path  # False is the default
            if (path.name, called) == ("operators.py", "exec"):  # of formulas that are written there
                continue
            assert called not in ("eval", "exec", "os.system", "pickle.load", "torch.load"), path
            assert called != "pickle.loads" or path.name == "engines.py", path
            assert called != "sympy.sympify" or "strict=True" in ast.unparse(node), path
    assert loads >= 3


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_arrays_of_objects_are_refused(tmp_path: Path, suffix: str) -> None:
    class Harm:
        def __reduce__(self) -> tuple[Any, ...]:
            return (tmp_path / "harm").touch, ()

    path, array = tmp_path / f"t{suffix}", np.array([[Harm()]], dtype=object)
    np.save(path, array) if suffix == ".npy" else np.savez(path, x=array[0])
    with pytest.raises(DataError, match="object"):
        open_table(path).numbers(["x"])
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("text", ["{0}", "x0 + {0}", "c*x0*{0}", "x0.{0}", "lambda: {0}", "[{0} for x0 in x0]"])
def test_formulas_and_grammars_are_never_evaluated(tmp_path: Path, text: str) -> None:
    harm = text.format(f"__import__('pathlib').Path({str(tmp_path / 'harm')!r}).touch()")
    readers = (parse, from_latex, PCFG.parse, lambda text: PCFG.parse(f"E -> x0 [0.5] | {text} [0.5]"))
    for reader in readers:
        with pytest.raises(EdhieError):
            reader(harm)
    assert not list(tmp_path.iterdir())


# -- JSON -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [runs.DESCRIPTION, "result.json", "candidates.jsonl", "symbols.json"])
def test_deep_json_in_a_run(run: Path, name: str) -> None:
    content = DEEP.encode()
    (run / name).write_bytes(content)
    if name == "candidates.jsonl":  # an attacker seals what they wrote
        changed(run / "result.json", sha256=storage.hashlib.sha256(content).hexdigest())
    with pytest.raises(SearchError, match=r"nested too deeply|recursion"):
        runs.load(run)


def test_deep_json_in_a_search_to_resume(run: Path) -> None:
    (run / runs.DESCRIPTION).unlink()
    (run / DESCRIPTION).write_text(DEEP)
    with pytest.raises(SearchError, match="nested too deeply"):
        read_unfinished(run)
    assert with_generator(Settings(max_evaluations=5), 1, run).generator == "general-1"


@pytest.mark.parametrize("name", ["config.json", "symbols.json"])
def test_deep_json_in_a_model(model: Path, name: str) -> None:
    (model / name).write_text(DEEP)
    with pytest.raises(GeneratorError, match=r"nested too deeply|recursion"):
        load_model(model)


def open_records(folder: Path) -> None:
    records = Records(folder, "nguyen", "edhie")
    records.check(TrialSettings(), ())
    records.open()


def test_deep_json_elsewhere(corpus: Path, tmp_path: Path) -> None:
    (corpus / "corpus.json").write_text(DEEP)
    with pytest.raises(EdhieError, match="nested too deeply"):
        Corpus.load(corpus)
    (tmp_path / "t.jsonl").write_text(f'{{"x": {DEEP}, "y": 1}}\n')
    with pytest.raises(DataError, match="line 1 is no JSON"):
        open_table(tmp_path / "t.jsonl")
    (tmp_path / ".process").write_text(DEEP)
    assert holder_of(tmp_path) is None
    open_records(tmp_path)
    (tmp_path / "nguyen-edhie.json").write_text(DEEP)
    with pytest.raises(EdhieError, match="is damaged"):
        open_records(tmp_path)


def test_a_description_that_is_too_large(run: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_TEXT", 100)
    with pytest.raises(SearchError, match="and such a file has at most 100"):
        runs.load(run)
    with pytest.raises(GeneratorError, match="and such a file has at most 100"):
        load_model(model)


# -- arrays and archives --------------------------------------------------------------


def npy(shape: tuple[int, ...], content: bytes = b"") -> bytes:
    """An array that declares a shape, whatever follows."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + content


def zipped(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("n", [10**3, 10**9, 10**15, 2**62])
def test_checkpoints_that_declare_more_than_they_hold(run: Path, n: int, little_memory: None) -> None:
    zipped(run / ARRAYS, {"steps.npy": npy((n,), bytes(80))})
    with pytest.raises(SearchError, match="declares the shape"):
        read_unfinished(run)


def test_checkpoints_that_unpack_to_more_than_they_hold(run: Path) -> None:
    zipped(run / ARRAYS, {"steps.npy": npy((2 * MEGABYTE,), bytes(16 * MEGABYTE))}, zipfile.ZIP_DEFLATED)
    tracemalloc.start()
    with pytest.raises(SearchError, match="would unpack to more than it holds"):
        read_unfinished(run)
    assert tracemalloc.get_traced_memory()[1] < MEGABYTE
    tracemalloc.stop()


def test_checkpoints_whose_entries_overlap(tmp_path: Path) -> None:
    """The same bytes under many names."""
    path = zipped(tmp_path / "a.npz", {"a.npy": npy((1000,), bytes(8000))})
    with zipfile.ZipFile(path, "a") as archive:
        first = archive.infolist()[0]
        for k in range(100):
            twin = zipfile.ZipInfo(f"b{k}.npy")
            for name in ("header_offset", "file_size", "compress_size", "CRC", "compress_type"):
                setattr(twin, name, getattr(first, name))
            archive.filelist.append(twin)
        archive._didModify = True  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="would unpack to more than it holds"):
        read_arrays(path)


def test_a_checkpoint_that_never_ends(run: Path) -> None:
    (run / ARRAYS).unlink()
    os.mkfifo(run / ARRAYS)  # whoever opens it waits
    assert read_unfinished(run) is None


@pytest.mark.parametrize("n", [10**6, 10**12, 2**60])
@pytest.mark.parametrize("name", ["t.npy", "t.npy.gz", "t.npz"])
def test_tables_that_declare_more_than_they_hold(tmp_path: Path, n: int, name: str, little_memory: None) -> None:
    path = tmp_path / name
    if name == "t.npz":
        zipped(path, {"x.npy": npy((n,)), "y.npy": npy((n,))})
    else:
        path.write_bytes(gzip.compress(npy((n, 2))) if name.endswith(".gz") else npy((n, 2)))
    with pytest.raises(DataError, match="cannot be read as an a"):
        next(open_table(path).batches([open_table(path).names[0]]))


def test_cells_of_a_gigabyte(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|S1000000000", "fortran_order": False, "shape": (5,)})
    with pytest.raises(DataError, match="each of its cells has 1,000,000,000 bytes"):
        open_table(zipped(tmp_path / "t.npz", {"x.npy": header.getvalue()}))


def test_a_header_that_is_a_long_sum(tmp_path: Path) -> None:
    text = f"{{'descr': {'+'.join('1' * 3000)}, 'fortran_order': False, 'shape': (5,)}}\n".encode()
    (tmp_path / "t.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    with pytest.raises(DataError, match="cannot be read"):
        open_table(tmp_path / "t.npy")


def test_gzip_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, little_memory: None) -> None:
    monkeypatch.setattr(archives, "CHECKED_FROM", MEGABYTE)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n" + bytes(8 * MEGABYTE)))
    with pytest.raises(DataError, match="unpacks to more than 100 times its size"):
        open_table(path)
    rows = "".join(f"{x!r},{y!r}\n" for x, y in np.random.default_rng(0).normal(size=(40_000, 2)).tolist())
    path.write_bytes(gzip.compress(f"x,y\n{rows}".encode()))  # more than a megabyte of measurements
    assert open_table(path).names == ("x", "y")


def test_texts_of_parquet_that_come_too_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One long text, kept once, in each of many rows."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    rows = np.zeros(30_000, np.int32)
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array(rows), pyarrow.array(["x" * 1_000_000]))
    table = pyarrow.table({"a": rows * 1.0, "s": texts})
    write_table(table, tmp_path / "t.parquet", store_schema=False, compression="zstd")
    assert (tmp_path / "t.parquet").stat().st_size < MEGABYTE
    before = pyarrow.default_memory_pool().max_memory()
    with pytest.raises(DataError, match=r"30,000 cells of 's' have 30,000,000,000 letters of text"):
        open_table(tmp_path / "t.parquet").without_text(["a", "s"])
    assert pyarrow.default_memory_pool().max_memory() - before < 100 * MEGABYTE
    assert len(open_table(tmp_path / "t.parquet").numbers(["a"])) == 30_000
    monkeypatch.setattr(columnar, "MOST_TEXT", 10)
    write_table(pyarrow.table({"a": [1.0, 2.0], "s": ["x", None]}), tmp_path / "small.parquet")
    assert list(open_table(tmp_path / "small.parquet").texts()) == [["1.0", "x"], ["2.0", ""]]


# -- Excel ----------------------------------------------------------------------------


def book(path: Path, *, sheet: str | None = None, **entries: bytes) -> Path:
    """An Excel file with two columns, the rows of its sheet replaced by others."""
    plain = pytest.importorskip("openpyxl").Workbook()
    plain.active.append(["x", "y"])
    plain.active.append([1, 2])
    plain.save(path)
    if sheet is None and not entries:
        return path
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    if sheet is not None:
        place = "xl/worksheets/sheet1.xml"
        start = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        kept[place] = f"{start}{sheet}</sheetData></worksheet>".encode()
    return zipped(path, kept | entries, zipfile.ZIP_DEFLATED)


def test_a_row_far_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, little_memory: None) -> None:
    monkeypatch.setattr(frames, "MOST_ROWS", 5000)  # it takes a second to count to a million
    path = book(tmp_path / "t.xlsx", sheet='<row r="1000000000000"><c r="A1000000000000"><v>1</v></c></row>')
    with pytest.raises(DataError, match="it has more than 5,000 rows"):
        open_table(path)


def test_a_cell_far_to_the_right(tmp_path: Path, little_memory: None) -> None:
    rows = [f'<row r="{k}"><c r="XFD{k}"><v>{k}</v></c></row>' for k in (2, 9000)]
    names = '<row r="1"><c r="A1" t="str"><v>x</v></c><c r="XFD1" t="str"><v>y</v></c></row>'
    table = open_table(book(tmp_path / "t.xlsx", sheet=names + "".join(rows)))
    assert table.names == ("x", "y")
    np.testing.assert_array_equal(table.numbers(["y"])[:, 0], [2, 9000])


def test_cells_far_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_CELLS", 50)
    cells = "".join(f'<row r="{k}"><c r="{chr(64 + k)}{k}"><v>{k}</v></c></row>' for k in range(1, 9))
    with pytest.raises(DataError, match="its cells span 8 rows × 8 columns"):
        open_table(book(tmp_path / "t.xlsx", sheet=cells))


def test_excel_files_that_are_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "CHECKED_FROM", MEGABYTE)
    with pytest.raises(DataError, match="unpacks to more than 100 times its size"):
        open_table(book(tmp_path / "t.xlsx", bomb=bytes(8 * MEGABYTE)))


def test_entities_that_multiply(tmp_path: Path, little_memory: None) -> None:
    path = book(tmp_path / "t.xlsx")
    entities = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9))
    laughs = f'<?xml version="1.0"?><!DOCTYPE s [<!ENTITY e0 "ha">{entities}]>'
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    place = "xl/worksheets/sheet1.xml"
    start = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    row = '<row r="1"><c r="A1" t="str"><v>&e9;</v></c></row>'
    zipped(path, kept | {place: f"{laughs}{start}{row}</sheetData></worksheet>".encode()})
    with pytest.raises(DataError, match="cannot be read as an Excel file"):
        open_table(path)


# -- models and runs ------------------------------------------------------------------


def weights_of(model: Path) -> tuple[dict[str, Any], dict[str, str]]:
    return storage.unpack(model / "weights.safetensors")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(model: Path, value: float) -> None:
    arrays, notes = weights_of(model)
    arrays["up_w_h"][3, 5] = value
    (model / "weights.safetensors").write_bytes(pack(arrays, notes))
    with pytest.raises(GeneratorError, match="up_w_h holds values that are not finite"):
        load_model(model)


def test_weights_that_overflow_still_give_whole_expressions(model: Path) -> None:
    arrays, notes = weights_of(model)
    huge = {name: np.full_like(array, 3e38) * np.where(array < 0, -1, 1) for name, array in arrays.items()}
    (model / "weights.safetensors").write_bytes(pack({k: v.astype(np.float32) for k, v in huge.items()}, notes))
    with np.errstate(all="ignore"):
        loaded = load_model(model)
        forest = loaded.sample(20, np.random.default_rng(0))
    assert [parse(str(expr), loaded.library).tokens for expr in forest] == [expr.tokens for expr in forest]


@pytest.mark.parametrize(
    "header",
    [
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 10**9) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        b"",
        DEEP.encode(),
        *(
            struct.pack("<Q", len(text)) + text
            for text in (
                b'{"mean_w":{"dtype":"F32","shape":[1000000000,1000000000],"data_offsets":[0,4]}}    ',
                b'{"mean_w":{"dtype":"F32","shape":[1],"data_offsets":[0,4000000000000]}}',
                b'{"mean_w":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}',
                DEEP.encode(),
            )
        ),
    ],
)
def test_headers_of_weights_that_lie(model: Path, header: bytes, little_memory: None) -> None:
    (model / "weights.safetensors").write_bytes(header + bytes(2))
    with pytest.raises(GeneratorError):
        load_model(model)
    shutil.copy(model / "weights.safetensors", model / STATE)
    with pytest.raises(GeneratorError):
        read_state(model)


@pytest.mark.parametrize("length", [10**9, 10**18, -1, 0])
def test_sizes_in_the_settings_of_a_model(length: int, little_memory: None) -> None:
    library = SymbolLibrary.of(["+", "sin"], 1)
    vocabulary = [*library.names, "(", ")", ""]
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(len(vocabulary), 9, 4, 2).items()}
    settings = {"length": length, "tokens": vocabulary}
    assert CVAE.restored(library, weights, settings | {"length": 9}).latent_dim == 2
    with pytest.raises(GeneratorError, match=r"has the shape .*, not"):
        CVAE.restored(library, weights, settings)


@pytest.mark.parametrize(
    ("part", "array"),
    [
        ("y", np.ones(3)),
        ("y", np.full(40, np.nan)),
        ("y", np.ones((40, 1))),
        ("columns", np.ones((1, 40))),
        ("columns", np.ones((2, 40), np.float32)),
        ("weights", np.ones(39)),
        ("sigma", np.full(40, np.inf)),
    ],
)
def test_rows_of_a_run_that_do_not_fit_together(run: Path, part: str, array: np.ndarray[Any, Any]) -> None:
    """Compiled loops do not look where an array ends."""
    arrays, _ = storage.unpack(run / runs.ROWS)
    (run / runs.ROWS).write_bytes(pack(arrays | {f"train.{part}": array}))
    with pytest.raises(SearchError, match="is not an array of finite numbers of the shape"):
        runs.load(run, whole=False)


def test_a_library_with_more_variables_than_columns(run: Path) -> None:
    library = json.loads(SymbolLibrary.of(["+"], ["a", "b", *(f"v{k}" for k in range(900))], constant=True).to_json())
    first = json.loads((run / runs.DESCRIPTION).read_text(encoding="utf-8"))["front"][0]
    front = [first | {"formula": "v899 + a", "constants": []}]
    changed(run / runs.DESCRIPTION, library=library, index=0, front=front)
    with pytest.raises(EdhieError, match="variables that are not in"):
        print(runs.load(run, whole=False).best.r2)


def bench_table(folder: Path, **cells: str) -> None:
    """A table of results with one row, some of whose cells are others."""
    row = dict.fromkeys(COLUMNS, "0") | {"problem": "NG-1", "method": "edhie"} | cells
    (folder / "nguyen-edhie.csv").write_text(storage.csv_text(COLUMNS, [list(row.values())]))


@pytest.mark.parametrize(
    "cells",
    [{"problem": "../../x"}, {"problem": "[red]"}, {"problem": "=1+1"}, {"rmse": "x"}, {"seconds": ""}, {"rank": "x"},
     {"run": "x"}, {"expression": "x" * 200_000}],
    ids=str,
)  # fmt: skip
def test_tables_of_benchmarks(tmp_path: Path, cells: dict[str, str]) -> None:
    bench_table(tmp_path)
    open_records(tmp_path)
    bench_table(tmp_path, **cells)
    with pytest.raises(EdhieError, match=r"line 2 is damaged|cannot be read"):
        open_records(tmp_path)


# -- paths ----------------------------------------------------------------------------


def secret(folder: Path) -> Path:
    """A folder of the user, which must stay as it is."""
    own = folder / "own"
    own.mkdir()
    (own / "config.json").write_text("mine")
    return own


def test_a_link_for_an_unfinished_write_moves_nothing(model: Path, tmp_path: Path) -> None:
    own = secret(tmp_path)
    (model / "config.json").unlink()
    (model / ".part").symlink_to(own, target_is_directory=True)
    assert not MODEL.is_whole(model)
    with pytest.raises(GeneratorError, match=r"it has no config.json"):
        load_model(model)
    assert (own / "config.json").read_text() == "mine"


def test_writing_into_a_folder_follows_no_links(tmp_path: Path) -> None:
    own, folder = secret(tmp_path) / "config.json", tmp_path / "given"
    folder.mkdir()
    for name in ("table.csv.part", ".lock", ".process", "config.json.part"):
        (folder / name).symlink_to(own)
    (folder / ".part").symlink_to(own.parent, target_is_directory=True)
    replace_file(folder / "table.csv", b"new")
    with locked(folder):
        pass
    MODEL.write(folder, {}, {"a.txt": "new"})
    assert (own.read_text(), (folder / "table.csv").read_text()) == ("mine", "new")
    assert [each.name for each in own.parent.iterdir()] == ["config.json"]


@pytest.mark.parametrize("place", ["../secret.csv", "/etc/hostname", "link.csv", "a/../../secret.csv"])
def test_problems_read_no_files_elsewhere(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text("x,y\n1,2\n2,3\n3,4\n4,5\n5,6\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "p.toml").write_text(f'[[problem]]\nid = "a"\ntarget = "y"\ndata = "{place}"\n')
    with pytest.raises(EdhieError, match=r"not in the folder of .*; put them there"):
        load_problems(folder / "p.toml")

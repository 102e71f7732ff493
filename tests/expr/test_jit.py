"""Compiled functions: division as in NumPy, one folder for each state of the sources, and no folder at all."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from edhie.expr import jit as module
from edhie.expr.jit import KEPT_BUILDS, copy_to, jit, typed

HEIGHTS = """
from edhie.expr import Forest, parse
forest = Forest.from_exprs([parse("x + 1")] * 3)
assert forest.heights.tolist() == [2, 2, 2]
"""


def quotient(a, b):
    return a / b


def test_division_by_zero_is_that_of_numpy():
    compiled = jit(quotient)
    assert compiled(1.0, 0.0) == np.inf
    assert np.isnan(compiled(0.0, 0.0))


def test_typed_constants_are_64_bit():
    assert isinstance(typed(3), np.int64)


def test_the_cache_folder_of_others_is_left_alone():
    from numba.core import config

    before = config.CACHE_DIR
    jit(quotient)
    assert before == config.CACHE_DIR


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(module.platformdirs, "user_cache_dir", lambda name: str(tmp_path / name))
    return tmp_path / "edhie" / "kernels"


def made(root: Path, name: str, age: int) -> Path:
    build = root / name
    (build / "inner").mkdir(parents=True)
    (build / "inner" / "code.nbi").write_text("")
    os.utime(build, (1e9 - age, 1e9 - age))
    return build


def test_a_new_build_leaves_the_newest_old_ones(root):
    builds = [made(root, f"build{age}", age) for age in range(6)]
    folder = module._build_folder.__wrapped__()
    assert folder.parent == root
    folder.mkdir()
    assert sorted(root.iterdir()) == sorted([folder, *builds[: KEPT_BUILDS - 1]])
    assert module._build_folder.__wrapped__() == folder
    assert all((build / "inner" / "code.nbi").exists() for build in builds[: KEPT_BUILDS - 1])


def test_the_folder_depends_on_every_compiled_source(root, monkeypatch):
    before = module._build_folder.__wrapped__()
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b" " * (path.name == "forest_kernels.py"))
    module._digest.cache_clear()
    assert module._build_folder.__wrapped__() != before
    module._digest.cache_clear()


def test_compiled_code_is_kept_between_runs(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", HEIGHTS], check=True, env=environment)
    assert list(tmp_path.glob("edhie/kernels/*/*/*.nbi"))


def test_a_folder_that_cannot_be_is_no_error_yet(monkeypatch):
    monkeypatch.setattr(module.platformdirs, "user_cache_dir", lambda name: f"/dev/null/{name}")
    assert not module._build_folder.__wrapped__().exists()


def test_without_any_place_to_write_functions_are_compiled_anew(monkeypatch):
    from numba.core import caching

    def nowhere(*_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(caching.FunctionCache, "__init__", nowhere)
    assert jit(quotient)(1.0, 4.0) == 0.25


def test_the_first_start_says_what_takes_so_long(root, caplog):
    module.say_compiling.cache_clear()
    folder = module._build_folder.__wrapped__()
    module.say_compiling()
    assert caplog.messages == [module.FIRST_BUILD]
    folder.mkdir(parents=True)
    module._build_folder.__wrapped__()
    assert len(caplog.messages) == 1


def test_a_function_called_by_its_address_is_the_function():
    @module.jit_once("int64(int64, CPointer(float64))")
    def count_above_zero(n, numbers):
        found = 0
        for i in range(n):
            found += numbers[i] > 0
        return found

    @jit
    def caller(numbers):
        return count_above_zero(len(numbers), numbers.ctypes)

    assert caller(np.array([1.0, -1.0, 2.0])) == 2


def decorators(node):
    return {ast.unparse(each) for each in getattr(node, "decorator_list", ())}


def named_by_python(tree, module):
    """The functions, as "module.name", that a file names outside of compiled functions."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {each.asname or each.name: f"{node.module}.{each.name}" for node in imports for each in node.names}
    names |= {node.name: f"{module}.{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef)}
    for part in tree.body:
        if any(each.startswith("jit") for each in decorators(part)):
            continue
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and node.id in names:
                yield names[node.id]
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
                yield f"{names[node.value.id]}.{node.attr}"


def test_python_names_no_function_that_only_compiled_code_can_call():
    package = Path(module.__file__).parents[1]
    sources = {}
    for path in [*package.rglob("*.py"), *Path(__file__).parents[1].rglob("test_*.py")]:
        parts = path.relative_to(package.parent).with_suffix("").parts if package in path.parents else path.parts
        sources[".".join(parts).removesuffix(".__init__")] = path.read_text()
    inner = {
        f"{name}.{node.name}"
        for name, source in sources.items()
        if "@jit_inner" in source
        for node in ast.parse(source).body
        if "jit_inner" in decorators(node)
    }
    assert len(inner) > 50
    words = re.compile(r"\b(" + "|".join({name.rpartition(".")[2] for name in inner}) + r")\b")
    for name, source in sources.items():
        if words.search(source):
            assert not inner & set(named_by_python(ast.parse(source), name)), name


def test_copies_of_rows_are_copies():
    @jit
    def caller(out, values):
        copy_to(out[1:], values[0])

    out = np.zeros(4, np.int16)
    caller(out, np.arange(6.0).reshape(2, 3))
    assert out.tolist() == [0, 0, 1, 2]

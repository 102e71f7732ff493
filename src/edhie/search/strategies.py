"""Strategies by name, and a user's own by module or file; each is imported on first use.

A text such as `my_package.my_module:Climb` or `path/to/own_search.py:Climb` can be used where an object cannot: in a
command, in another process, in a table of results.
"""

from __future__ import annotations

import sys
import zlib
from functools import reduce
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from edhie.errors import SearchError, shortened, suggestion
from edhie.search.base import Strategy

DEFAULT: Final = "mosaic"
"""The name of the default search."""
STRATEGIES: dict[str, str] = {
    "draw": "edhie.search.sampling:Draw",
    "dso": "edhie.search.dso:DSO",
    "evolve": "edhie.search.evolution:Evolve",
    "mosaic": "edhie.search.mosaic:Mosaic",
    "revise": "edhie.search.revision:Revise",
    "template": "edhie.search.forms:FormSearch",
}
"""By name: the module and class of each strategy."""


def strategy_named(name: str) -> Strategy:
    """Return the strategy of a name, with its default settings; `module:Class` or `file.py:Class` for a user's own.

    >>> strategy_named("edhie.search.sampling:Draw").name
    'draw'
    """
    if name in STRATEGIES:
        module, attribute = STRATEGIES[name].split(":")
        return made_strategy(getattr(import_module(module), attribute), name)
    if is_text_of_object(name):
        return made_strategy(imported(name), name)
    known = ", ".join(STRATEGIES)
    raise SearchError(f"unknown strategy {shortened(name)!r}; use one of {known}{suggestion(name, STRATEGIES)}")


def strategy_of(given: object) -> Strategy:
    """Return a strategy, given itself or its name."""
    if isinstance(given, Strategy):
        return given
    if isinstance(given, str):
        return strategy_named(given)
    raise SearchError(f"a strategy is a name ({', '.join(STRATEGIES)}) or a Strategy, not {given!r}")


def made_strategy(given: object, name: str) -> Strategy:
    """Return the strategy that a class, or a function without arguments, returns. `name` is for errors."""
    try:
        made = given() if callable(given) else given
    except TypeError as error:
        raise SearchError(f"{name!r} returns no Strategy: calling it without arguments raises {error}") from error
    if not isinstance(made, Strategy):
        raise SearchError(f"{name!r} is {made!r}, not a subclass of Strategy or a function that returns one")
    return made


# -- a user's own objects by import path -----------------------------------------------

SCRIPT = "__main__"


def is_text_of_object(text: str) -> bool:
    """Return whether a text has the form `module:name` or `file.py:name`."""
    return all(text.rpartition(":"))


def imported(text: str) -> Any:
    """Return the object that `module:name` or `file.py:name` names.

    Imports from the working folder, or that of the file, work as with `python -m` and `python file.py`.

    >>> imported("edhie.search.sampling:Draw").name
    'draw'
    """
    place, _, name = text.rpartition(":")
    module = _from_file(Path(place), text) if place.endswith(".py") else _by_name(place, text)
    try:
        return reduce(getattr, name.split("."), module)
    except AttributeError:
        there = [each for each in vars(module) if not each.startswith("_")]
        raise SearchError(f"there is no {name!r} in {place}{suggestion(name, there)}") from None


def text_of(given: Any) -> str:
    """Return the text that names a class or a function, which has to be at the top of a module or a script."""
    module, name = getattr(given, "__module__", None), getattr(given, "__qualname__", None)
    if module == SCRIPT:
        module = getattr(sys.modules[SCRIPT], "__file__", None)  # none where it was typed in
    if not module or not name or "<" in name or (module.endswith(".py") and not Path(module).is_file()):
        raise SearchError(f"{given!r} cannot be imported by another process; define it at the top of a module or file")
    return f"{module}:{name}"


def _by_name(module: str, text: str) -> ModuleType:
    _make_importable(Path.cwd())
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise _failed(text, error) from error  # it is found, and imports something that is missing
        hint = f"; a file is given by its path, as in {module}.py:…" if Path(f"{module}.py").is_file() else ""
        raise SearchError(
            f"there is no module {module!r}, which {text!r} names, in {Path.cwd()} or installed{hint}"
        ) from None
    except Exception as error:
        raise _failed(text, error) from error


def _from_file(path: Path, text: str) -> ModuleType:
    if not path.is_file():
        raise SearchError(f"there is no file {path}, which {text!r} names")
    name = path.stem
    known = sys.modules.get(name)
    if known is not None and (file := getattr(known, "__file__", None)) and Path(file).resolve() == path.resolve():
        return known
    _make_importable(path.resolve().parent)
    if known is not None:  # another module of that name
        name = f"{path.stem}_{zlib.crc32(bytes(path.resolve())):08x}"
        if name in sys.modules:
            return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is imported
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _failed(text, error) from error
    return module


def _failed(text: str, error: Exception) -> SearchError:
    return SearchError(f"{text!r} cannot be imported: {type(error).__name__}: {error}")


def _make_importable(folder: Path) -> None:
    there = {Path(each).resolve() for each in sys.path}  # "" is the working folder
    if folder.resolve() not in there:
        sys.path.insert(0, str(folder))

"""`SymbolLibrary`: the symbols that expressions are made of."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SymbolError, shortened, suggestion
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.symbols import ALIASES, NAMED_LITERALS, NUMBER, OPERATORS, Opcode, Symbol, constant, literal, variable

FORMAT = 1
MAX_SYMBOLS = 2**15 - 1  # token ids are 16-bit
Array = TypeVar("Array", bound=NDArray[Any])
FALLBACK_CONSTANT_NAMES = ("c", "C", "k", "const")


@dataclass(frozen=True)
class SymbolLibrary:
    """An immutable, ordered set of symbols; the id of a token is the place of its symbol."""

    symbols: tuple[Symbol, ...]

    def __post_init__(self) -> None:
        kinds: dict[str, str] = {}
        for symbol in self.symbols:
            if symbol.name in kinds:
                pair = kinds[symbol.name], symbol.kind
                both = " and ".join(f"an {kind}" if kind == "operator" else f"a {kind}" for kind in pair)
                raise SymbolError(f"the name {symbol.name!r} is given to two symbols, {both}; rename one of them")
            kinds[symbol.name] = symbol.kind
        if len(kinds) > MAX_SYMBOLS:
            raise SymbolError(f"a library holds at most {MAX_SYMBOLS} symbols, not {len(kinds)}; use fewer variables")
        for kind in ("constant", "number"):
            if sum(symbol.kind == kind for symbol in self.symbols) > 1:
                raise SymbolError(f"a library holds at most one {kind} symbol")

    @classmethod
    def of(
        cls,
        operators: Iterable[str | Symbol],
        variables: int | Sequence[str] = 1,
        *,
        constant: bool | str = False,
        literals: Iterable[str | float] = (),
        numbers: bool = False,
    ) -> SymbolLibrary:
        """Return a library from operator names (or symbols of your own), variables and leaves.

        `variables` is a count (x0, x1, …) or the names of the data's columns. `constant=True` adds the fitted constant
        `c`; where a variable has this name, it is called C, k, const, … `numbers=True` allows any number.

        >>> SymbolLibrary.of(["+", "sin"], ["t"], constant=True).names
        ('+', 'sin', 't', 'c')
        """
        names = variable_names(variables)
        rows = [_operator_symbol(each) for each in operators]
        rows += [variable(name) for name in names]
        if constant:
            rows.append(_constant_symbol(constant, taken={row.name for row in rows}))
        rows += [literal(each) for each in literals if each not in names]
        if numbers:
            rows.append(NUMBER)
        return cls(tuple(rows))

    # -- looking things up ------------------------------------------------------------

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the symbols, in order."""
        return tuple(symbol.name for symbol in self.symbols)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Token id of each name."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables, in the order of the data's columns."""
        return tuple(symbol.name for symbol in self.symbols if symbol.kind == "variable")

    @cached_property
    def constant(self) -> str | None:
        """Name of the fitted constant, if the library has one."""
        return next((symbol.name for symbol in self.symbols if symbol.kind == "constant"), None)

    @cached_property
    def has_numbers(self) -> bool:
        """True where expressions may have any number."""
        return NUMBER.name in self.ids

    @cached_property
    def built_in(self) -> frozenset[str]:
        """Names that are built-in operators here, not variables or user-defined operators."""
        return frozenset(symbol.name for symbol in self.symbols if symbol in (OPERATORS.get(symbol.name),))

    def __len__(self) -> int:
        return len(self.symbols)

    def __contains__(self, name: object) -> bool:
        return name in self.ids

    def __getitem__(self, name: str) -> Symbol:
        """Return the symbol of a token's text; a number is a literal or `#`."""
        return self.symbols[self.id_of(name)]

    def id_of(self, token: str) -> int:
        """Return the id of a token's text, or raise a `SymbolError` with a suggestion."""
        found = self.ids.get(token)
        if found is None and is_numeral(token):
            found = self.ids.get(numeral(float(token)), self.ids.get(NUMBER.name))
            if found is None:
                number, library = shortened(token, 40), shortened(str(self))
                raise SymbolError(
                    f"the number {number} is not in the library ({library}); add it with literals= or numbers=True"
                )
        if found is None:
            meant = ALIASES.get(token)
            hint = f"; did you mean {meant!r}?" if meant in self.ids else suggestion(token, self.readable_names)
            raise SymbolError(f"unknown symbol {shortened(token)!r}{hint}")
        return found

    @cached_property
    def readable_names(self) -> tuple[str, ...]:
        """Every spelling that the parser reads as a symbol of this library."""
        return self.names + tuple(alias for alias, name in ALIASES.items() if name in self.ids)

    @cached_property
    def arities(self) -> NDArray[np.int8]:
        """Arity by token id."""
        return _frozen(np.array([symbol.arity for symbol in self.symbols], dtype=np.int8))

    @cached_property
    def opcodes(self) -> NDArray[np.int16]:
        """Kernel opcode by token id."""
        return _frozen(np.array([symbol.opcode for symbol in self.symbols], dtype=np.int16))

    @cached_property
    def literals(self) -> dict[str, float]:
        """Value of each literal by name."""
        return {symbol.name: symbol.value for symbol in self.symbols if symbol.kind == "literal"}

    @cached_property
    def literal_values(self) -> NDArray[np.float64]:
        """Value of a literal by token id, NaN for all else."""
        return _frozen(np.array([symbol.value for symbol in self.symbols], dtype=np.float64))

    @cached_property
    def has_slot(self) -> NDArray[np.bool_]:
        """True by token id for tokens with a value beside them: fitted constants and numbers."""
        return _frozen(np.array([symbol.kind in ("constant", "number") for symbol in self.symbols], dtype=np.bool_))

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """True by token id for all leaves but variables."""
        return _frozen((self.arities == 0) & (self.opcodes != Opcode.VARIABLE))

    @cached_property
    def _hash(self) -> int:
        return hash(self.symbols)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return SymbolLibrary, (self.symbols,)  # without what is cached: a hash holds for one process only

    def __str__(self) -> str:
        return " ".join(self.names)

    # -- deriving another library -----------------------------------------------------

    def extended(self, *symbols: Symbol) -> SymbolLibrary:
        """Return this library with further symbols at its end, so that all ids stay; known ones are left out."""
        new = tuple(symbol for symbol in symbols if symbol.name not in self.ids)
        return SymbolLibrary(self.symbols + new) if new else self

    def with_numbers(self) -> SymbolLibrary:
        """Return this library with any number allowed."""
        return self.extended(NUMBER)

    def with_variables(self, names: Sequence[str]) -> SymbolLibrary:
        """Return the library with these variables in place of its own; if there are as many, all ids stay valid.

        Further variables come last. A constant with the name of a variable is renamed.

        >>> SymbolLibrary.of(["+"], 1, constant=True).with_variables(["t", "c"]).names
        ('+', 't', 'C', 'c')
        """
        waiting = [variable(name) for name in variable_names(names)]
        symbols: list[Symbol] = []
        for symbol in self.symbols:
            if symbol.kind == "variable":
                symbols += waiting[:1]
                del waiting[:1]
            elif symbol.kind == "constant" and symbol.name in names:
                symbols.append(_constant_symbol(True, taken=set(names)))
            else:
                symbols.append(symbol)
        return SymbolLibrary((*symbols, *waiting))

    @lru_cache(64)  # noqa: B019 -- libraries are few and small
    def ids_in(self, other: SymbolLibrary) -> NDArray[np.int16]:
        """Return the id in another library of each symbol, -1 where it is missing or its name means something else."""
        ids = np.full(len(self), -1, np.int16)
        for k, symbol in enumerate(self.symbols):
            found = other.ids.get(other.constant if symbol.kind == "constant" and other.constant else symbol.name)
            if found is not None and other.symbols[found].role == symbol.role:
                ids[k] = found
        return _frozen(ids)

    # -- saving -----------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the library as JSON; user-defined operators are saved by name and arity only."""
        rows = []
        for symbol in self.symbols:
            row: dict[str, str | int | bool] = {"name": symbol.name, "kind": symbol.kind}
            if symbol.is_custom:
                row |= {"arity": symbol.arity, "custom": True}
            rows.append(row)
        lines = ",\n    ".join(json.dumps(row, ensure_ascii=False) for row in rows)
        return f'{{\n  "format": {FORMAT},\n  "symbols": [\n    {lines}\n  ]\n}}\n'

    @classmethod
    def from_json(cls, text: str, *, operators: Iterable[Symbol] = ()) -> SymbolLibrary:
        """Read a library that `to_json` wrote; pass the user-defined operators it had as `operators`."""
        try:
            data = json.loads(text)
            version, rows = data["format"], data["symbols"]
            wanted = [(row["name"], row["kind"], row["arity"] if row.get("custom") else None) for row in rows]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise SymbolError(f"this is not a saved symbol library: {error!r}; save one with to_json()") from error
        if version != FORMAT:
            raise SymbolError(f"the symbol library has format {version}; this edhie reads format {FORMAT}")
        for name, _, _ in wanted:
            if not isinstance(name, str):
                raise SymbolError(f"this is not a saved symbol library: {name!r} is not a name")
        own = {symbol.name: symbol for symbol in operators}
        return cls(tuple(_saved_symbol(name, kind, arity, own) for name, kind, arity in wanted))


def variable_names(variables: int | Sequence[str]) -> list[str]:
    """Return the names for a count (x0, x1, …) or a sequence of names."""
    if isinstance(variables, str):
        raise SymbolError(f"variables={variables!r} is one text; give a list of names, such as [{variables!r}]")
    if not isinstance(variables, (int, np.integer)):
        return list(variables)
    if variables < 0:
        raise SymbolError(f"a library cannot have {variables} variables; give a count of 0 or more, or their names")
    return [f"x{i}" for i in range(variables)]


def numbered_first(names: Sequence[str]) -> list[str]:
    """Return distinct names, x0, x1, … by number before all others, which keep their order."""
    numbered = [name for name in names if re.fullmatch(r"x\d+", name)]
    return list(dict.fromkeys((*sorted(numbered, key=natural_order), *names)))


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key that puts x2 before x10."""
    key = []
    for part in filter(None, re.split(r"(\d+)", name)):
        digits = part.lstrip("0") if part.isdecimal() else part
        key.append((0, len(digits), digits) if part.isdecimal() else (1, 0, part))  # digits may be too many for int()
    return key


def _saved_symbol(name: str, kind: str, custom_arity: int | None, own: dict[str, Symbol]) -> Symbol:
    if custom_arity is not None:
        if name not in own:
            raise SymbolError(
                f"the library holds the operator {name!r} that a user added; "
                "its function is not saved, so pass it again with operators=[...]"
            )
        if own[name].arity != custom_arity:
            raise SymbolError(f"the saved operator {name!r} takes {custom_arity} operands, not {own[name].arity}")
        return own[name]
    makers: dict[str, Callable[[str], Symbol]] = {
        "operator": _operator_symbol, "variable": variable, "constant": constant, "literal": literal,
        "number": lambda name: NUMBER,
    }  # fmt: skip
    if not isinstance(kind, str) or kind not in makers:
        raise SymbolError(f"the symbol {name!r} has the unknown kind {kind!r}")
    return makers[kind](name)


def _operator_symbol(each: str | Symbol) -> Symbol:
    if isinstance(each, Symbol):
        return each
    name = ALIASES.get(each, each)
    if name in NAMED_LITERALS or name not in OPERATORS:
        raise SymbolError(f"unknown operator {each!r}{suggestion(str(each), OPERATORS)}")
    return OPERATORS[name]


def _constant_symbol(asked: bool | str, taken: set[str]) -> Symbol:
    if isinstance(asked, str):
        return constant(asked)
    candidates = itertools.chain(FALLBACK_CONSTANT_NAMES, (f"c{i}" for i in itertools.count()))
    return constant(next(name for name in candidates if name not in taken))


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array

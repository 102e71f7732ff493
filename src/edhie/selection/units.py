"""Claims of an equation about units: what the equation says of the units in which the columns were measured.

The unit of the target is unknown, and that of a column too, unless its name says that it has none. A fitted constant
takes whatever unit makes the equation consistent, and a plain number has none, also the 1 that is not written. In
`y = c*x` the constant absorbs any change of units; `y = x + 1` says that x and y have no unit, and `y = a - b` that all
have the same. Such claims are found by linear algebra. If column i is measured in a unit that is smaller by a factor
exp(λ), the values of x_i grow by this factor, and to first order those of f by λ·x_i·∂f/∂x_i; those of the target
grow by μ·f. The constants absorb the changes whose sum is a combination of the slopes ∂f/∂c. The equations that λ and μ
have to satisfy are its claims:

- that a column or the target **has no unit**, that one unit is an odd power of others (`y = x^0.68`), or that the units
  of columns **happen to fit**, as in `y = c*(a + b*t)`,
- that the target's unit **follows from others**, as in `y = a*b` or `y = x^2`: true in a coherent system of units,
- that two units are **the same**.

Each kind has a price in bits; see `docs/noise.md` for where the prices come from.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from edhie.arrays import Flags, Indices, Numbers
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.data import Data
from edhie.evaluate.machine.program import columns_by_token, plan
from edhie.evaluate.parallel import parallel_for
from edhie.evaluate.values import with_custom_operators
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.symbols import OPERATORS, Opcode, constant
from edhie.selection.plain_numbers import literal_bits

NO_UNIT, FOLLOWS, SAME_UNIT = 6.0, 3.0, 2.0  # bits of each kind of claim
PRICES = np.array([NO_UNIT, FOLLOWS, SAME_UNIT])
ANGLES = frozenset("angle angles theta phi alpha".split())
WITHOUT_UNIT = ANGLES | frozenset(
    "ratio fraction share percent percentage probability count counts number log ln ph".split()
)
"""Words in the name of a column that say that it has no unit."""
WITH_UNIT = frozenset("density rate rates per price dot speed velocity".split())
"""Words in the name of a column that say that it has a unit after all: `count_rate`, `number_density`."""


def claim_bits(forest: Forest, data: Data) -> Numbers:
    """Return the bits of each expression's claims about units.

    >>> from edhie.expr import parse
    >>> x = np.linspace(1.0, 3.0, 20)
    >>> data = Data(np.stack([x, x[::-1] ** 2]), x, None, ("x", "z"))
    >>> texts = {"c*x": [0.7], "c*exp(c*x)": [0.7, 0.3], "c*x + 1": [0.7], "x + z": [], "x*z": []}
    >>> for text, constants in texts.items():
    ...     print(text, claim_bits(Forest.from_exprs([parse(text).with_constants(constants)]), data))
    c*x [0.]
    c*exp(c*x) [0.]
    c*x + 1 [6.]
    x + z [4.]
    x*z [3.]
    """
    from edhie.selection.unit_kernels import claims, claims_of

    out = np.zeros(len(forest))
    if len(forest) == 0:
        return out
    points = data.separate_points
    scaled, kinds = with_factors(forest, without_unit(data.names))
    program = plan(scaled)
    parallel_for(lambda a, b: claims(program, kinds, points, len(data.names), PRICES, a, b, out), len(forest))
    for k in with_custom_operators(scaled).tolist():
        response = Response(scaled.take([k]), points)
        values, slopes = response.jacobian(response.constants)
        own = kinds[program.leaf_starts[k] : program.leaf_starts[k + 1]]
        free = program.is_free[program.leaf_starts[k] : program.leaf_starts[k + 1]]
        out[k] = claims_of(values, slopes, response.constants, own[free], len(data.names), PRICES)
    return out


def without_unit(names: tuple[str, ...]) -> Flags:
    """Return for each column whether its name says that it has no unit: an angle, a ratio, a count or a logarithm."""
    words = [set() if "/" in name else _words(name) for name in names]
    return np.array([bool(WITHOUT_UNIT & each) and not WITH_UNIT & each for each in words], np.bool_)


def is_angle(name: str) -> bool:
    """Return whether a column is an angle, by its name."""
    return bool(ANGLES & _words(name))


def _words(name: str) -> set[str]:
    """Return the words of a name, also without digits at their end: `log` and `re` of `logRe2`."""
    words = set(re.split(r"[\W_]+", name.lower()))
    parts = re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}", name)
    return words | {part.lower() for part in parts}


def with_factors(forest: Forest, is_fixed: Flags) -> tuple[Forest, Indices]:
    """Return expressions with 1·x for each variable x that is not fixed, and by leaf what its slope is.

    0 is a fitted constant, k + 1 the factor of variable k, and -1 anything else.
    """
    library = _with_factors(forest.library)
    columns = columns_by_token(forest.library)[forest.tokens]
    is_scaled = (columns >= 0) & ~np.append(is_fixed, True)[np.minimum(columns, len(is_fixed))]
    widths = np.where(is_scaled, 3, 1)
    ends = np.cumsum(widths)
    tokens = np.empty(int(ends[-1]), np.int16)
    tokens[ends - 1] = forest.tokens
    places = ends[is_scaled] - 1
    tokens[places - 2], tokens[places - 1] = library.ids["*"], library.ids[str(library.constant)]
    has_slot, by_token = library.has_slot[tokens], np.full(len(tokens), -1, np.int64)
    is_factor = np.zeros(len(tokens), np.bool_)
    is_factor[places - 1] = True
    values = np.ones(np.count_nonzero(has_slot))
    values[~is_factor[has_slot]] = forest.values
    is_constant = library.opcodes[tokens] == Opcode.CONSTANT
    by_token[has_slot] = np.where(np.isinf(literal_bits(values)) & is_constant[has_slot], 0, -1)
    by_token[places - 1] = columns[is_scaled] + 1
    offsets = np.concatenate([[0], ends])[forest.offsets]
    return Forest(library, tokens, offsets, values), by_token[library.is_number[tokens]]


@lru_cache(maxsize=64)
def _with_factors(library: SymbolLibrary) -> SymbolLibrary:
    """Return the library with products and constants."""
    found = library.extended(OPERATORS["*"])
    return found if found.constant is not None else found.extended(constant("factor_of_unit"))

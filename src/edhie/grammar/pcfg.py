"""`PCFG`: a probabilistic context-free grammar of expression trees.

How a rule is read as a piece of a tree is told in `edhie.grammar.patterns`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GrammarError, GrammarWarning
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.forest import row_of_integers
from edhie.grammar import pcfg_text, sampling, terminals
from edhie.grammar.derivation import Derivations, Template, guided, misfit, rules_of, template_of, tokens_of, ways_to
from edhie.grammar.patterns import Pattern, read_pattern
from edhie.grammar.rules import Rule, check_rules, grouped, normalised, operator_choices, reachable
from edhie.grammar.tables import Entry, Tables, build
from edhie.grammar.terminals import canonical, derived_library, resolve


@dataclass(frozen=True, init=False, repr=False)
class PCFG:
    """Rules with probabilities, a start symbol and the library of the trees they make.

    >>> grammar = PCFG.parse('''
    ...     E -> E '+' F [0.3] | F [0.7]
    ...     F -> F '*' T [0.2] | T [0.8]
    ...     T -> 'sin' '(' E ')' [0.2] | 'x0' [0.8]
    ... ''')
    >>> grammar.sample(3, np.random.default_rng(1))
    Forest(3 expressions, 9 nodes: sin(x0) + sin(x0), x0, x0*x0)
    """

    rules: tuple[Rule, ...]
    """Together by nonterminal, in the order of first appearance; derivations count them from 0."""
    start: str
    library: SymbolLibrary
    _patterns: tuple[Pattern | None, ...] = field(compare=False)

    def __init__(
        self, rules: Iterable[Rule], *, start: str | None = None, library: SymbolLibrary | None = None
    ) -> None:
        """Check the rules; without a library, one of their terminals is made.

        In it `c` is the fitted constant, known names and numbers are what they are
        elsewhere, and every other name is a variable.
        """
        groups = grouped(canonical(rule, library) for rule in rules)
        ordered = tuple(rule for group in groups.values() for rule in group)
        start = start or next(iter(groups), "")
        check_rules(groups, start)
        symbols = resolve(ordered, library)
        choices = operator_choices(groups, start, symbols)
        patterns = tuple(None if r.lhs in choices else read_pattern(r, symbols, choices) for r in ordered)
        if library is None:
            library = derived_library(ordered, patterns, choices.values(), symbols)
        for name, value in (("rules", ordered), ("start", start), ("library", library), ("_patterns", patterns)):
            object.__setattr__(self, name, value)
        if self.unreachable:
            warnings.warn(_unreachable(self.unreachable), GrammarWarning, stacklevel=2)

    @classmethod
    def parse(cls, text: str, library: SymbolLibrary | None = None) -> PCFG:
        """Read a grammar from text in NLTK's format, which `str(grammar)` writes."""
        rules, start = pcfg_text.read(text)
        return cls(rules, start=start, library=library)

    def __str__(self) -> str:
        return pcfg_text.write(self.rules, self.start)

    def __repr__(self) -> str:
        return f"PCFG({len(self.nonterminals)} nonterminals, {len(self.rules)} rules, over {self.library})"

    def with_variables(self, names: Sequence[str]) -> PCFG:
        """Return this grammar for other variables: rules that make one share their probability equally."""
        rules, library = terminals.with_variables(self.rules, self.library, names)
        return PCFG(rules, start=self.start, library=library)

    # -- parts ------------------------------------------------------------------------

    @cached_property
    def nonterminals(self) -> tuple[str, ...]:
        """Names of the nonterminals, in the order of their rules."""
        return tuple(grouped(self.rules))

    @cached_property
    def rule_lhs(self) -> NDArray[np.int64]:
        """Index among `nonterminals` of each rule's left-hand side."""
        return np.array([self.nonterminals.index(rule.lhs) for rule in self.rules])

    @cached_property
    def unreachable(self) -> tuple[str, ...]:
        """Nonterminals that no derivation from the start holds."""
        found = reachable(grouped(self.rules), self.start)
        return tuple(name for name in self.nonterminals if name not in found)

    @cached_property
    def _entries(self) -> tuple[Entry, ...]:
        every = zip(normalised(self.rules), self._patterns, strict=True)
        return tuple(
            Entry(index, rule, pattern)
            for index, (rule, pattern) in enumerate(every)
            if rule.probability > 0 and rule.lhs not in self.unreachable
        )

    @cached_property
    def _tables(self) -> Tables:
        return build(self._entries, self.start, self.library)

    # -- properties -------------------------------------------------------------------

    @cached_property
    def spectral_radius(self) -> float:
        """Spectral radius of the mean matrix of the rules; below 1, derivations end and have a finite mean size."""
        return sampling.spectral_radius([entry.rule for entry in self._entries])

    @property
    def is_supercritical(self) -> bool:
        """True where derivations may never end."""
        return self.spectral_radius > 1 + sampling.CRITICAL

    def termination_probability(self) -> float:
        """Return the probability that a derivation ends."""
        return float(self._ends[self._tables.start])

    @cached_property
    def _ends(self) -> NDArray[np.float64]:
        """Probability by state that a derivation ends."""
        if not self.is_supercritical:
            return np.ones(self._tables.n_states)
        return sampling.termination_probabilities(self._tables)

    def expected_size(self) -> float:
        """Return the mean number of nodes; infinite unless the spectral radius is below 1."""
        return sampling.expected_size(self._tables) if self.spectral_radius < 1 - sampling.CRITICAL else math.inf

    def size_distribution(self, max_size: int) -> NDArray[np.float64]:
        """Return the probability that an expression has k nodes, for k from 0 to `max_size`."""
        sizes: NDArray[np.float64] = sampling.size_distributions(self._tables, max_size)[self._tables.start]
        return sizes

    def acceptance(self, *, max_height: int | None = None, max_size: int) -> float:
        """Return the probability that a derivation ends in an expression within these limits."""
        return sampling.acceptance(self._tables, max_height, max_size)

    def check(self) -> list[str]:
        """Return remarks on properties that its author may not expect."""
        remarks = [_unreachable(self.unreachable)] if self.unreachable else []
        remarks += [f"the rule '{rule}' is never used" for rule in self.rules if rule.probability == 0]
        return remarks + ([self._growth_remark] if self._growth_remark else [])

    @cached_property
    def _growth_remark(self) -> str:
        if self.is_supercritical:
            return (
                f"the grammar is supercritical (spectral radius {self.spectral_radius:.4g}): a derivation ends with "
                f"probability {self.termination_probability():.4g}, and else goes on for ever"
            )
        is_critical = math.isinf(self.expected_size())
        return "the grammar is critical (spectral radius 1): the mean size is infinite" if is_critical else ""

    # -- sampling, probabilities and derivations --------------------------------------

    def sample(
        self, n: int, rng: np.random.Generator, *, max_height: int | None = None, max_size: int | None = None
    ) -> Forest:
        """Sample `n` expressions from the grammar's distribution on those of at most this height and size.

        Expressions beyond a limit (256 nodes unless given) are drawn anew, so limits do not change the distribution
        within them. The expressions follow from the state of `rng` alone, and fewer of them are the first
        of more. Fitted constants come unfitted.
        """
        return self._sampler.sample(n, rng, max_height, max_size)

    @cached_property
    def _sampler(self) -> sampling.Sampler:
        remark = self._growth_remark if self.is_supercritical else ""
        return sampling.Sampler(self._tables, self._ends, self.library, remark)

    def log_probability(self, expr: Expr) -> float:
        """Return the logarithm of the probability of `expr`; -inf where it cannot be derived."""
        return float(self.log_probabilities(Forest.from_exprs([expr]))[0])

    def log_probabilities(self, forest: Forest) -> NDArray[np.float64]:
        """Return the logarithm of each expression's probability, summed over all its derivations."""
        start, every = self._tables.start, [ways_to(expr, self._tables) for expr in forest]
        return np.array([ways[start].total if start in ways else -np.inf for ways in every])

    def derivation(self, expr: Expr) -> list[int]:
        """Return the rules of the most probable leftmost derivation, in order."""
        rules, _ = self.derivations(Forest.from_exprs([expr]))
        return [int(rule) for rule in rules]

    def derivations(self, forest: Forest) -> Derivations:
        """Return the rules of each expression's most probable leftmost derivation, and the offset of each."""
        tables, rows = self._tables, list[list[int]]()
        for k, expr in enumerate(forest):
            way = ways_to(expr, tables).get(tables.start)
            if way is None:
                names = [token for token in expr.tokens if expr.library[token].key(token) not in tables.by_symbol]
                why = f"no rule makes {names[0]!r}" if names else "no sequence of rules leads to this tree"
                place = f"expression {k} of the forest, " if len(forest) > 1 else ""
                raise GrammarError(f"{place}{expr} cannot be derived from the grammar: {why}")
            rows.append(rules_of(way, self._patterns, tables))
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return np.array([rule for row in rows for rule in row], np.int16), offsets

    def expression(self, rules: Sequence[int]) -> Expr:
        """Return the expression that a leftmost derivation ends with; raise an error if the rules do not form one."""
        return self.expressions(np.array(rules, np.int64), np.array([0, len(rules)]))[0]

    def expressions(self, rules: NDArray[np.integer[Any]], offsets: NDArray[np.integer[Any]]) -> Forest:
        """Return the expressions that many leftmost derivations end with: the inverse of `derivations`."""
        given = row_of_integers(rules, "rules", GrammarError)
        begins = row_of_integers(offsets, "offsets", GrammarError)
        if len(begins) == 0 or begins[0] != 0 or begins[-1] != len(given) or np.any(np.diff(begins) < 0):
            raise GrammarError(f"offsets must rise from 0 to the number of rules, {len(given)}")
        found: list[Expr] = []
        for begin, end in pairwise(begins.tolist()):
            own = given[begin:end].tolist()
            tokens = tokens_of(own, self._templates, self.start)
            if tokens is None:
                place = f"derivation {len(found)}: " if len(begins) > 2 else ""
                raise GrammarError(place + misfit(own, self.rules, self.start))
            found.append(Expr.trusted(self.library, tokens))
        return Forest.from_exprs(found, self.library)

    def guided_derivations(self, scores: NDArray[np.floating[Any]]) -> tuple[Derivations, NDArray[np.int64]]:
        """Return derivations by the best-scored rules, and the positions of those that are complete.

        `scores` are by derivation, step and rule; derivations that are incomplete after the last step are left out.
        """
        if scores.ndim != 3 or scores.shape[2] != len(self.rules):
            raise GrammarError(f"scores must have the shape (n, steps, {len(self.rules)}), not {scores.shape}")
        return guided(scores.astype(np.float32), self._templates, self.start)

    @cached_property
    def _templates(self) -> list[Template]:
        return [template_of(rule, pattern) for rule, pattern in zip(self.rules, self._patterns, strict=True)]


def _unreachable(names: Sequence[str]) -> str:
    return f"no derivation from the start uses {', '.join(map(repr, names))}"

"""Probabilistic grammars of expressions: the text format, drawing, probabilities and derivations."""

from edhie.grammar.loading import load, names
from edhie.grammar.pcfg import PCFG
from edhie.grammar.rules import Nonterminal, Rule
from edhie.grammar.universal import universal_grammar

__all__ = ["PCFG", "Nonterminal", "Rule", "load", "names", "universal_grammar"]

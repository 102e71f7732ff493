"""Benchmarks: problems as data, methods by name, runs that can be stopped, and reports."""

from edhie.bench.problem import Problem, benchmark_names, load_problems
from edhie.bench.reading import ProblemError, Variable

__all__ = ["Problem", "ProblemError", "Variable", "benchmark_names", "load_problems"]

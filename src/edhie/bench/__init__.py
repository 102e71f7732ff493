"""Benchmarks: problems as data, methods by name, runs that can be stopped, and reports."""

from edhie.bench.methods import METHODS, Method
from edhie.bench.problem import Problem, benchmark_names, load_problems
from edhie.bench.reading import ProblemError, Variable
from edhie.bench.runner import Plan, run_benchmark
from edhie.bench.task import Settings

__all__ = [
    "METHODS",
    "Method",
    "Plan",
    "Problem",
    "ProblemError",
    "Settings",
    "Variable",
    "benchmark_names",
    "load_problems",
    "run_benchmark",
]

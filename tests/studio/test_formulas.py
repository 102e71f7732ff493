"""Formulas as they are typed: read in two notations, faults with their place, and bombs answered in time."""

from __future__ import annotations

import time
from typing import Any

import pytest

from edhie.studio import studio
from edhie.studio.answers.formulas import check
from serving import Client

NAMES = ["t", "dose (mg)", "exp"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("3*t^2 + dose_mg", "3*t^2 + dose_mg"),
        (r"\frac{t}{1 + t}", "t/(1 + t)"),
        ("y = c*t", "c*t"),
        ("f(t) = c*t", "c*t"),
        (r"T_{max} = c \cdot t", "c*t"),
        ("  -t ", "-t"),
    ],
)
def test_both_notations(text: str, plain: str) -> None:
    found = check(text, "formula", NAMES)
    assert (found["ok"], found["text"]) == (True, plain)
    assert found["mathml"].startswith("<m")
    assert set(found["variables"]) <= {"t", "dose_mg"}


@pytest.mark.parametrize(
    ("text", "start", "length"),
    [
        ("t + sinn(t)", 4, 4),
        ("y = t + zz", 8, 2),
        ("t +", 3, 1),
        ("(t", 0, 1),
        ("t\n + q", 5, 1),
        (r"\frac{t}{", 8, 1),
        ("", 0, 1),
    ],
)
def test_a_fault_has_its_place(text: str, start: int, length: int) -> None:
    found = check(text, "formula", NAMES)
    assert not found["ok"]
    assert (found["start"], found["length"]) == (start, length)
    assert found["line"] == text[:start].count("\n")


def test_templates() -> None:
    found = check("f(t)*c + g(dose_mg)", "template", NAMES)
    assert found["ok"]
    assert "hole" not in found["mathml"]
    assert "<mi>f</mi>" in found["mathml"]
    assert not check("t + 1", "template", NAMES)["ok"]


def test_formulas_of_a_field() -> None:
    found = check("a*b\n\n# a remark\n\\frac{1}{q}\nsin(\n", "field", NAMES)
    assert [(each["line"], each["ok"]) for each in found["formulas"]] == [(0, True), (3, True), (4, False)]
    assert found["ok"]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 9000 + "t" + ")" * 9000,
        "sin(" * 3000 + "t" + ")" * 3000,
        "-" * 19_000 + "t",
        "9^9^9^9^9^9^9",
        "t^" * 2000 + "t",
        "t+" * 9000 + "t",
        r"\frac{" * 3000,
        "{" * 19_000,
        "t" * 1_000_000,
        "=" * 10_000,
        "1e999999999",
    ],
)  # fmt: skip
def test_bombs_are_answered_in_time(client: Client, text: str) -> None:
    began = time.monotonic()
    answer = client.post("/api/formulas/check", json={"text": text, "kind": "formula", "variables": ["t"]})
    assert answer.status_code in (200, 400, 413, 422)
    assert time.monotonic() - began < 8


def test_the_workshop_is_killed_and_replaced(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studio.SECONDS, "formulas", 0.0)
    given: dict[str, Any] = {"text": "t + t", "kind": "formula", "variables": ["t"]}
    answer = client.post("/api/formulas/check", json=given)
    assert (answer.status_code, "was stopped" in answer.json()["error"]) == (400, True)
    monkeypatch.setitem(studio.SECONDS, "formulas", 20.0)
    assert client.ask("POST", "/api/formulas/check", json=given)["ok"]


def test_columns_have_the_names_of_equations() -> None:
    columns = ["dose", "substrate (mM)", "exp"]
    for text in ("dose", "dose*("):
        assert check(text, "formula", columns)["names"] == ["dose", "substrate_mM", "exp_"]

"""What can be chosen on the page is what there is."""

from __future__ import annotations

import json

from edhie.expr.exports import FORMATS
from edhie.expr.symbols import OPERATORS
from edhie.fit.generator import answer_library, generator_of
from edhie.fit.settings import NOISES, SELECTIONS, Settings
from edhie.studio import question
from edhie.studio.answers.equations import MARKDOWN


def test_all_operators_are_there() -> None:
    assert set(question.OPERATOR_NAMES) == set(OPERATORS)
    assert len(question.OPERATOR_NAMES) == len(OPERATORS)
    usual = answer_library(generator_of(None, 3), strict=False)
    assert set(question.usual_operators()) == {each.name for each in usual.symbols if each.kind == "operator"}


def test_all_formats_are_there() -> None:
    assert set(question.EXPORTS) - {MARKDOWN} <= set(FORMATS)
    for name, (_, suffix) in question.EXPORTS.items():
        assert name == MARKDOWN or suffix == FORMATS[name].extension


def test_choices_of_a_question_are_those_of_the_settings() -> None:
    assert (question.NOISES, question.SELECTIONS) == (NOISES, SELECTIONS)
    assert Settings.max_time == question.MAX_TIME


def test_the_setup_is_json() -> None:
    found = question.setup({"bytes": 1, "rows": 2, "columns": 3})
    assert json.loads(json.dumps(found)) == found
    assert {"general-1", "general-6", "nguyen-1"} <= {each["id"] for each in found["models"]}
    assert all(question.example_file(each["id"]).is_file() for each in found["examples"])

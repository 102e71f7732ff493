"""Bringing data: dropped, chosen, pasted, an example; problems are named with their cell, and can be mended."""

from __future__ import annotations

from typing import Any

from browsing import ROWS, TABLE, bring, expect

DROP = """([text, name]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, {type: "text/csv"}));
    const drop = new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true});
    document.querySelector(".drop").dispatchEvent(drop);
}"""


def shown(page: Any) -> None:
    expect(page.get_by_text(f"{ROWS} rows, 3 columns")).to_be_visible()


def test_a_file_that_is_dropped_or_chosen_or_pasted_is_shown_column_by_column(page: Any) -> None:
    page.evaluate(DROP, [TABLE, "plants.csv"])
    shown(page)
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="dose", exact=True))
    expect(row).to_contain_text("1 to 5")
    expect(row.get_by_role("img")).to_have_attribute("aria-label", "Histogram from 1 to 5")
    expect(page.get_by_role("radio", name="Explain level")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Use dose")).to_be_checked()

    page.get_by_role("button", name="Use another table").click()
    bring(page)
    shown(page)

    page.get_by_role("button", name="Use another table").click()
    page.get_by_role("textbox", name="Cells").fill(TABLE.replace(",", "\t"))
    page.get_by_role("button", name="Use these cells").click()
    shown(page)


def test_target_is_drawn_against_any_column_and_keys_read_the_points(page: Any) -> None:
    bring(page)
    chart = page.get_by_role("group", name="level against dose")
    points = chart.get_by_role("slider")
    expect(points).to_have_attribute("aria-valuemax", str(ROWS))
    page.get_by_label("Column on the horizontal axis").select_option("hours")
    points = page.get_by_role("group", name="level against hours").get_by_role("slider")
    points.focus()
    page.keyboard.press("End")
    expect(points).to_have_attribute("aria-valuenow", str(ROWS))
    expect(page.locator(".tooltip")).to_contain_text("hours 5.75")
    page.keyboard.press("Escape")
    expect(page.locator(".tooltip")).to_be_hidden()


def test_a_cell_that_is_no_number_is_named_and_its_rows_are_left_out(page: Any) -> None:
    bring(page, TABLE.replace("\n2,0.25,", "\nlow,0.25,", 1))
    problem = page.locator(".message.warn").filter(has_text="low")
    expect(problem).to_contain_text("row 3 of column “dose”")
    problem.get_by_role("button", name="Take “low” for missing, and leave these rows out").click()
    expect(page.locator(".message.warn")).to_have_count(0)
    expect(page.get_by_text(f"{ROWS - 1} of {ROWS} rows, 3 columns")).to_be_visible()
    page.get_by_role("checkbox", name="Use dose").uncheck()  # it had the gap
    shown(page)


def test_a_question_is_kept_when_a_cell_is_repaired(page: Any) -> None:
    bring(page, TABLE.replace("\n2,0.25,", "\nlow,0.25,", 1))
    page.get_by_role("radio", name="other").check()
    page.get_by_label("Minutes").fill("2,5")
    page.get_by_text("What you know already").click()
    page.get_by_label("A formula to start from").fill("c*dose + c")
    page.get_by_label("Formulas of your field").fill("a*exp(-b/t)")
    page.get_by_text("Operators", exact=False).first.click()
    page.get_by_role("button", name="Waves: none").click()
    page.get_by_text("Name and noise").click()
    page.get_by_label("Name of this run").fill("greenhouse")
    page.get_by_label("How your measurements scatter").select_option("counts")
    page.get_by_role("button", name="Take “low” for missing, and leave these rows out").click()
    expect(page.locator(".message.warn")).to_have_count(0)
    expect(page.get_by_label("A formula to start from")).to_be_visible()
    asked = []
    page.route("**/api/runs", lambda route: (asked.append(route.request.post_data_json), route.abort()))
    page.get_by_role("button", name="Find equations").click()
    expect(page.get_by_role("alert")).to_be_visible()
    (question,) = asked
    assert question["max_time"] == 150
    assert question["guesses"] == ["c*dose + c"]
    assert question["field"] == "a*exp(-b/t)"
    assert "+" in question["operators"]
    assert "sin" not in question["operators"]
    assert (question["name"], question["noise"]) == ("greenhouse", "counts")
    assert question["options"]["missing"] == "low"


def test_a_formula_to_improve_and_the_usual_operators_are_kept(page: Any) -> None:
    bring(page, TABLE.replace("\n2,0.25,", "\nlow,0.25,", 1))
    page.get_by_role("radio", name="improve a formula that I have").check()
    page.get_by_label("Your formula").fill("c*dose")
    page.get_by_role("radio", name="5 min").check()
    page.get_by_role("button", name="Take “low” for missing, and leave these rows out").click()
    expect(page.locator(".message.warn")).to_have_count(0)
    expect(page.get_by_label("Your formula")).to_have_value("c*dose")
    expect(page.get_by_role("radio", name="5 min")).to_be_checked()
    asked = []
    page.route("**/api/runs", lambda route: (asked.append(route.request.post_data_json), route.abort()))
    page.get_by_role("button", name="Revise my formula").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert (asked[0]["kind"], asked[0]["formula"], asked[0]["max_time"]) == ("revise", "c*dose", 300)
    assert "operators" not in asked[0]


def test_an_example_needs_one_press_more(page: Any) -> None:
    page.get_by_role("button", name="Orbits of planets and moons").click()
    expect(page.get_by_text("Find equations for period from axis and mass.")).to_be_visible()
    expect(page.get_by_role("button", name="Find equations")).to_be_enabled()


def test_what_is_no_table_is_refused_with_a_reason(page: Any) -> None:
    for content, name, message in (
        (b"", "empty.csv", "empty.csv is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", "picture.csv", "picture"),
        (b"PK\x03\x04broken", "broken.xlsx", "broken.xlsx"),
        ((",".join(f"x{k}" for k in range(5000)) + "\n" + ",".join("1" * 5000)).encode(), "wide.csv", "columns"),
    ):
        page.set_input_files("input[type=file]", {"name": name, "mimeType": "text/csv", "buffer": content})
        expect(page.get_by_role("alert")).to_contain_text(message)
    bring(page)  # and the next one is read
    shown(page)


def test_a_file_that_is_too_large_is_not_even_sent(page: Any) -> None:
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    script = """() => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(101_000_000)], "large.csv"));
        document.querySelector(".drop").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));
    }"""
    page.evaluate(script)
    expect(page.get_by_role("alert")).to_contain_text("large.csv has 101 MB, and the studio reads at most 100 MB")
    assert sent == []


def test_names_and_cells_are_shown_as_text(page: Any) -> None:
    name = '<img src=x onerror="document.title=1">'
    bring(page, TABLE.replace("dose", '"' + name.replace('"', '""') + '"', 1))
    expect(page.get_by_role("rowheader", name=name)).to_be_visible()
    assert page.locator("main img").count() == 0

"""A real search: the studio finds what `edhie fit` finds, and its folder is one of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from edhie.fit import Settings, discover, read_file
from edhie.fit.run_folder import load
from serving import serving

EVALUATIONS = 200


def test_the_studio_finds_what_the_command_line_finds(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = rng.uniform(0.5, 3.0, (50, 2))
    table = tmp_path / "measured.csv"
    noisy = rows[:, 0] ** 2 / rows[:, 1] + 0.02 * rng.standard_normal(50)
    np.savetxt(table, np.column_stack([rows, noisy]), delimiter=",", header="a,b,y", comments="")
    with serving(tmp_path / "studio") as client:
        upload = client.upload(table.read_bytes(), "measured.csv")["id"]
        question = {"table": upload, "target": "y", "features": ["a", "b"], "evaluations": EVALUATIONS, "seed": 1}
        run = client.ask("POST", "/api/runs", 201, json=question)["id"]
        events = client.events(f"/api/runs/{run}/events", until=lambda kind, data: kind == "done", seconds=60)
        told = client.ask("GET", f"/api/runs/{run}/equations")
        listed = client.ask("GET", f"/api/runs/{run}")
    kinds = {kind for kind, _ in events}
    assert kinds == {"state", "look", "progress", "done"}
    states = [data["state"] for kind, data in events if kind == "state"]
    assert states[0] in ("starting", "waiting")
    assert states[-1] == listed["state"] == "finished"
    alone = discover(read_file(table, "y").problem, Settings(max_evaluations=EVALUATIONS, max_time=None, seed=1))
    assert [each["text"] for each in told["equations"]] == [each.text() for each in alone.equations]
    kept = load(tmp_path / "studio" / run)
    assert [each.text(None) for each in kept.equations] == [each.text(None) for each in alone.equations]
    last = [data for kind, data in events if kind == "progress"][-1]
    assert last["executed"] == kept.result.counts.executed
    shown = [each["error"] for each in last["front"] if not each.get("is_beaten")]
    assert shown == kept.result.front.errors.tolist()

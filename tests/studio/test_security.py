"""Only the page of the server may talk to it; what others send is refused, and nothing of theirs becomes a path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from edhie.studio.app import STATIC
from edhie.studio.runs import Shelf
from edhie.studio.security import POLICY, Access, kept_secret
from serving import Client


@pytest.fixture(scope="module")
def access(client: Client) -> Access:
    return client.access


@pytest.fixture
def page(access: Access) -> Iterator[httpx.Client]:
    """A browser without a cookie."""
    with httpx.Client(base_url=access.address, follow_redirects=False) as found:
        yield found


@pytest.fixture
def known(access: Access) -> dict[str, str]:
    """The headers of the page itself."""
    return {"cookie": f"{access.cookie_name}={access.cookie}", "origin": access.address.rstrip("/")}


def test_the_token_becomes_a_cookie(page: httpx.Client, access: Access) -> None:
    assert page.get("/").status_code == 401
    assert page.get("/", params={"token": "wrong"}).status_code == 403
    entered = page.get("/", params={"token": access.token})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert access.token not in cookie


def test_the_address_for_a_browser_works_once(page: httpx.Client, access: Access) -> None:
    code = access.address_for_a_browser().rpartition("=")[2]
    assert [page.get("/", params={"token": code}).status_code for _ in range(2)] == [303, 403]


@pytest.mark.parametrize("path", ["/", "/static/index.html", "/api/setup", "/api/runs", "/api/events", "/nothing"])
def test_nothing_is_told_without_the_cookie(page: httpx.Client, access: Access, path: str) -> None:
    assert page.get(path).status_code == 401
    wrong = {"cookie": f"{access.cookie_name}=guess"}
    assert page.get(path, headers=wrong).status_code == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1:80", "127.0.0.1", "a@127.0.0.1:{port}", "[::1"],
)
def test_another_host_is_refused(page: httpx.Client, access: Access, known: dict[str, str], host: str) -> None:
    answer = page.get("/api/setup", headers=known | {"host": host.format(port=access.port)})
    assert answer.status_code == 403
    assert "another name" in answer.json()["error"]


def test_own_names(page: httpx.Client, access: Access, known: dict[str, str]) -> None:
    for name in ("127.0.0.1", "localhost", "[::1]"):
        host = f"{name}:{access.port}"
        headers = known | {"host": host, "origin": f"http://{host}"}
        assert page.get("/api/setup", headers=headers).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:99"])
def test_another_origin_is_refused(page: httpx.Client, access: Access, known: dict[str, str], origin: str) -> None:
    headers = known | {"origin": origin.format(port=access.port)}
    for method in ("GET", "POST"):
        assert page.request(method, "/api/runs", headers=headers).status_code == 403


def test_every_address_may_be_called_by_numbers_only() -> None:
    access = Access("0.0.0.0", 8321, "secret")
    assert access.is_own_host("192.168.0.7:8321")
    assert access.is_own_host("[fe80::1]:8321")
    assert not access.is_own_host("evil.example:8321")
    assert not Access("192.168.0.7", 8321, "secret").is_own_host("192.168.0.8:8321")


def test_changes_need_an_origin(page: httpx.Client, known: dict[str, str]) -> None:
    del known["origin"]
    for method, path in (("POST", "/api/tables"), ("POST", "/api/runs"), ("DELETE", "/api/runs/a")):
        assert page.request(method, path, headers=known).status_code == 403
        cross = known | {"sec-fetch-site": "cross-site"}
        assert page.request(method, path, headers=cross).status_code == 403
    same = known | {"sec-fetch-site": "same-origin"}
    assert page.delete("/api/runs/a", headers=same).status_code == 404


@pytest.mark.parametrize("path", ["/", "/api/setup", "/api/runs/none", "/static/index.html", "/nothing"])
def test_every_answer_has_the_policy(page: httpx.Client, known: dict[str, str], path: str) -> None:
    for headers in (known, {}):
        answer = page.get(path, headers=headers)
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_an_answer_that_fails_has_the_policy_too(
    page: httpx.Client, known: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(limits: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("edhie.studio.app.setup", fail)
    answer = page.get("/api/setup", headers=known)
    assert (answer.status_code, answer.headers["content-security-policy"]) == (500, POLICY)
    assert "a fault of ours" in answer.json()["error"]


def test_the_page_has_no_inline_scripts_or_styles() -> None:
    pages = [each for each in STATIC.rglob("*") if each.suffix in (".html", ".svg", ".js", ".css")]
    for each in pages:
        text = each.read_text(encoding="utf-8")
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), each
        if each.suffix == ".html":
            assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+\s*=|\sstyle\s*=|<style|javascript:", text), each


@pytest.mark.parametrize("name", ["..%2f..", "%2e%2e", "a%2f..%2f..%2fb", "..%2f..%2fetc", "A", "a_b", "-", "a%00b"])
def test_ids_are_no_paths(page: httpx.Client, known: dict[str, str], name: str) -> None:
    for path in (f"/api/runs/{name}", f"/api/tables/{name}", f"/api/runs/{name}/folder.zip", f"/static/{name}/app.py"):
        assert page.get(path, headers=known).status_code == 404, path
    assert page.get("/static/%2e%2e/app.py", headers=known).status_code == 404


def test_a_folder_from_a_stranger_names_no_files(tmp_path: Path) -> None:
    run = tmp_path / "theirs"
    (run / "studio").mkdir(parents=True)
    good: dict[str, Any] = {
        "format": 1, "name": "n", "kind": "fit", "created": "2026", "queued": 5, "wanted": "pause", "ended": None,
        "question": {"target": "y"}, "table": "table.csv",
    }  # fmt: skip

    def is_own(**changes: Any) -> bool:
        (run / "studio" / "question.json").write_text(json.dumps(good | changes))
        return Shelf(tmp_path).runs["theirs"].is_own

    assert is_own()
    assert not is_own(table="../../../etc/passwd")
    assert not is_own(question={"target": ["--out=/"]})
    assert not is_own(kind="corpus")
    assert not is_own(ended={"how": "<script>"})


def test_the_secret_is_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    first = kept_secret(path)
    assert (kept_secret(path), path.stat().st_mode & 0o777) == (first, 0o600)
    path.chmod(0o644)
    assert kept_secret(path) != first
    assert path.stat().st_mode & 0o777 == 0o600
    path.unlink()
    target = tmp_path / "other"
    target.write_text("x" * 40)
    path.symlink_to(target)
    assert kept_secret(path) != "x" * 40
    assert target.read_text() == "x" * 40

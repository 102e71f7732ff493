"""Connecting to Dask clusters: wrong addresses are told soon and in one line; a cluster of this machine stays on it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from edhie.dask_cluster import LOCAL, DaskCluster
from edhie.errors import SearchError

pytest.importorskip("distributed")


@contextmanager
def server(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """A program that is no scheduler, at the address that is returned."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"


def fault_at(address: str) -> str:
    """The error of an address, which has to come soon after the time for an answer."""
    since = time.monotonic()
    with pytest.raises(SearchError) as error:
        DaskCluster(address)
    assert time.monotonic() - since < 2
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edhie.dask_cluster.CONNECT_SECONDS", 0.4)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("tcp://127.0.0.1:1", "tcp://127.0.0.1:1; check that it runs"),
        ("localhost", "localhost: missing port number"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1: unknown address scheme 'http'"),
        ("tls://127.0.0.1:1", "tls://127.0.0.1:1: TLS expects"),
        ("", "an empty address: missing port number"),
    ],
)
@pytest.mark.usefixtures("short")
def test_wrong_addresses_are_told(address: str, reason: str) -> None:
    assert fault_at(address).startswith(f"no Dask scheduler answers at {reason}")


@pytest.mark.parametrize(
    "answer",
    [lambda connection: time.sleep(3), lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")],
    ids=["silent", "web"],
)
@pytest.mark.usefixtures("short")
def test_other_programs_are_told(answer: Callable[[socket.socket], object]) -> None:
    with server(answer) as address:
        assert fault_at(address).startswith(f"no Dask scheduler answers at {address}; check that it runs")


# -- a cluster of this machine --------------------------------------------------------------


@pytest.fixture(scope="module")
def local() -> Iterator[DaskCluster]:
    with closing(DaskCluster(LOCAL, 1)) as found:
        yield found


def test_a_cluster_of_this_machine_listens_on_it_alone(local: DaskCluster) -> None:
    import psutil

    def listening() -> list[str]:
        return [each.laddr.ip for each in psutil.Process().net_connections() if each.status == psutil.CONN_LISTEN]

    places = {"scheduler": listening(), **local.on_workers(listening)}
    assert len(places) == 2
    assert all(places.values())
    assert {ip for found in places.values() for ip in found} == {"127.0.0.1"}


def test_the_address_of_a_worker_is_told(local: DaskCluster) -> None:
    (worker,) = local.on_workers(int)
    assert "this is the address of a worker" in fault_at(worker)


def test_a_client_in_a_running_event_loop(local: DaskCluster) -> None:
    """As in a notebook."""

    async def count() -> Any:
        with closing(DaskCluster(local.address)) as cluster:
            return cluster.n_workers

    assert asyncio.run(count()) == 1

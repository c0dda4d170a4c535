"""Lines to a table on a server, for the tests: seats taken, and messages received."""

from __future__ import annotations

import json
import time

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tests.browser import Server

THREE = {"kind0": "me", "kind1": "browser", "kind2": "regular", "name0": "Ann", "name1": "Bob", "name2": "Rosa"}
ALONE = {"kind0": "me", "kind1": "regular", "name0": "Ann"}


def room_at(server: Server, path: str):
    return server.room(path)


def sit_down(server: Server, path: str, seat: int, name: str):
    with httpx.Client(base_url=server.address) as client:
        assert client.post(f"{path}/join", data={"seat": str(seat), "name": name}).status_code == 303
        return client.cookies


def receive(socket: ClientConnection, kind: str) -> dict:
    while True:
        message = json.loads(socket.recv(timeout=60))
        if message["type"] == kind:
            return message


def texts_until_closed(socket: ClientConnection) -> set[str]:
    """The texts of the messages that come until the server closes; fails if it does not."""
    texts = set()
    with pytest.raises(ConnectionClosed):  # noqa: PT012
        while True:
            texts.add(json.loads(socket.recv(timeout=60)).get("text"))
    return texts


def awaited(server: Server, path: str, seat: int) -> None:
    """Wait until the table asks a seat."""
    for _ in range(1200):
        if seat in room_at(server, path).waiting_for:
            return
        time.sleep(0.05)
    raise AssertionError(f"seat {seat} is never asked")

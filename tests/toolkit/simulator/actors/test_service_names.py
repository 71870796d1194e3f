"""How a real controller outside the cluster comes from the name of a Service to a pod's program."""

import socket
import threading
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.lab import eventually
from toolkit.simulator.actors.api import SERVICE
from toolkit.simulator.actors.service_names import ServiceNames
from toolkit.simulator.actors.service_network import ServiceNetwork

REGISTRY: dict[str, Any] = {
    "metadata": {"name": "mirror", "namespace": "openshift-marketplace"},
    "spec": {"clusterIP": "172.30.1.2", "ports": [{"name": "grpc", "port": 50051}]},
}
SLICE = {
    "ports": [{"name": "grpc", "port": 50051}],
    "endpoints": [{"addresses": ["10.128.0.7"], "conditions": {"ready": True}}],
}
SUCCEEDED, REFUSED = 0, 5


class _Api:
    def list(self, kind: Any, *_: object) -> Any:
        return {"items": [REGISTRY if kind is SERVICE else SLICE]}


@pytest.fixture
def proxy() -> ServiceNames:
    """Serve the proxy of a cluster with one Service, whose pod's program greets."""
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=lambda: server.accept()[0].sendall(b"hello"), daemon=True).start()
    listening = {("10.128.0.7", 50051): server.getsockname()[1]}
    runtime: Any = SimpleNamespace(identity=lambda _: _Api(), listening=listening)
    names = ServiceNames(ServiceNetwork(runtime))
    names.start()
    return names


def _connect(port: int) -> socket.socket:
    caller = socket.socket()
    caller.settimeout(10)

    def connected() -> bool:
        with suppress(OSError):
            caller.connect(("127.0.0.1", port))
            return True
        return False

    eventually(connected, "the proxy does not answer")
    return caller


@pytest.mark.parametrize(
    ("name", "port", "reply"),
    [
        (b"mirror.openshift-marketplace.svc", 50051, SUCCEEDED),
        (b"mirror.openshift-marketplace.svc", 80, REFUSED),
        (b"mirror.elsewhere.svc", 50051, REFUSED),
        (b"127.0.0.1", 50051, REFUSED),
    ],
)
def test_a_name_leads_to_the_program_of_a_ready_pod(proxy: ServiceNames, name: bytes, port: int, reply: int) -> None:
    """A Service's own port is connected; another port, another Service and any other host are refused."""
    with _connect(proxy.port) as caller:
        caller.sendall(b"\x05\x01\x00")
        assert caller.recv(2) == b"\x05\x00"
        caller.sendall(b"\x05\x01\x00\x03" + bytes([len(name)]) + name + port.to_bytes(2, "big"))
        answer = b""
        while len(answer) < 10:
            answer += caller.recv(10 - len(answer))
        assert answer[:2] == bytes([5, reply])
        assert caller.recv(5) == (b"hello" if reply == SUCCEEDED else b"")


def test_what_asks_for_an_address_is_disconnected(proxy: ServiceNames) -> None:
    """Only names are served: nobody reaches an address through it."""
    with _connect(proxy.port) as caller:
        caller.sendall(b"\x05\x01\x00" + b"\x05\x01\x00\x01" + bytes([127, 0, 0, 1, 0, 80]))
        assert caller.recv(2) == b"\x05\x00"
        with suppress(ConnectionResetError):
            assert caller.recv(1) == b""

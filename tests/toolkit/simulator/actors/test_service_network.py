"""How the API server comes from the address of a Service to a pod's program."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.lab import eventually
from toolkit.simulator.actors.api import SERVICE
from toolkit.simulator.actors.service_network import Refused, ServiceNetwork, endpoint
from toolkit.simulator.home import SERVICE_SOCKET

MANAGER: dict[str, Any] = {
    "metadata": {"name": "manager", "namespace": "kubeflow-system"},
    "spec": {"clusterIP": "172.30.1.2", "ports": [{"name": "webhook", "port": 443, "targetPort": 9443}]},
}
PORTS = [{"name": "webhook", "port": 9443}]


def _slices(*, ready: bool) -> list[dict[str, Any]]:
    return [{"ports": PORTS, "endpoints": [{"addresses": ["10.128.0.7"], "conditions": {"ready": ready}}]}]


def test_the_address_of_a_service_leads_to_a_ready_pod() -> None:
    """Without a ready pod, or for a port that the Service lacks, the call is refused and names the Service."""
    ready = endpoint([MANAGER], lambda *_: _slices(ready=True), "172.30.1.2", 443)
    assert ready == ("10.128.0.7", 9443)
    with pytest.raises(Refused, match="Service kubeflow-system/manager has no ready endpoint"):
        endpoint([MANAGER], lambda *_: _slices(ready=False), "172.30.1.2", 443)
    with pytest.raises(Refused, match="Service kubeflow-system/manager has no port 80"):
        endpoint([MANAGER], lambda *_: _slices(ready=True), "172.30.1.2", 80)
    assert endpoint([MANAGER], lambda *_: [], "10.128.0.9", 9443) == ("10.128.0.9", 9443)


class _Api:
    def list(self, kind: Any, *_: object) -> Any:
        return {"items": [MANAGER] if kind is SERVICE else _slices(ready=True)}


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, int], int]:
    """Serve the proxy in a folder; give what pods serve, which is nothing yet."""
    monkeypatch.chdir(tmp_path)
    runtime: Any = SimpleNamespace(identity=lambda _: _Api(), listening={})
    ServiceNetwork(runtime).start()
    found: dict[tuple[str, int], int] = runtime.listening
    return found


@pytest.fixture
def program() -> Iterator[int]:
    """Give the port of a program that sends back what it gets."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def echo() -> None:
            with server.accept()[0] as connection:
                connection.sendall(connection.recv(100))

        threading.Thread(target=echo, daemon=True).start()
        yield server.getsockname()[1]


def _connect(target: str) -> bytes:
    """Return all that a CONNECT and five bytes after it get back."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(10)

        def connected() -> bool:
            with suppress(OSError):
                caller.connect(SERVICE_SOCKET)
                return True
            return False

        eventually(connected, "the proxy does not answer")
        caller.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        answer = caller.recv(1000)
        if b" 200 " in answer:
            caller.sendall(b"hello")
            caller.shutdown(socket.SHUT_WR)
        while chunk := caller.recv(1000):
            answer += chunk
    return answer


@pytest.mark.parametrize("target", ["172.30.1.2:443", "127.0.0.1:{port}"])
def test_the_api_server_reaches_programs_and_kubelets(
    listening: dict[tuple[str, int], int], program: int, target: str
) -> None:
    """What the API server sends to a Service, or to loopback, arrives, and so does the answer."""
    listening["10.128.0.7", 9443] = program
    assert _connect(target.format(port=program)).endswith(b"\r\n\r\nhello")


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("172.30.1.2:443", "no program listens on port 9443 of the pod with address 10.128.0.7"),
        ("10.128.0.9:80", "no program listens on port 80 of the pod with address 10.128.0.9"),
        ("somewhere:80", "'somewhere' does not appear to be an IPv4 or IPv6 address"),
    ],
)
def test_what_no_program_listens_on_is_refused(target: str, why: str) -> None:
    """A pod that is ready but serves nothing there is a refused connection, with the reason."""
    answer = _connect(target).decode()
    assert answer.startswith("HTTP/1.1 503 connection refused: ")
    assert why in answer

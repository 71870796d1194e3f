"""The network goes in the middle of an update: to the cluster, or to the bucket with the state."""

import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from tests.engine.kit import Cluster, config_map, wait_until
from tests.engine.resilience.kit import LABELS, Kept, s3_url

pytestmark = pytest.mark.engine

COUNT = 12
AT = 4
"""Objects that are there when the connection goes."""


class Proxy:
    """Forwards connections to a port of this host, until it is cut."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._cut = self._mute = False
        self.refused = 0  # connections that came while it was cut
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """Break every connection, and every later one as it comes."""
        self._cut = True
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            _end(connection)

    def mute(self) -> None:
        """Break every connection at its next answer: the request has been carried out, and its answer is lost."""
        self._mute = True

    def mend(self) -> None:
        """Forward again."""
        self._cut = self._mute = False

    def close(self) -> None:
        """End it."""
        self.cut()
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._cut:
                    self.refused += 1
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
                with self._lock:
                    self._open |= {near, far}
                threading.Thread(target=self._pump, args=(near, far, False), daemon=True).start()
                threading.Thread(target=self._pump, args=(far, near, True), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if answers and self._mute:
                    break
                target.sendall(data)
        for connection in (source, target):
            _end(connection)
            with self._lock:
                self._open.discard(connection)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy(target: int) -> Iterator[Proxy]:
    """Give a proxy, which ends with the test."""
    made = Proxy(target)
    try:
        yield made
    finally:
        made.close()


def _declare(stack: Kept, namespace: str) -> None:
    """Declare config maps in four rows, so that some are under way at any moment."""
    things = []
    for number in range(COUNT):
        before = [f"m{number - 4}"] if number >= 4 else []
        made = config_map(f"m{number}", namespace, {"a": "1"}, options={"depends_on": before})
        made["fields"]["metadata"]["labels"] = LABELS
        things.append(made)
    stack.configure(*things)


def _live(api: Cluster, namespace: str) -> dict[str, str]:
    items = api.get(f"/api/v1/namespaces/{namespace}/configmaps")["items"]
    return {
        each["metadata"]["name"]: each["metadata"]["uid"]
        for each in items
        if each["metadata"]["name"] != "kube-root-ca.crt"
    }


def _behind(api: Cluster, way: Proxy, folder: Path) -> Cluster:
    """Return the cluster as it is seen through a proxy."""
    content = yaml.safe_load(api.kubeconfig.read_text())
    for each in content["clusters"]:
        each["cluster"]["server"] = f"https://127.0.0.1:{way.port}"
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(content))
    return Cluster(file, api.context)


def _port(api: Cluster) -> int:
    server = yaml.safe_load(api.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    port = urlsplit(server).port
    assert port
    return int(port)


def _interrupted(stack: Kept, api: Cluster, namespace: str, interrupt: Callable[[], None]) -> "subprocess.Popen[str]":
    engine = stack.start_pulumi("up", "--yes", "--skip-preview")
    wait_until(lambda: len(_live(api, namespace)) >= AT)
    interrupt()
    return engine


def _finish(stack: Kept, api: Cluster, namespace: str) -> None:
    """Repair, refresh and update; every object is there once, the same as before, and in the state."""
    stack.repair(thorough=True)
    before = _live(api, namespace)
    refreshed = stack.refresh()
    assert refreshed.status == 0, refreshed.text
    done = stack.up()
    assert done.status == 0, done.text
    assert before.items() <= _live(api, namespace).items(), "made anew, although they were there"
    _is_whole(stack, api, namespace)


def _is_whole(stack: Kept, api: Cluster, namespace: str) -> None:
    assert set(_live(api, namespace)) == {f"m{number}" for number in range(COUNT)}
    in_state = [each["id"].rpartition("/")[2] for each in stack.resources_of("ConfigMap")]
    assert sorted(in_state) == sorted(f"m{number}" for number in range(COUNT))
    assert not stack.latest.get("pending_operations")
    second = stack.preview("--expect-no-changes")
    assert second.status == 0, second.text


@pytest.mark.parametrize("kept", ["folder"], indirect=True)
@pytest.mark.parametrize("how", ["cut", "mute"])
def test_the_cluster_goes(kept: Kept, api: Cluster, namespace: str, tmp_path: Path, how: str) -> None:
    """After an update that lost the cluster, a repair and an update finish it, also where an answer was lost."""
    with proxy(_port(api)) as way:
        kept.cluster = _behind(api, way, tmp_path)
        _declare(kept, namespace)
        engine = _interrupted(kept, api, namespace, getattr(way, how))
        text, _ = engine.communicate(timeout=120)
        assert engine.returncode != 0, text
        way.mend()
        if how == "mute":
            known = {each["id"].rpartition("/")[2] for each in kept.resources_of("ConfigMap")}
            assert set(_live(api, namespace)) - known, "nothing was lost, so this proves nothing"
        _finish(kept, api, namespace)


def test_the_bucket_goes_for_a_moment(
    api: Cluster, namespace: str, tmp_path: Path, bucket: str, object_store: str
) -> None:
    """An update outlives a bucket that does not answer for a moment."""
    with proxy(urlsplit(object_store).port or 0) as way:
        stack = Kept.make(tmp_path / "project", api, s3_url(bucket, f"http://127.0.0.1:{way.port}"))
        _declare(stack, namespace)
        engine = _interrupted(stack, api, namespace, way.cut)
        refused = way.refused
        wait_until(lambda: way.refused > refused)
        way.mend()
        text, _ = engine.communicate(timeout=120)
        assert engine.returncode == 0, text
        _is_whole(stack, api, namespace)


def test_the_bucket_goes_and_so_does_the_engine(
    api: Cluster, namespace: str, tmp_path: Path, bucket: str, object_store: str
) -> None:
    """After a killed update that could not write its state, a repair and an update finish it."""
    with proxy(urlsplit(object_store).port or 0) as way:
        stack = Kept.make(tmp_path / "project", api, s3_url(bucket, f"http://127.0.0.1:{way.port}"))
        _declare(stack, namespace)
        engine = _interrupted(stack, api, namespace, way.cut)
        wait_until(lambda: way.refused > 0)
        engine.kill()
        engine.communicate()
        way.mend()
        assert stack.backend.locks(stack.name)
        _finish(stack, api, namespace)

"""A state with objects, and no note of the cluster that they are on."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from cli import identity
from cli.backends.backend import Backend, of_folder
from cli.engine import Engine
from cli.errors import Problem
from cli.identity import ForeignClusterError
from cli.live import Cluster, RefusedError
from cli.stack import read


class Holding:
    """A cluster with objects, by name."""

    def __init__(self, **uids: str) -> None:
        self.context, self.server, self.uids, self.asked = "admin", "https://api:6443", uids, 0

    def get(self, path: str) -> dict[str, Any]:
        """Answer kube-system."""
        assert path.endswith("kube-system")
        return {"metadata": {"uid": "1"}}

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Give an object."""
        assert (api_version, namespace) == ("v1", "")
        assert kind in {"Namespace", "PersistentVolume"}
        self.asked += 1
        if self.uids.get(name) == "refused":
            raise RefusedError("it refuses", "", "403")
        return {"metadata": {"uid": self.uids[name]}} if name in self.uids else None


class Exporting:
    """An engine whose state nobody else can read."""

    def __init__(self, latest: Mapping[str, Any] | None) -> None:
        self.latest, self.stack = latest, "dev"

    def call(self, *words: str) -> str:
        """Export, and list no tags."""
        if self.latest is None:
            raise Problem("error: no stack named 'dev' found")
        return json.dumps({"deployment": self.latest}) if words[1] == "export" else "{}"


def _object(name: str, uid: str = "", kind: str = "Namespace") -> dict[str, Any]:
    token = f"kubernetes:core/v1:{kind}"
    metadata = {"name": name.removeprefix("patched-")}
    outputs = {"metadata": {**metadata, "uid": uid or f"uid-{name}"}}
    return {
        "urn": f"urn:pulumi:dev::hpc::{token}::{name}",
        "type": token,
        "inputs": {"metadata": metadata},
        "outputs": outputs,
    }


def _backend(folder: Path, *resources: Mapping[str, Any]) -> Backend:
    backend = of_folder(folder)
    content = json.dumps({"checkpoint": {"latest": {"resources": list(resources)}}})
    backend.store.write(".pulumi/stacks/hpc/dev.json", content.encode())
    return backend


def _require(cluster: Holding, backend: Backend | None, engine: Exporting | None = None) -> identity.Standing:
    return identity.require(read("dev"), cast("Cluster", cluster), backend, cast("Engine | None", engine))


@pytest.mark.parametrize("there", [{}, {"a": "of somebody else"}, {"a": "refused"}])
def test_none_of_its_objects_is_there(tmp_path: Path, there: Mapping[str, str]) -> None:
    """All of a stack made a second time on another cluster, which is then noted as its own."""
    with pytest.raises(ForeignClusterError, match="none of those that were looked for is here"):
        _require(Holding(**there), _backend(tmp_path, _object("a")))


def test_some_of_its_objects_are_there(tmp_path: Path) -> None:
    """A stack of before we noted clusters that is refused on its own, because a namespace was deleted by hand."""
    objects = [_object("gone"), *(_object(f"n{number}") for number in range(20)), _object("v", kind="PersistentVolume")]
    cluster = Holding(v="uid-v")
    assert _require(cluster, _backend(tmp_path, *objects)).noted is None
    assert cluster.asked < 10, "one request for each object of a stack of a thousand"


@pytest.mark.parametrize("kept", [[], [{"urn": "urn:x", "type": "pulumi:pulumi:Stack"}]])
def test_a_state_about_nothing(tmp_path: Path, kept: list[Mapping[str, Any]]) -> None:
    """A first update that is refused because nothing is there yet."""
    cluster = Holding()
    assert _require(cluster, _backend(tmp_path, *kept)).noted is None
    assert cluster.asked == 0


def test_patches_say_nothing(tmp_path: Path) -> None:
    """A node of the same name, whose UID a patch has noted, and that was installed anew."""
    backend = _backend(tmp_path, _object("patched-n", "before", "NamespacePatch"))
    assert _require(Holding(n="now"), backend).noted is None


def test_where_only_the_engine_can_read() -> None:
    """The same with Pulumi Cloud, where tags were never written."""
    assert _require(Holding(), None, Exporting(None)).noted is None
    assert _require(Holding(a="uid-a"), None, Exporting({"resources": [_object("a")]})).noted is None
    with pytest.raises(ForeignClusterError, match="its state has objects"):
        _require(Holding(), None, Exporting({"resources": [_object("a")]}))


def test_a_damaged_state_can_be_restored(tmp_path: Path) -> None:
    """`restore` refused because the state is damaged, where its tags are lost, too."""
    backend = _backend(tmp_path)
    backend.store.write(".pulumi/stacks/hpc/dev.json", b"{")
    assert _require(Holding(), backend).noted is None

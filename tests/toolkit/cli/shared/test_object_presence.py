"""A state with objects, and no note of the cluster that they are on."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.states import stored
from toolkit.cli.shared import identity
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.identity import ForeignClusterError
from toolkit.cli.shared.stack import read


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
    """An engine whose state can be read through it alone."""

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
    return stored(folder, {"resources": list(resources)})


def _require(cluster: Holding, backend: Backend | None, engine: Exporting | None = None) -> identity.ClusterMatch:
    return identity.require(read("dev"), cast("Cluster", cluster), backend, cast("Engine | None", engine))


@pytest.mark.parametrize("there", [{}, {"a": "of somebody else"}, {"a": "refused"}])
def test_none_of_its_objects_is_there(tmp_path: Path, there: Mapping[str, str]) -> None:
    """A cluster with none of the state's objects is refused."""
    with pytest.raises(ForeignClusterError, match="none of those that were checked is on this cluster"):
        _require(Holding(**there), _backend(tmp_path, _object("a")))


def test_some_of_its_objects_are_there(tmp_path: Path) -> None:
    """A stack without a recorded cluster is accepted where some of its objects exist, with few requests."""
    objects = [_object("gone"), *(_object(f"n{number}") for number in range(20)), _object("v", kind="PersistentVolume")]
    cluster = Holding(v="uid-v")
    assert _require(cluster, _backend(tmp_path, *objects)).noted is None
    assert cluster.asked < 10, "one request for each object of a stack of a thousand"


@pytest.mark.parametrize("kept", [[], [{"urn": "urn:x", "type": "pulumi:pulumi:Stack"}]])
def test_a_state_about_nothing(tmp_path: Path, kept: list[Mapping[str, Any]]) -> None:
    """A state without objects is accepted: it is a first update."""
    cluster = Holding()
    assert _require(cluster, _backend(tmp_path, *kept)).noted is None
    assert cluster.asked == 0


def test_patches_say_nothing(tmp_path: Path) -> None:
    """Patches do not count: their object may have been created again with another UID."""
    backend = _backend(tmp_path, _object("patched-n", "before", "NamespacePatch"))
    assert _require(Holding(n="now"), backend).noted is None


def test_where_only_the_engine_can_read() -> None:
    """The same applies to Pulumi Cloud, whose state only the engine can read."""
    assert _require(Holding(), None, Exporting(None)).noted is None
    assert _require(Holding(a="uid-a"), None, Exporting({"resources": [_object("a")]})).noted is None
    with pytest.raises(ForeignClusterError, match="its state has objects"):
        _require(Holding(), None, Exporting({"resources": [_object("a")]}))


def test_a_damaged_state_can_be_restored(tmp_path: Path) -> None:
    """A damaged state is not refused, so that `restore` can repair it."""
    backend = _backend(tmp_path)
    backend.store.write(".pulumi/stacks/hpc/dev.json", b"{")
    assert _require(Holding(), backend).noted is None

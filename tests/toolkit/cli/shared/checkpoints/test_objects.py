"""What other stacks of a backend have on the same cluster."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.states import store, stored
from toolkit.cli.shared import identity
from toolkit.cli.shared.backends.backend import CLUSTER_UID, Backend, of_folder
from toolkit.cli.shared.checkpoints.interrupted import recover
from toolkit.cli.shared.checkpoints.objects import others_of
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.identity import ForeignClusterError
from toolkit.cli.shared.stack import read

_LABELS = {"app.kubernetes.io/part-of": "hpc"}
_INPUTS = {"metadata": {"name": "s", "namespace": "adas", "labels": _LABELS}}
_LIVE = {"metadata": {"name": "s", "namespace": "adas", "labels": _LABELS, "uid": "1"}}


def _secret(stack: str, **more: Any) -> dict[str, Any]:
    token = "kubernetes:core/v1:Secret"
    return {"urn": f"urn:pulumi:{stack}::hpc::{token}::s", "type": token, "inputs": _INPUTS, **more}


def _write(folder: Path, stack: str, latest: Any, uid: str = "") -> None:
    store(folder, stack, latest, {CLUSTER_UID: uid} if uid else {})


@pytest.mark.parametrize(
    "latest",
    [
        {"resources": [_secret("other", outputs=_LIVE)]},
        {"resources": [_secret("other", outputs=_INPUTS)]},
        {"pending_operations": [{"type": "creating", "resource": _secret("other")}]},
    ],
)
def test_what_another_stack_has_is_not_taken(tmp_path: Path, latest: Any) -> None:
    """An object that another stack's state has, on the same cluster, is not added by a repair."""
    mine = {"deployment": {"pending_operations": [{"type": "creating", "resource": _secret("dev")}]}}
    assert recover(mine, lambda *_: _LIVE, others=others_of("dev", of_folder(tmp_path))).taken == (
        _secret("dev")["urn"],
    )
    _write(tmp_path, "dev", mine["deployment"], uid="here")
    _write(tmp_path, "other", latest)
    found = recover(mine, lambda *_: _LIVE, others=others_of("dev", of_folder(tmp_path)))
    assert (found.taken, found.foreign) == ((), (_secret("dev")["urn"],))
    _write(tmp_path, "other", latest, uid="elsewhere")
    assert recover(mine, lambda *_: _LIVE, others=others_of("dev", of_folder(tmp_path))).taken


def test_a_cluster_scoped_object_of_another_stack_is_not_taken(tmp_path: Path) -> None:
    """The same of a kind without namespaces, into whose inputs the official provider writes one."""
    token = "kubernetes:config.example.com/v1:Pool"
    inputs = {"metadata": {"name": "gpu", "namespace": "default", "labels": _LABELS}}
    live = {"metadata": {"name": "gpu", "labels": _LABELS, "uid": "1"}}
    ours = {"urn": f"urn:pulumi:dev::hpc::{token}::gpu", "type": token, "inputs": inputs}
    theirs = {**ours, "inputs": {"metadata": {"name": "gpu", "labels": _LABELS}}, "outputs": live}
    mine = {"deployment": {"pending_operations": [{"type": "creating", "resource": ours}]}}
    _write(tmp_path, "other", {"resources": [theirs]})
    found = recover(mine, lambda *_: live, others=others_of("dev", of_folder(tmp_path)))
    assert (found.taken, found.foreign) == ((), (ours["urn"],))


def test_what_would_be_created_is_not_taken_from_another_stack(tmp_path: Path) -> None:
    """The same by `./hpc state repair`, which takes what a preview would create."""
    provider = {"urn": "urn:pulumi:dev::hpc::pulumi:providers:kubernetes::k", "type": "x", "id": "1"}
    stack = {"urn": "urn:pulumi:dev::hpc::pulumi:pulumi:Stack::hpc-dev", "type": "pulumi:pulumi:Stack"}
    planned = _secret("dev", parent=stack["urn"], provider=f"{provider['urn']}::1")
    live = {"metadata": {**_LIVE["metadata"], "managedFields": [{"manager": "pulumi-kubernetes-12345678"}]}}
    mine = {"deployment": {"resources": [stack, provider]}}
    assert recover(mine, lambda *_: live, [planned]).taken == (planned["urn"],)
    _write(tmp_path, "other", {"resources": [_secret("other", outputs=_LIVE)]})
    assert recover(mine, lambda *_: live, [planned], others_of("dev", of_folder(tmp_path))).taken == ()


def test_another_object_than_theirs_is_taken(tmp_path: Path) -> None:
    """An object with another UID than another stack's state has is added."""
    mine = {"deployment": {"pending_operations": [{"type": "creating", "resource": _secret("dev")}]}}
    theirs = {"metadata": {**_LIVE["metadata"], "uid": "of before"}}
    _write(tmp_path, "other", {"resources": [_secret("other", outputs=theirs)]})
    assert recover(mine, lambda *_: _LIVE, others=others_of("dev", of_folder(tmp_path))).taken


def test_states_that_cannot_be_read(tmp_path: Path) -> None:
    """A damaged state of another stack refuses the repair; where states cannot be read, none counts."""
    assert others_of("dev", None).objects == {}
    _write(tmp_path, "other", None)
    (tmp_path / ".pulumi/stacks/hpc/other.json").write_text("{")
    with pytest.raises(Problem, match="state of stack other is damaged"):
        others_of("dev", of_folder(tmp_path))


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

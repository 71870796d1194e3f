"""What other stacks of a backend have on the same cluster."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.states import store
from toolkit.cli.shared.backends.backend import CLUSTER_UID, of_folder
from toolkit.cli.shared.checkpoints.interrupted import recover
from toolkit.cli.shared.checkpoints.other_stacks import of
from toolkit.cli.shared.errors import Problem

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
    assert recover(mine, lambda *_: _LIVE, others=of("dev", of_folder(tmp_path))).taken == (_secret("dev")["urn"],)
    _write(tmp_path, "dev", mine["deployment"], uid="here")
    _write(tmp_path, "other", latest)
    found = recover(mine, lambda *_: _LIVE, others=of("dev", of_folder(tmp_path)))
    assert (found.taken, found.foreign) == ((), (_secret("dev")["urn"],))
    _write(tmp_path, "other", latest, uid="elsewhere")
    assert recover(mine, lambda *_: _LIVE, others=of("dev", of_folder(tmp_path))).taken


def test_a_cluster_scoped_object_of_another_stack_is_not_taken(tmp_path: Path) -> None:
    """The same of a kind without namespaces, into whose inputs the official provider writes one."""
    token = "kubernetes:config.example.com/v1:Pool"
    inputs = {"metadata": {"name": "gpu", "namespace": "default", "labels": _LABELS}}
    live = {"metadata": {"name": "gpu", "labels": _LABELS, "uid": "1"}}
    ours = {"urn": f"urn:pulumi:dev::hpc::{token}::gpu", "type": token, "inputs": inputs}
    theirs = {**ours, "inputs": {"metadata": {"name": "gpu", "labels": _LABELS}}, "outputs": live}
    mine = {"deployment": {"pending_operations": [{"type": "creating", "resource": ours}]}}
    _write(tmp_path, "other", {"resources": [theirs]})
    found = recover(mine, lambda *_: live, others=of("dev", of_folder(tmp_path)))
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
    assert recover(mine, lambda *_: live, [planned], of("dev", of_folder(tmp_path))).taken == ()


def test_another_object_than_theirs_is_taken(tmp_path: Path) -> None:
    """An object with another UID than another stack's state has is added."""
    mine = {"deployment": {"pending_operations": [{"type": "creating", "resource": _secret("dev")}]}}
    theirs = {"metadata": {**_LIVE["metadata"], "uid": "of before"}}
    _write(tmp_path, "other", {"resources": [_secret("other", outputs=theirs)]})
    assert recover(mine, lambda *_: _LIVE, others=of("dev", of_folder(tmp_path))).taken


def test_states_that_cannot_be_read(tmp_path: Path) -> None:
    """A damaged state of another stack refuses the repair; where states cannot be read, none counts."""
    assert of("dev", None).objects == {}
    _write(tmp_path, "other", None)
    (tmp_path / ".pulumi/stacks/hpc/other.json").write_text("{")
    with pytest.raises(Problem, match="state of stack other is damaged"):
        of("dev", of_folder(tmp_path))

"""Pending operations of a killed update."""

import copy
import re
from collections.abc import Mapping
from typing import Any

import pytest

from toolkit.cli.shared.checkpoints.interrupted import UNCONFIRMED, recover

LABELS = {"app.kubernetes.io/part-of": "hpc"}


def _resource(kind: str, name: str, version: str = "batch/v1", **more: Any) -> dict[str, Any]:
    token = f"kubernetes:{version}:{kind}"
    metadata = {"name": name, "namespace": "adas", "labels": LABELS}
    return {"urn": f"urn:pulumi:dev::hpc::{token}::{name}", "type": token, "inputs": {"metadata": metadata}, **more}


def _state(*pending: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    operations = [{"type": kind, "resource": resource} for kind, resource in pending]
    return {
        "version": 3,
        "deployment": {"resources": [_resource("Job", "old", id="adas/old")], "pending_operations": operations},
    }


def _cluster(*found: tuple[str, Mapping[str, str]]) -> Any:
    objects = {name: {"metadata": {"name": name, "namespace": "adas", "labels": labels}} for name, labels in found}

    def live(version: str, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        assert (version, kind, namespace) == ("batch/v1", "Job", "adas")
        return objects.get(name)

    return live


def test_create_that_reached_the_cluster_is_taken() -> None:
    """An interrupted create that reached the cluster is added to the state as unconfirmed."""
    state = _state(("creating", _resource("Job", "new")))
    before = copy.deepcopy(state)
    found = recover(state, _cluster(("new", {**LABELS, "other": "label"})))
    taken = found.deployment["deployment"]["resources"][-1]
    assert state == before
    assert (taken["id"], taken["initErrors"]) == ("adas/new", [UNCONFIRMED])
    assert found.deployment["deployment"]["pending_operations"] == []
    assert found.taken == (taken["urn"],)


def test_what_is_taken_has_all_that_was_declared_of_it() -> None:
    """The added resource has all declared inputs, so that the next update does not replace it."""
    spec = {"slotsPerWorker": 8}
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "x"}
    job = _resource("MPIJob", "new", "kubeflow.org/v1alpha2", replacementTrigger=2)
    job["inputs"] |= {"apiVersion": "kubeflow.org/v1alpha2", "kind": "MPIJob", "spec": spec, "data": secret}
    entries = [{"manager": "pulumi-kubernetes", "operation": "Update"}]
    live = {"metadata": {**job["inputs"]["metadata"], "managedFields": entries}, "spec": {"of": "the server"}}
    (taken,) = recover(_only(job), lambda *_: live).deployment["deployment"]["resources"]
    assert taken["inputs"] == job["inputs"]
    assert taken["replacementTrigger"] == 2
    marks = {key: taken["outputs"].pop(key) for key in ("__inputs", "__initialApiVersion", "__fieldManager")}
    assert taken["outputs"] == job["inputs"]
    assert (marks["__inputs"], marks["__initialApiVersion"]) == (job["inputs"], "kubeflow.org/v1alpha2")
    assert re.fullmatch("pulumi-kubernetes-[0-9a-f]{8}", marks["__fieldManager"])


def test_fields_stay_with_the_manager_that_made_them() -> None:
    """The added resource keeps the field manager that created the object."""
    job = _resource("Job", "new")
    live = {"metadata": {**job["inputs"]["metadata"], "managedFields": [{"manager": "pulumi-kubernetes-1a2b3c4d"}]}}
    (taken,) = recover(_only(job), lambda *_: live).deployment["deployment"]["resources"]
    assert taken["outputs"]["__fieldManager"] == "pulumi-kubernetes-1a2b3c4d"


def _only(resource: dict[str, Any]) -> dict[str, Any]:
    return {"deployment": {"pending_operations": [{"type": "creating", "resource": resource}]}}


def test_create_that_did_not_is_cleared() -> None:
    """An interrupted create that did not reach the cluster is cleared."""
    found = recover(_state(("creating", _resource("Job", "new"))), _cluster())
    assert len(found.deployment["deployment"]["resources"]) == 1
    assert (found.taken, len(found.cleared)) == ((), 1)


def test_strangers_are_left_alone() -> None:
    """An object that another client created is not imported."""
    found = recover(_state(("creating", _resource("Job", "new"))), _cluster(("new", {})))
    assert len(found.deployment["deployment"]["resources"]) == 1
    assert len(found.foreign) == 1


def test_an_object_without_labels_is_taken_if_a_provider_made_it() -> None:
    """An object of one's own, whose manifest has no labels, is taken by its field manager; a user's is not."""
    plain = _resource("Job", "own")
    plain["inputs"]["metadata"].pop("labels")
    for manager, taken in (("pulumi-kubernetes-1a2b3c4d", (plain["urn"],)), ("kubectl-create", ())):
        recovery = recover(_state(("creating", plain)), _made("own", manager, {}))
        assert (recovery.taken, recovery.foreign) == (taken, () if taken else (plain["urn"],))


def test_replacement_of_a_known_resource_is_not_taken_twice() -> None:
    """A resource of the state is not added a second time."""
    found = recover(_state(("creating", _resource("Job", "old"))), _cluster(("old", LABELS)))
    assert [resource["urn"] for resource in found.deployment["deployment"]["resources"]].count(found.cleared[0]) == 1


def test_interrupted_replacement_takes_the_place_of_the_old() -> None:
    """An interrupted replacement takes the place of the old resource, ahead of what depends on it."""
    state = _state(("creating", _resource("Job", "old")))
    resources = state["deployment"]["resources"]
    resources[0]["pendingReplacement"] = True
    resources.append(_resource("Job", "dependent", id="adas/dependent"))
    found = recover(state, _cluster(("old", LABELS)))
    names = [resource["urn"].rsplit("::")[-1] for resource in found.deployment["deployment"]["resources"]]
    assert names == ["old", "dependent"]
    assert "pendingReplacement" not in found.deployment["deployment"]["resources"][0]


def test_updates_and_deletes_are_done_again() -> None:
    """Pending updates and deletes are cleared, and left to the next update."""
    found = recover(_state(("updating", _resource("Job", "old")), ("deleting", _resource("Job", "old"))), _cluster())
    assert len(found.cleared) == 2
    assert found.changed


def test_patches_and_components_are_done_again() -> None:
    """Pending patches and components are cleared and not added."""
    component = {"urn": "urn:pulumi:dev::hpc::hpc:nodes:Memlock::m", "type": "hpc:nodes:Memlock"}
    found = recover(_state(("creating", _resource("NodePatch", "n", "core/v1")), ("creating", component)), _cluster())
    assert (found.taken, len(found.cleared)) == ((), 2)


def test_nothing_pending() -> None:
    """A state without pending operations is not changed."""
    assert not recover(_state(), _cluster()).changed
    assert not recover({"version": 3}, _cluster()).changed


PROVIDER = "urn:pulumi:dev::hpc::pulumi:providers:kubernetes::cluster"
STACK = "urn:pulumi:dev::hpc::pulumi:pulumi:Stack::hpc-dev"


def _known() -> dict[str, Any]:
    state = _state()
    resources = state["deployment"]["resources"]
    resources.append({"urn": STACK, "type": "pulumi:pulumi:Stack"})
    resources.append({"urn": PROVIDER, "type": "pulumi:providers:kubernetes", "custom": True, "id": "known"})
    return state


def _planned(name: str, **more: Any) -> dict[str, Any]:
    return _resource("Job", name, **{"parent": STACK, "provider": f"{PROVIDER}::unknown", **more})


def _made(name: str, manager: str = "pulumi-kubernetes-1a2b3c4d", labels: Mapping[str, str] = LABELS) -> Any:
    metadata = {"name": name, "namespace": "adas", "labels": labels, "managedFields": [{"manager": manager}]}
    return lambda *asked: {"metadata": metadata} if asked[3] == name else None


def test_a_create_whose_answer_was_lost_is_taken() -> None:
    """A planned object that the provider created is added to the state, and one that does not exist is not."""
    found = recover(_known(), _made("new"), [_planned("new"), _planned("absent")])
    taken = found.deployment["deployment"]["resources"][-1]
    assert found.taken == (taken["urn"],)
    assert (taken["id"], taken["initErrors"]) == ("adas/new", [UNCONFIRMED])
    assert taken["provider"] == f"{PROVIDER}::known"


def test_a_replacement_whose_answer_was_lost_takes_the_place_of_the_old() -> None:
    """A replacement whose answer was lost takes the place of the old resource."""
    state = _known()
    state["deployment"]["resources"][0]["pendingReplacement"] = True
    found = recover(state, _made("old"), [_planned("old")])
    resources = found.deployment["deployment"]["resources"]
    assert len(resources) == 3
    assert (resources[0]["id"], "pendingReplacement" in resources[0]) == ("adas/old", False)


@pytest.mark.parametrize("live", [_made("new", manager="kubectl-client-side-apply"), _made("new", labels={})])
def test_what_a_user_created_is_not_adopted(live: Any) -> None:
    """An object that a user applied from the same manifests is not added."""
    assert not recover(_known(), live, [_planned("new")]).changed


@pytest.mark.parametrize("more", [{"parent": "urn:absent"}, {"provider": "urn:absent::id"}])
def test_a_child_whose_parent_the_state_does_not_know_was_never_made(more: Mapping[str, Any]) -> None:
    """A planned child whose parent is not in the state is not added."""
    assert not recover(_known(), _made("new"), [_planned("new", **more)]).changed


def test_what_the_state_knows_is_not_taken_again() -> None:
    """A planned object that the state has is not added again."""
    assert not recover(_known(), _made("old"), [_planned("old")]).changed

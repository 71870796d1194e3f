"""What taking over an object would mean, told before anything happens."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from cli.adopting import candidates, declared, show
from cli.adopting.candidates import Candidate, State
from cli.adopting.declared import Declared, Known
from cli.live import RefusedError
from rendering.recorder import Registration
from tests.support.recorded import environment

LABELS = {"app.kubernetes.io/managed-by": "pulumi", "app.kubernetes.io/part-of": "hpc"}


def one(kind: str, name: str) -> Declared:
    """Return an object that dev declares."""
    return next(each for each in declared.of(environment("dev")).objects if (each.kind, each.name) == (kind, name))


def by_hand(each: Declared, **fields: Any) -> dict[str, Any]:
    """Return a declared object as somebody made it: without our labels, and with what a server fills in."""
    metadata = {"name": each.name, "uid": "u", "resourceVersion": "1"}
    metadata |= {"namespace": each.namespace} if each.namespace else {}
    rest = {key: value for key, value in each.item.inputs.items() if key not in ("metadata", "apiVersion", "kind")}
    return {"apiVersion": each.api_version, "kind": each.kind, "metadata": metadata, **rest, **fields}


def written_by(manager: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of managedFields."""
    return {"manager": manager, "operation": "Update", "fieldsV1": fields}


def takes(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take everything as it is."""
    return body


def refuses(status: str) -> candidates.Trial:
    """Return a server that takes nothing."""

    def refused(_: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RefusedError("what", "remedy", f"{status}, spec: is immutable\n@@ struct")

    return refused


def paths(found: Candidate) -> set[str]:
    """Return the paths that differ."""
    return {row[0] for row in show._fields(found)}


def test_an_object_as_declared_is_equal() -> None:
    """Prevents defaults of the server from being called differences, and a write to ask about nothing."""
    role = one("Role", "mpi")
    live = by_hand(role)
    live["metadata"]["labels"] = {**role.item.inputs["metadata"]["labels"], "of": "somebody"}
    found = candidates.judged(role, live, refuses("500"))
    assert (found.state, found.changes) == (State.EQUAL, ())


def test_more_in_a_list_is_a_difference() -> None:
    """Prevents an SCC that every user may use from counting as one for nobody, as the program says."""
    scc = one("SecurityContextConstraints", "scc-for-mpi")
    found = candidates.judged(scc, by_hand(scc, groups=["system:authenticated"]), takes)
    assert found.state is State.DIFFERS
    assert "groups[0]" in paths(found)
    assert found.before(("groups", 0)) == "system:authenticated"


def test_what_an_update_takes_away_is_told_and_defaults_are_not() -> None:
    """Prevents a person's label from vanishing without a word, and a page of what the server filled in."""
    volume = one("PersistentVolume", "adas-data-pv01")
    live = by_hand(volume)
    live["spec"] = {**live["spec"], "volumeMode": "Filesystem"}
    live["metadata"]["labels"] = {"dept": "adas", "type": "data", "shelf": "3"}
    mine = {"f:metadata": {"f:labels": {".": {}, "f:shelf": {}}}, "f:spec": {"f:volumeMode": {}}}
    live["metadata"]["managedFields"] = [written_by("kubectl-create", mine)]

    def fills_in(body: Mapping[str, Any]) -> Mapping[str, Any]:
        assert "volumeMode" not in body["spec"]
        assert "shelf" not in body["metadata"]["labels"]
        return {**body, "spec": {**body["spec"], "volumeMode": "Filesystem"}}

    assert paths(candidates.judged(volume, live, fills_in)) == {"metadata.labels", "metadata.labels.shelf"}
    live["metadata"]["managedFields"] = [written_by("a-controller", mine)]
    assert paths(candidates.judged(volume, live, takes)) == {"metadata.labels"}


def test_what_cannot_go_is_kept_for_its_person() -> None:
    """Prevents a claim with data from being left out for its selector, which nobody can change or needs to."""
    claim = one("PersistentVolumeClaim", "adas-data-pvc")
    live = by_hand(claim)
    live["spec"] = {**live["spec"], "selector": {"matchLabels": {"dept": "adas"}}}
    live["metadata"]["managedFields"] = [written_by("kubectl-create", {"f:spec": {"f:selector": {}}})]

    def immutable(body: Mapping[str, Any]) -> Mapping[str, Any]:
        return body if "selector" in body["spec"] else refuses("422")(body) or {}

    found = candidates.judged(claim, live, immutable)
    assert found.state is State.DIFFERS
    assert "spec.selector cannot change, and stays" in found.why
    assert found.shared == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "adas-data-pvc", "namespace": "adas"},
        "spec": {"selector": {"matchLabels": {"dept": "adas"}}},
    }


@pytest.mark.parametrize(
    ("kind", "name", "fields", "why"),
    [
        (
            "RoleBinding",
            "mpi",
            {"roleRef": {"apiGroup": "x", "kind": "Role", "name": "other"}},
            "roleRef.apiGroup and 1",
        ),
        ("MPIJob", "nccl-test-01x08", {"spec": {"slotsPerWorker": 1}}, "cannot change in place"),
    ],
)
def test_another_value_where_none_can_change(kind: str, name: str, fields: dict[str, Any], why: str) -> None:
    """Prevents adopting what the next update would delete and make anew: by the provider's rules, and our options."""
    each = one(kind, name)
    found = candidates.judged(each, by_hand(each, **fields), takes)
    assert found.state is State.REPLACED
    assert why in found.why
    assert not found.adoptable


def test_what_the_server_would_refuse_is_left_out() -> None:
    """Prevents an adopted object that no update can ever change."""
    scc = one("SecurityContextConstraints", "scc-for-mpi")
    found = candidates.judged(scc, by_hand(scc, groups=["x"]), refuses("422"))
    assert (found.state, found.why) == (State.REPLACED, "spec: is immutable")


def test_who_may_only_look_sees_differences() -> None:
    """Prevents that a person without the right to change things is told nothing."""
    scc = one("SecurityContextConstraints", "scc-for-mpi")
    found = candidates.judged(scc, by_hand(scc, groups=["x"]), refuses("403"))
    assert found.state is State.DIFFERS


def test_a_kind_that_is_not_shown_does_not_end_the_search() -> None:
    """Prevents that one forbidden kind hides all others; what is in the state is not asked for."""
    objects = declared.of(environment("dev")).objects
    known = Known([{"urn": objects[0].urn, "type": objects[0].item.type, "inputs": {}}])

    def live(_: str, kind: str, __: str, name: str) -> Mapping[str, Any] | None:
        if kind == "SecurityContextConstraints":
            raise RefusedError("what", "remedy", "403, forbidden")
        assert (kind, name) != (objects[0].kind, objects[0].name)
        return by_hand(one(kind, name)) if kind == "PersistentVolume" else None

    found = candidates.search(objects, known, live, takes)
    assert {(each.declared.kind, each.state) for each in found} == {
        ("SecurityContextConstraints", State.REFUSED),
        ("PersistentVolume", State.DIFFERS),
    }


def test_an_object_under_another_version_is_known() -> None:
    """Prevents adopting what the stack has, because its API has moved."""
    job = one("MPIJob", "nccl-test-01x08")
    resource = {
        "urn": "urn:pulumi:dev::hpc::old",
        "type": "kubernetes:kubeflow.org/v2beta1:MPIJob",
        "inputs": job.item.inputs,
    }
    assert Known([resource]).find(job) is resource
    assert Known([{**resource, "type": "kubernetes:other.org/v1:MPIJob"}]).find(job) is None
    assert Known([{**resource, "delete": True}]).find(job) is None


def test_patches_and_what_is_waited_for_are_no_objects_of_ours() -> None:
    """Prevents adopting a node, or a pool of OpenShift's."""
    kinds = {each.kind for each in declared.of(environment("dev")).objects}
    assert not {"Node", "NodePatch", "MachineConfigPool", "ClusterServiceVersion"} & kinds


def test_a_secret_says_nothing_of_its_values() -> None:
    """Prevents a password in a table, a comment or an import file."""
    secret = one("Secret", "csisecret-local")
    item: Registration = replace(secret.item, inputs={**secret.item.inputs, "stringData": {"password": "[secret]"}})
    live = by_hand(secret, stringData=None, data={"password": "cGxhbnRlZA==", "username": "cGxhbnRlZA=="})
    found = candidates.judged(Declared(item), live, takes)
    assert found.state is State.DIFFERS
    assert "cGxhbnRlZA==" not in repr([*show._fields(found)])
    assert "cGxhbnRlZA==" not in repr(show.review("dev", [found], {}))


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"labels": {"app.kubernetes.io/managed-by": "Helm"}}, "Helm manages it"),
        ({"labels": LABELS}, ""),
        ({"ownerReferences": [{"kind": "ClusterPolicy", "name": "gpu"}]}, "ClusterPolicy gpu owns it"),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "a:b"}}, "Argo CD application a:b"),
        ({"managedFields": [written_by("pulumi-kubernetes-0123", {})]}, "another Pulumi stack"),
        ({"managedFields": [written_by("kubectl-create", {})]}, ""),
    ],
)
def test_other_owners_are_named(metadata: dict[str, Any], said: str) -> None:
    """Prevents two owners that undo each other's changes."""
    volume = one("PersistentVolume", "adas-data-pv01")
    live = by_hand(volume)
    live["metadata"] |= metadata
    assert said in "; ".join(candidates.judged(volume, live, takes).warnings)
    assert bool(said) == bool(candidates.judged(volume, live, takes).warnings)

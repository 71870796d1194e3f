"""What adopting an object would change, determined before anything happens."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.support.recorded import environment
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.cli.shared.recorded_inputs import Trial
from toolkit.cli.state.adopt import candidates, declared, presentation
from toolkit.cli.state.adopt.candidates import Candidate, State
from toolkit.cli.state.adopt.declared import Declared, StateResources
from toolkit.render.recorder import Registration

LABELS = {"app.kubernetes.io/managed-by": "pulumi", "app.kubernetes.io/part-of": "hpc"}


def one(kind: str, name: str) -> Declared:
    """Return an object that dev declares."""
    return next(each for each in declared.of(environment("dev")).objects if (each.kind, each.name) == (kind, name))


def created_manually(each: Declared, **fields: Any) -> dict[str, Any]:
    """Return a declared object as created manually: without the stack's labels, and with what a server fills in."""
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


def refuses(status: str) -> Trial:
    """Return a server that takes nothing."""

    def refused(_: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RefusedError("what", "remedy", f"{status}, spec: is immutable\n@@ struct")

    return refused


def paths(found: Candidate) -> set[str]:
    """Return the paths that differ."""
    return {row[0] for row in presentation.fields(found)}


def test_an_object_as_declared_is_equal() -> None:
    """An object as declared is equal, whatever labels were added to it; no dry run is sent."""
    role = one("Role", "mpi")
    live = created_manually(role)
    live["metadata"]["labels"] = {**role.item.inputs["metadata"]["labels"], "of": "somebody"}
    found = candidates.judged(role, live, refuses("500"))
    assert (found.state, found.changes) == (State.EQUAL, ())


def test_more_in_a_list_is_kept() -> None:
    """An additional entry of a list is a difference, with its path and value; it is declared from then on."""
    scc = one("SecurityContextConstraints", "scc-for-mpi")
    found = candidates.judged(scc, created_manually(scc, groups=["system:authenticated"]), takes)
    assert (found.state, found.changes) == (State.DIFFERS, ())
    assert ("groups[0]", "system:authenticated", "", "kept") in [*presentation.fields(found)]
    assert found.extra["groups"] == ["system:authenticated"]


def test_labels_of_others_stay() -> None:
    """What a user wrote and no one declares goes into the settings; what others wrote stays by itself."""
    namespace = one("Namespace", "adas")
    live = created_manually(namespace)
    live["metadata"] |= {"labels": {"team": "a", "argocd.argoproj.io/managed-by": "cd", "seen-by": "b"}}
    live["metadata"]["annotations"] = dict(namespace.item.inputs["metadata"]["annotations"])
    created: dict[str, Any] = {"f:team": {}, "f:argocd.argoproj.io/managed-by": {}}
    live["metadata"]["managedFields"] = [
        written_by("kubectl-create", {"f:metadata": {"f:labels": {".": {}, **created}}}),
        written_by("a-controller", {"f:metadata": {"f:labels": {"f:seen-by": {}}}}),
    ]
    found = candidates.judged(namespace, live, takes)
    assert found.extra["metadata"]["labels"].items() >= {"team": "a", "argocd.argoproj.io/managed-by": "cd"}.items()
    assert "seen-by" not in found.extra["metadata"]["labels"]
    assert found.changes == ()


def test_all_labels_of_a_definition_stay() -> None:
    """An update replaces a definition, so that everyone's labels and annotations go into the settings."""
    definition = one("CustomResourceDefinition", "mpijobs.kubeflow.org")
    live = created_manually(definition)
    live["metadata"] |= {"labels": {"team": "a"}, "annotations": {"by": "helm"}}
    live["metadata"]["managedFields"] = [written_by("helm", {"f:metadata": {"f:labels": {"f:team": {}}}})]
    found = candidates.judged(definition, live, takes)
    assert found.extra["metadata"].items() >= {"labels": {"team": "a"}, "annotations": {"by": "helm"}}.items()


def test_defaults_of_the_server_are_not_kept() -> None:
    """Of what a user's client wrote, the fields that the server would fill in again are left to it."""
    volume = one("PersistentVolume", "adas-data-pv01")
    live = created_manually(volume)
    live["spec"] = {**live["spec"], "volumeMode": "Filesystem"}
    live["metadata"]["labels"] = {"dept": "adas", "type": "data", "shelf": "3"}
    mine = {"f:metadata": {"f:labels": {".": {}, "f:shelf": {}}}, "f:spec": {"f:volumeMode": {}}}
    live["metadata"]["managedFields"] = [written_by("kubectl-create", mine)]

    def fills_in(body: Mapping[str, Any]) -> Mapping[str, Any]:
        assert "volumeMode" not in body["spec"]
        assert "shelf" not in body["metadata"]["labels"]
        return {**body, "spec": {**body["spec"], "volumeMode": "Filesystem"}}

    assert candidates.judged(volume, live, fills_in).extra == {"metadata": {"labels": {"shelf": "3"}}}
    both = {"metadata": {"labels": {"shelf": "3"}}, "spec": {"volumeMode": "Filesystem"}}
    assert candidates.judged(volume, live, refuses("403")).extra == both


def test_what_cannot_go_is_kept() -> None:
    """A field that the server lets no one remove is declared from then on."""
    claim = one("PersistentVolumeClaim", "adas-data-pvc")
    live = created_manually(claim)
    live["spec"] = {**live["spec"], "selector": {"matchLabels": {"dept": "adas"}}}
    live["metadata"]["managedFields"] = [written_by("kubectl-create", {"f:spec": {"f:selector": {}}})]

    def immutable(body: Mapping[str, Any]) -> Mapping[str, Any]:
        return body if "selector" in body["spec"] else refuses("422")(body) or {}

    found = candidates.judged(claim, live, immutable)
    assert (found.state, found.changes) == (State.DIFFERS, ())
    assert found.extra["spec"] == {"selector": {"matchLabels": {"dept": "adas"}}}


def test_a_job_of_another_form_is_left_out() -> None:
    """A job that the next update would replace is not adoptable: its template is the program's, not the cluster's."""
    job = one("MPIJob", "nccl-test-01x08")
    found = candidates.judged(job, created_manually(job, spec={"slotsPerWorker": 1}), takes)
    assert (found.state, found.adoptable) == (State.REPLACED, False)
    assert "cannot change in place" in found.why


def test_a_kind_that_is_not_shown_does_not_end_the_search() -> None:
    """A kind that may not be read hides no other, and what is in the state is not read."""
    objects = declared.of(environment("dev")).objects
    known = StateResources([{"urn": objects[0].urn, "type": objects[0].item.type, "inputs": {}}])

    def live(_: str, kind: str, __: str, name: str) -> Mapping[str, Any] | None:
        if kind == "SecurityContextConstraints":
            raise RefusedError("what", "remedy", "403, forbidden")
        assert (kind, name) != (objects[0].kind, objects[0].name)
        return created_manually(one(kind, name)) if kind == "PersistentVolume" else None

    found = candidates.search(objects, known, live, takes)
    assert {(each.declared.kind, each.state) for each in found} == {
        ("SecurityContextConstraints", State.REFUSED),
        ("PersistentVolume", State.DIFFERS),
    }


def test_an_object_under_another_version_is_known() -> None:
    """An object of the state under another version of its API is known."""
    job = one("MPIJob", "nccl-test-01x08")
    resource = {
        "urn": "urn:pulumi:dev::hpc::old",
        "type": "kubernetes:kubeflow.org/v2beta1:MPIJob",
        "inputs": job.item.inputs,
    }
    assert StateResources([resource]).find(job) is resource
    assert StateResources([{**resource, "type": "kubernetes:other.org/v1:MPIJob"}]).find(job) is None
    assert StateResources([{**resource, "delete": True}]).find(job) is None


def test_patches_and_what_is_waited_for_are_no_candidates() -> None:
    """Nodes, pools and other targets of patches or waits are not candidates."""
    kinds = {each.kind for each in declared.of(environment("dev")).objects}
    assert not {"Node", "NodePatch", "MachineConfigPool", "ClusterServiceVersion"} & kinds


def test_a_secret_shows_no_values() -> None:
    """A Secret's values are in no table and no comment."""
    secret = one("Secret", "csisecret-local")
    item: Registration = replace(secret.item, inputs={**secret.item.inputs, "stringData": {"password": "[secret]"}})
    live = created_manually(secret, stringData=None, data={"password": "cGxhbnRlZA==", "username": "cGxhbnRlZA=="})
    found = candidates.judged(Declared(item), live, takes)
    assert found.state is State.DIFFERS
    assert "cGxhbnRlZA==" not in repr([*presentation.fields(found)])
    assert "cGxhbnRlZA==" not in repr(presentation.review("dev", [found], {}))


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"labels": {"app.kubernetes.io/managed-by": "Helm"}}, "names Helm as its manager"),
        ({"labels": LABELS}, ""),
        ({"ownerReferences": [{"kind": "ClusterPolicy", "name": "gpu"}]}, "ClusterPolicy gpu owns it"),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "a:b"}}, "Argo CD application a:b"),
        ({"labels": {"hypershift.openshift.io/managed": "true"}}, "HyperShift has it"),
        ({"managedFields": [written_by("pulumi-kubernetes-0123", {})]}, "another Pulumi stack"),
        ({"managedFields": [written_by("kubectl-create", {})]}, ""),
    ],
)
def test_other_owners_are_named(metadata: dict[str, Any], said: str) -> None:
    """Another owner of an object is named in a warning."""
    volume = one("PersistentVolume", "adas-data-pv01")
    live = created_manually(volume)
    live["metadata"] |= metadata
    assert said in "; ".join(candidates.judged(volume, live, takes).warnings)
    assert bool(said) == bool(candidates.judged(volume, live, takes).warnings)

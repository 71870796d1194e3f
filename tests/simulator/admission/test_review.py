"""Answers of the SCC webhook to the API server, without either."""

import base64
import copy
import json
from typing import Any

import pytest

from policies.rbac import Rbac
from policies.scc import Namespace, default_sccs
from simulator.admission.review import PREDICTED, Facts, answer, concerned

SPACE = Namespace(
    "adas",
    {
        "openshift.io/sa.scc.uid-range": "1000650000/10000",
        "openshift.io/sa.scc.mcs": "s0:c26,c0",
        "openshift.io/sa.scc.supplemental-groups": "1000650000/10000",
    },
)
ANYBODY = {"username": "dana", "groups": ["system:authenticated"]}
MASTER = {"username": "kube:admin", "groups": ["system:masters", "system:authenticated"]}


def facts(*objects: Any) -> Facts:
    """Return a 4.4 cluster with these roles and bindings."""
    return Facts(SPACE, default_sccs("4.4"), Rbac(objects))


def grant(scc: str) -> tuple[Any, ...]:
    """Return what lets the account `mpi` use an SCC."""
    api, group = "rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io"
    meta = {"name": "mpi", "namespace": "adas"}
    sccs = {"apiGroups": ["security.openshift.io"], "resources": ["securitycontextconstraints"]}
    return (
        {
            "apiVersion": api,
            "kind": "Role",
            "metadata": meta,
            "rules": [sccs | {"verbs": ["use"], "resourceNames": [scc]}],
        },
        {
            "apiVersion": api,
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "mpi"},
            "subjects": [{"kind": "ServiceAccount", "name": "mpi", "namespace": "adas"}],
        },
    )


def pod(**spec: Any) -> dict[str, Any]:
    """Return a pod as the API server hands it over: defaulted, with its account."""
    whole = {"containers": [{"name": "main", "image": "x"}], "securityContext": {}, "serviceAccountName": "mpi"}
    return {"metadata": {"name": "probe", "namespace": "adas"}, "spec": whole | spec}


def request(new: Any, old: Any = None, by: Any = ANYBODY, sub: str = "") -> dict[str, Any]:
    """Return a request: the creation of a pod or, with an old one, its change."""
    operation = {"operation": "UPDATE", "oldObject": old} if old else {"operation": "CREATE"}
    return {"uid": "u", "namespace": "adas", "object": new, "userInfo": by, "subResource": sub, **operation}


def created(**spec: Any) -> dict[str, Any]:
    """Return a pod as `restricted` has filled it in."""
    verdict = answer(request(made := pod(**spec)), facts())
    assert verdict.allowed
    made = copy.deepcopy(made)
    made["metadata"]["annotations"] = {"openshift.io/scc": "restricted"}
    for operation in verdict.changes:
        target: Any = made
        *path, last = operation["path"].split("/")[1:]
        if path[0] == "spec":
            for key in path:
                target = target[int(key) if isinstance(target, list) else key]
            target[last] = operation["value"]
    return made


def test_admitted_pods_say_by_what_and_that_it_is_predicted() -> None:
    """Prevents a pod that looks as if OpenShift itself had admitted it, and an answer that the API server refuses."""
    review = answer(request(pod()), facts()).review()
    response = review["response"]
    changes = json.loads(base64.b64decode(response["patch"]))
    (annotations,) = [change["value"] for change in changes if change["path"] == "/metadata/annotations"]
    assert (response["uid"], response["allowed"], response["patchType"]) == ("u", True, "JSONPatch")
    assert annotations["openshift.io/scc"] == "restricted"
    assert annotations["hpc.sim/admitted-by"] == PREDICTED
    assert {change["path"] for change in changes} > {"/spec/containers/0/securityContext"}


def test_refusals_are_openshifts_words() -> None:
    """Prevents a refusal that a user finds nothing about."""
    refused = answer(request(pod(hostNetwork=True)), facts()).review()["response"]
    assert refused["status"]["code"] == 403
    assert refused["status"]["reason"] == "Forbidden"
    assert refused["status"]["message"].startswith(
        'pods "probe" is forbidden: unable to validate against any security context constraint: ['
    )
    assert 'provider "privileged": Forbidden: not usable by user or serviceaccount' in refused["status"]["message"]


@pytest.mark.parametrize(
    ("by", "granted", "expected"),
    [(ANYBODY, (), None), (ANYBODY, ("hostnetwork",), "hostnetwork"), (MASTER, (), "hostnetwork")],
)
def test_user_and_account_both_count(by: Any, granted: tuple[str, ...], expected: str | None) -> None:
    """Prevents operators' pods that are refused to controllers, and administrators' pods that are refused at all."""
    objects = [part for scc in granted for part in grant(scc)]
    assert answer(request(pod(hostNetwork=True), by=by), facts(*objects)).scc == expected


def test_changes_that_decide_nothing_are_let_pass() -> None:
    """Prevents a garbage collector that is refused the finalizer of a pod whose rights are gone."""
    old = created()
    new = copy.deepcopy(old)
    new["metadata"] |= {"finalizers": [], "ownerReferences": [], "resourceVersion": "2"}
    new["metadata"]["annotations"]["k8s.ovn.org/pod-networks"] = "{}"
    new["status"] = {"phase": "Running"}
    assert not concerned(request(new, old))
    new["metadata"]["labels"] = {"a": "b"}
    assert concerned(request(new, old))


def test_a_change_must_fit_as_it_is() -> None:
    """Prevents a change that fills in a running pod, and one by somebody without rights that is let pass."""
    old = created()
    labelled = copy.deepcopy(old)
    labelled["metadata"]["labels"] = {"a": "b"}
    assert answer(request(labelled, old), facts()).scc == "restricted"
    # Of before admission: every SCC that takes it would fill something in.
    bare = pod()
    changed = copy.deepcopy(bare) | {"metadata": {**bare["metadata"], "labels": {"a": "b"}}}
    assert not answer(request(changed, bare), facts()).allowed
    assert answer(request(changed, bare, by=MASTER), facts()).scc == "privileged"


def test_ephemeral_containers_are_filled_in() -> None:
    """Prevents a debug container with more rights than its pod."""
    old = created()
    new = copy.deepcopy(old)
    new["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "x"}]
    given = answer(request(new, old, sub="ephemeralcontainers"), facts())
    assert given.scc == "restricted"
    assert any(change["path"].startswith("/spec/ephemeralContainers/0/securityContext") for change in given.changes)
    new["spec"]["ephemeralContainers"][0]["securityContext"] = {"privileged": True}
    assert not answer(request(new, old, sub="ephemeralcontainers"), facts()).allowed


def test_the_required_scc_stays() -> None:
    """Prevents a pod that changes its SCC after its creation."""
    old = created()
    new = copy.deepcopy(old)
    new["metadata"]["annotations"]["openshift.io/required-scc"] = "privileged"
    given = answer(request(new, old, by=MASTER), facts())
    assert given.message == (
        'pods "probe" is forbidden: invalid change of required security context constraint annotation:'
        " openshift.io/required-scc"
    )


def test_windows_pods_are_left_alone() -> None:
    """Prevents an annotation that names no SCC."""
    given = answer(request(pod(os={"name": "windows"})), facts())
    assert (given.allowed, given.scc, given.changes) == (True, None, ())

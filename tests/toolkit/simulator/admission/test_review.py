"""Answers of the SCC webhook to the API server, without either."""

import base64
import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.scc import Namespace, default_sccs
from policies.scc.rbac import Rbac
from tests.support.json_patches import applied
from toolkit.simulator.access import rbac
from toolkit.simulator.actors import grants
from toolkit.simulator.admission.review import PREDICTED, Facts, answer, concerned, patch

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
    return tuple(made for _, made in grants.account("adas", "mpi", (rbac.use_scc(scc),)))


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
    filled: dict[str, Any] = applied(made, verdict.changes)
    return filled


def test_admitted_pods_say_by_what_and_that_it_is_predicted() -> None:
    """An admitted pod is annotated with its SCC, and with the fact that it is predicted."""
    review = answer(request(pod()), facts()).review()
    response = review["response"]
    changes = json.loads(base64.b64decode(response["patch"]))
    (annotations,) = [change["value"] for change in changes if change["path"] == "/metadata/annotations"]
    assert (response["uid"], response["allowed"], response["patchType"]) == ("u", True, "JSONPatch")
    assert annotations["openshift.io/scc"] == "restricted"
    assert annotations["hpc.sim/admitted-by"] == PREDICTED
    assert {change["path"] for change in changes} > {"/spec/containers/0/securityContext"}


def test_refusals_are_openshifts_words() -> None:
    """A refusal has OpenShift's wording."""
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
    """SCCs of the creating user and of the pod's account both count."""
    objects = [part for scc in granted for part in grant(scc)]
    assert answer(request(pod(hostNetwork=True), by=by), facts(*objects)).scc == expected


def test_changes_that_decide_nothing_are_let_pass() -> None:
    """A change that no SCC decides about is admitted."""
    old = created()
    new = copy.deepcopy(old)
    new["metadata"] |= {"finalizers": [], "ownerReferences": [], "resourceVersion": "2"}
    new["metadata"]["annotations"]["k8s.ovn.org/pod-networks"] = "{}"
    new["status"] = {"phase": "Running"}
    assert not concerned(request(new, old))
    new["metadata"]["labels"] = {"a": "b"}
    assert concerned(request(new, old))


def test_a_change_must_fit_as_it_is() -> None:
    """A changed pod must fit an SCC unchanged, and is not filled in."""
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
    """Ephemeral containers get the pod's SCC."""
    old = created()
    new = copy.deepcopy(old)
    new["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "x"}]
    given = answer(request(new, old, sub="ephemeralcontainers"), facts())
    assert given.scc == "restricted"
    assert any(change["path"].startswith("/spec/ephemeralContainers/0/securityContext") for change in given.changes)
    new["spec"]["ephemeralContainers"][0]["securityContext"] = {"privileged": True}
    assert not answer(request(new, old, sub="ephemeralcontainers"), facts()).allowed


def test_the_required_scc_stays() -> None:
    """The SCC that an annotation requires stays after the creation."""
    old = created()
    new = copy.deepcopy(old)
    new["metadata"]["annotations"]["openshift.io/required-scc"] = "privileged"
    given = answer(request(new, old, by=MASTER), facts())
    assert given.message == (
        'pods "probe" is forbidden: invalid change of required security context constraint annotation:'
        " openshift.io/required-scc"
    )


def test_as_declared_and_as_stored() -> None:
    """An SCC as declared and a pod as written give the verdict of their stored forms; no patch drops a field."""
    declared = {
        "metadata": {"name": "own"},
        "users": ["system:serviceaccount:adas:default"],
        "runAsUser": {"type": "MustRunAsRange"},
        "seLinuxContext": {"type": "MustRunAs"},
    }
    any_group = {"fsGroup": {"type": "RunAsAny"}, "supplementalGroups": {"type": "RunAsAny"}}
    stored = {**declared, **any_group, "volumes": ["csi"], "allowPrivilegeEscalation": True}
    volumes = [{"name": "data", "csi": {"driver": "example"}}]
    written = pod(serviceAccountName=None, securityContext=None, volumes=volumes, newerThanOurTable=True)
    found = [
        answer(request(made), Facts(SPACE, [scc], Rbac(())))
        for scc, made in ((declared, written), (stored, pod(serviceAccountName="default", volumes=volumes)))
    ]
    assert found[0] == found[1]
    assert found[0].scc == "own"
    assert {operation["op"] for operation in found[0].changes} == {"add"}


def test_windows_pods_are_left_alone() -> None:
    """Windows pods are left alone."""
    given = answer(request(pod(os={"name": "windows"})), facts())
    assert (given.allowed, given.scc, given.changes) == (True, None, ())


KEYS = st.sampled_from(("a", "b", "openshift.io/scc", "~tilde/slash~1", ""))
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(("x", "y")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(TREES, TREES)
def test_a_patch_makes_one_tree_of_another(before: Any, after: Any) -> None:
    """A patch turns the one tree into the other."""
    assert applied(before, list(patch(before, after))) == after


def test_only_what_differs_is_patched() -> None:
    """A patch holds only what differs."""
    before = {"spec": {"containers": [{"name": "a", "image": "x"}]}, "metadata": {"annotations": {"a/b": "1"}}}
    after = {
        "spec": {"containers": [{"name": "a", "image": "x", "securityContext": {"runAsUser": 7}}]},
        "metadata": {"annotations": {"a/b": "2"}},
    }
    assert list(patch(before, after)) == [
        {"op": "add", "path": "/spec/containers/0/securityContext", "value": {"runAsUser": 7}},
        {"op": "replace", "path": "/metadata/annotations/a~1b", "value": "2"},
    ]
    assert list(patch(before, before)) == []

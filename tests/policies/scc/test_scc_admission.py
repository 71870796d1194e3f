"""Which SCC takes a pod: who may use it, in which order they are tried, what stops them all."""

from types import MappingProxyType
from typing import Any

import pytest

from policies.scc import Namespace, Reason, User, admit, service_account
from tests.policies.scc.samples import ALICE, NAMESPACE, OWN, judge, messages, pod, scc

STRANGER = User("stranger", ())
RANGE = {"type": "MustRunAsRange"}
DENIED = "not usable by user or serviceaccount"


@pytest.mark.parametrize(
    ("fields", "user", "usable", "subject"),
    [
        pytest.param({"groups": [], "users": ["alice"]}, ALICE, (), "user", id="user"),
        pytest.param({"groups": ["developers"]}, ALICE, (), "user", id="group"),
        pytest.param({"groups": ["system:serviceaccounts"]}, STRANGER, (), "serviceaccount", id="all accounts"),
        pytest.param({"groups": ["system:serviceaccounts:adas"]}, STRANGER, (), "serviceaccount", id="accounts of it"),
        pytest.param({"groups": ["system:serviceaccounts:other"]}, STRANGER, (), None, id="accounts of another"),
        pytest.param({"groups": ["system:authenticated"]}, STRANGER, (), None, id="the account is not authenticated"),
        pytest.param({"users": ["system:serviceaccount:adas:mpi"]}, STRANGER, (), "serviceaccount", id="this account"),
        pytest.param({"groups": []}, STRANGER, ("open",), "serviceaccount", id="RBAC"),
        pytest.param({"groups": []}, STRANGER, ("other",), None, id="RBAC for another SCC"),
        pytest.param({"users": None, "groups": None}, ALICE, (), None, id="nobody"),
    ],
)
def test_who_may_use(fields: dict[str, Any], user: User, usable: tuple[str, ...], subject: str | None) -> None:
    """An SCC is usable by those to whom it is granted, and by no one else."""
    asked = pod(spec={"serviceAccountName": "mpi"})
    verdict = admit(asked, NAMESPACE, user, [scc(**fields)], usable)
    assert verdict.admitted is (subject is not None)
    if subject is None:
        assert verdict.reasons == (Reason("open", f'provider "open": Forbidden: {DENIED}'),)
        assert verdict.pod is asked
    else:
        annotations = verdict.pod["metadata"]["annotations"]
        assert annotations["security.openshift.io/validated-scc-subject-type"] == subject


def test_rbac_of_the_user_alone() -> None:
    """The annotation credits the account only where it may use the SCC."""
    asked = pod(spec={"serviceAccountName": "mpi"})
    verdict = admit(asked, NAMESPACE, STRANGER, [scc(groups=[])], ["open"], usable_by_account=())
    assert verdict.pod["metadata"]["annotations"]["security.openshift.io/validated-scc-subject-type"] == "user"


@pytest.mark.parametrize(
    ("spec", "annotations", "account"),
    [
        pytest.param({}, {}, "default", id="absent"),
        pytest.param({"serviceAccountName": None, "serviceAccount": None}, {}, "default", id="null"),
        pytest.param({"serviceAccountName": ""}, {}, "default", id="empty"),
        pytest.param({"serviceAccount": "mpi"}, {}, "mpi", id="by the deprecated field"),
        pytest.param({"serviceAccount": "mpi", "serviceAccountName": "other"}, {}, "other", id="both fields"),
        pytest.param({}, {"kubernetes.io/config.mirror": "x"}, None, id="static pod of a kubelet"),
    ],
)
def test_the_account_that_a_pod_runs_as(spec: Any, annotations: dict[str, str], account: str | None) -> None:
    """A pod without a service account has the rights of `default`, and a static pod those of none."""
    by_name = [scc(name, users=[f"system:serviceaccount:adas:{name}"]) for name in ("default", "mpi", "other")]
    verdict = admit(pod(spec=spec, annotations=annotations), NAMESPACE, STRANGER, by_name)
    assert verdict.scc == account
    assert not account or verdict.pod["spec"]["serviceAccountName"] == account


def test_a_service_account_that_asks() -> None:
    """A service account has the name and groups that the API server gives it."""
    assert service_account("adas", "mpi") == User(
        "system:serviceaccount:adas:mpi",
        ("system:serviceaccounts", "system:serviceaccounts:adas", "system:authenticated"),
    )


def test_the_first_that_fits_takes_it() -> None:
    """The most restrictive SCC that admits the pod is predicted, and one that changes nothing first."""
    filling = scc("a-filling", runAsUser={**OWN, "uid": 9})
    verdict = judge(pod(), scc("lax", allowPrivilegedContainer=True), filling, scc("none", groups=[], priority=1))
    assert verdict.scc == "a-filling"
    assert [reason.scc for reason in verdict.reasons] == ["none"]
    assert verdict.message == ""
    assert judge(pod(container={"runAsUser": 8}), filling, scc("lax")).scc == "lax"


def test_an_scc_in_the_annotation_is_none_required() -> None:
    """The annotation of a former admission does not count."""
    verdict = judge(pod(annotations={"openshift.io/scc": "second"}), scc("first"), scc("second"))
    assert verdict.scc == verdict.pod["metadata"]["annotations"]["openshift.io/scc"] == "first"


def test_required_scc() -> None:
    """A pod that requires an SCC is admitted by it only."""
    pinned = pod(annotations={"openshift.io/required-scc": "second"}, container={"privileged": True})
    both = (scc("first", allowPrivilegedContainer=True), scc("second", allowPrivilegedContainer=True))
    assert judge(pinned, *both).scc == "second"
    alone = judge(pinned, both[0], scc("second"))
    assert alone.message == (
        'pods "worker" is forbidden: unable to validate against any security context constraint: provider second: '
        ".containers[0].privileged: Invalid value: true: Privileged containers are not allowed"
    )
    assert messages(judge(pinned, scc("second", groups=[]))) == [f'provider "second": Forbidden: {DENIED}']
    assert judge(pinned, both[0]).message == (
        'pods "worker" is forbidden: failed to retrieve the required SCC "second": '
        'securitycontextconstraints.security.openshift.io "second" not found'
    )
    assert judge(pod(annotations={"openshift.io/required-scc": ""}), *both).scc == "first"


@pytest.mark.parametrize(
    ("metadata", "shown"),
    [({"name": "a", "generateName": "b-"}, "a"), ({"generateName": "b-"}, "b-"), ({}, "Unknown"), (None, "Unknown")],
)
def test_the_name_in_the_message(metadata: object, shown: str) -> None:
    """The message for a pod with generateName is the API server's."""
    message = judge({"metadata": metadata, "spec": None}, scc(groups=[])).message
    assert message.startswith(f'pods "{shown}" is forbidden: unable to validate')


def test_each_message_once() -> None:
    """The message has each reason once; the reasons by SCC are complete."""
    profile = {"seccompProfile": {"type": "Unconfined"}}
    verdict = judge(pod(security=profile), scc("a"), scc("b"))
    assert verdict.message.count("seccomp may not be set") == 2
    assert verdict.message.endswith("seccomp may not be set]")
    assert [reason.scc for reason in verdict.reasons] == ["a", "a", "b", "b"]


def test_two_generations_of_restricted() -> None:
    """The message has OpenShift's hint when only the old `restricted` would admit the pod."""
    new = scc("restricted-v2", allowPrivilegeEscalation=False)
    old = scc("restricted", groups=[])
    asked = pod(container={"allowPrivilegeEscalation": True})
    verdict = judge(asked, new, old)
    assert verdict.reasons[-1] == Reason(
        "restricted",
        "no access to scc/restricted: Forbidden: the pod fails to validate against the `restricted-v2` security "
        "context constraint, but would validate successfully against the `restricted` security context constraint",
    )
    assert verdict.message.endswith(f"{verdict.reasons[-1].message}]")
    for others in (
        [old],
        [new, scc("restricted", runAsUser={**OWN, "uid": 0}, groups=[], readOnlyRootFilesystem=True)],
    ):
        writable = pod(container={"allowPrivilegeEscalation": True, "readOnlyRootFilesystem": False})
        assert "no access" not in judge(writable, *others).message


def test_windows() -> None:
    """A Windows pod is not judged by Linux fields."""
    asked = pod(spec={"os": {"name": "windows"}})
    verdict = judge(asked, scc(groups=[]))
    assert (verdict.admitted, verdict.scc) == (True, None)
    assert verdict.pod["spec"]["containers"] == asked["spec"]["containers"]
    assert judge(pod(spec={"os": {"name": "linux"}}), scc()).scc == "open"


@pytest.mark.parametrize(
    ("changes", "fields", "message"),
    [
        pytest.param(
            {"openshift.io/sa.scc.uid-range": "1000680000"},
            {"runAsUser": RANGE},
            "unable to find pre-allocated uid annotation for namespace adas while trying to configure SCC open: "
            "unexpected EOF",
            id="half a range",
        ),
        *(
            pytest.param(
                {"openshift.io/sa.scc.supplemental-groups": groups},
                {field: OWN},
                "unable to find pre-allocated group annotation for namespace adas while trying to configure SCC open: "
                f"{why}",
                id=f"{field} of {groups!r}",
            )
            for field in ("fsGroup", "supplementalGroups")
            for groups, why in (
                (
                    "",
                    "unable to find groups using openshift.io/sa.scc.supplemental-groups and "
                    "openshift.io/sa.scc.uid-range annotations",
                ),
                ("1/2,x/3", "expected integer"),
            )
        ),
    ],
)
def test_what_stops_every_pod(changes: dict[str, str | None], fields: dict[str, Any], message: str) -> None:
    """Ids that cannot be read refuse all pods, whoever may use the SCC; recorded verdicts have the other reasons."""
    annotations = {**NAMESPACE.annotations, **changes}
    namespace = Namespace("adas", {key: value for key, value in annotations.items() if value is not None})
    verdict = judge(pod(), scc("a-good-one"), scc(groups=[], **fields), namespace=namespace)
    assert verdict.message == f'pods "worker" is forbidden: {message}'
    assert verdict.reasons == (Reason("", message),)


def test_no_sccs() -> None:
    """Without SCCs every pod is refused."""
    assert judge(pod()).message == 'pods "worker" is forbidden: no SecurityContextConstraints found in cluster'


def test_groups_fall_back_to_the_user_range() -> None:
    """A namespace without ranges for groups uses that of users."""
    annotations = {key: value for key, value in NAMESPACE.annotations.items() if "groups" not in key}
    old = Namespace("adas", {**annotations, "openshift.io/sa.scc.uid-range": "1000-1002"})
    found = judge(pod(), scc(fsGroup=OWN, supplementalGroups=OWN, runAsUser=RANGE), namespace=old).pod["spec"]
    assert found["securityContext"] == {"fsGroup": 1000, "supplementalGroups": [1000]}
    assert found["containers"][0]["securityContext"]["runAsUser"] == 1000
    beyond = pod(container={"runAsUser": 1003}, security={"supplementalGroups": [1002]})
    assert len(messages(judge(beyond, scc(supplementalGroups=OWN, runAsUser=RANGE), namespace=old))) == 1


def test_namespaces_do_not_share_ids() -> None:
    """A cached answer serves only namespaces with the same annotations."""
    other = Namespace("other", {**NAMESPACE.annotations, "openshift.io/sa.scc.uid-range": "2000/10"})
    users = [
        judge(pod(), scc(runAsUser=RANGE), namespace=place).pod["spec"]["containers"][0]["securityContext"]["runAsUser"]
        for place in (NAMESPACE, other, NAMESPACE)
    ]
    assert users == [1000680000, 2000, 1000680000]


def test_other_mappings_than_dicts() -> None:
    """Read-only trees are accepted."""
    assert judge(MappingProxyType(pod()), MappingProxyType(scc(runAsUser=RANGE))).scc == "open"

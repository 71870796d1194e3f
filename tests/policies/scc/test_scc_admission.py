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
    """Prevents an SCC that works by an account which nobody has granted it, and one that does not although it was."""
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
    """Prevents the annotation from crediting an account that may not use the SCC."""
    asked = pod(spec={"serviceAccountName": "mpi"})
    verdict = admit(asked, NAMESPACE, STRANGER, [scc(groups=[])], ["open"], usable_by_account=())
    assert verdict.pod["metadata"]["annotations"]["security.openshift.io/validated-scc-subject-type"] == "user"


def test_no_service_account() -> None:
    """Prevents rights of an account `default` that the pod does not have yet."""
    by_account = scc(groups=["system:serviceaccounts"])
    assert not admit(pod(), NAMESPACE, STRANGER, [by_account]).admitted
    assert admit(pod(spec={"serviceAccount": "old"}), NAMESPACE, STRANGER, [by_account]).admitted


def test_a_service_account_that_asks() -> None:
    """Prevents groups that a cluster gives it from missing."""
    assert service_account("adas", "mpi") == User(
        "system:serviceaccount:adas:mpi",
        ("system:serviceaccounts", "system:serviceaccounts:adas", "system:authenticated"),
    )


def test_the_first_that_fits_takes_it() -> None:
    """Prevents a laxer SCC, or one that would change less, from being predicted."""
    filling = scc("a-filling", runAsUser={**OWN, "uid": 9})
    verdict = judge(pod(), scc("lax", allowPrivilegedContainer=True), filling, scc("none", groups=[], priority=1))
    assert verdict.scc == "a-filling"
    assert [reason.scc for reason in verdict.reasons] == ["none"]
    assert verdict.message == ""
    assert judge(pod(container={"runAsUser": 8}), filling, scc("lax")).scc == "lax"


def test_an_scc_in_the_annotation_is_none_required() -> None:
    """Prevents a pod copied from a cluster from being given to the SCC that it was under there."""
    verdict = judge(pod(annotations={"openshift.io/scc": "second"}), scc("first"), scc("second"))
    assert verdict.scc == verdict.pod["metadata"]["annotations"]["openshift.io/scc"] == "first"


def test_required_scc() -> None:
    """Prevents a pod that pins its SCC from being taken by another."""
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
    """Prevents a message other than the API server's for a pod that has no name yet."""
    message = judge({"metadata": metadata, "spec": None}, scc(groups=[])).message
    assert message.startswith(f'pods "{shown}" is forbidden: unable to validate')


def test_each_message_once() -> None:
    """Prevents a list that repeats what the API server says once; the reasons keep them by SCC."""
    profile = {"seccompProfile": {"type": "Unconfined"}}
    verdict = judge(pod(security=profile), scc("a"), scc("b"))
    assert verdict.message.count("seccomp may not be set") == 2
    assert verdict.message.endswith("seccomp may not be set]")
    assert [reason.scc for reason in verdict.reasons] == ["a", "a", "b", "b"]


def test_two_generations_of_restricted() -> None:
    """Prevents the hint from missing that OpenShift gives when only the old `restricted` would do."""
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
    """Prevents a Windows pod from being judged by Linux rules."""
    asked = pod(spec={"os": {"name": "windows"}})
    verdict = judge(asked, scc(groups=[]))
    assert (verdict.admitted, verdict.scc, verdict.pod) == (True, None, asked)
    assert judge(pod(spec={"os": {"name": "linux"}}), scc()).scc == "open"


@pytest.mark.parametrize(
    ("changes", "fields", "message"),
    [
        pytest.param(
            {"openshift.io/sa.scc.uid-range": None},
            {},
            'error fetching namespace "adas": unable to find annotation openshift.io/sa.scc.uid-range',
            id="no range",
        ),
        pytest.param(
            {"openshift.io/sa.scc.mcs": None},
            {},
            'error fetching namespace "adas": unable to find annotation openshift.io/sa.scc.mcs',
            id="no level",
        ),
        pytest.param(
            {"openshift.io/sa.scc.uid-range": ""},
            {"runAsUser": RANGE},
            "unable to find pre-allocated uid annotation for namespace adas while trying to configure SCC open: "
            "found annotation openshift.io/sa.scc.uid-range but it was empty",
            id="empty range",
        ),
        pytest.param(
            {"openshift.io/sa.scc.uid-range": "1000680000"},
            {"runAsUser": RANGE},
            "unable to find pre-allocated uid annotation for namespace adas while trying to configure SCC open: "
            "unexpected EOF",
            id="half a range",
        ),
        pytest.param(
            {"openshift.io/sa.scc.mcs": ""},
            {"seLinuxContext": OWN},
            "unable to find pre-allocated mcs annotation for namespace adas while trying to configure SCC open: "
            "found annotation openshift.io/sa.scc.mcs but it was empty",
            id="empty level",
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
        *(
            pytest.param({}, fields, f"error creating provider for SCC open in namespace adas: {why}", id=why)
            for fields, why in (
                ({"runAsUser": {"type": "Any"}}, "Unrecognized RunAsUser strategy type Any"),
                ({"seLinuxContext": {}}, "Unrecognized SELinuxContext strategy type "),
                ({"fsGroup": RANGE}, "Unrecognized FSGroup strategy type MustRunAsRange"),
                ({"supplementalGroups": None}, "Unrecognized SupplementalGroups strategy type "),
                ({"runAsUser": OWN}, "MustRunAs requires a UID"),
                ({"runAsUser": {**RANGE, "uidRangeMax": 5}}, "MustRunAsRange requires a UIDRangeMin"),
                ({"runAsUser": {**RANGE, "uidRangeMin": 5}}, "MustRunAsRange requires a UIDRangeMax"),
            )
        ),
    ],
)
def test_what_stops_every_pod(changes: dict[str, str | None], fields: dict[str, Any], message: str) -> None:
    """Prevents an SCC that nobody can use from going unnoticed: one such refuses all pods, whoever may use it."""
    annotations = {**NAMESPACE.annotations, **changes}
    namespace = Namespace("adas", {key: value for key, value in annotations.items() if value is not None})
    verdict = judge(pod(), scc("a-good-one"), scc(groups=[], **fields), namespace=namespace)
    assert verdict.message == f'pods "worker" is forbidden: {message}'
    assert verdict.reasons == (Reason("", message),)


def test_no_sccs() -> None:
    """Prevents a crash on an empty folder of SCCs."""
    assert judge(pod()).message == 'pods "worker" is forbidden: no SecurityContextConstraints found in cluster'


def test_groups_fall_back_to_the_user_range() -> None:
    """Prevents a namespace of an old cluster, without groups of its own, from being refused."""
    annotations = {key: value for key, value in NAMESPACE.annotations.items() if "groups" not in key}
    old = Namespace("adas", {**annotations, "openshift.io/sa.scc.uid-range": "1000-1002"})
    found = judge(pod(), scc(fsGroup=OWN, supplementalGroups=OWN, runAsUser=RANGE), namespace=old).pod["spec"]
    assert found["securityContext"] == {"fsGroup": 1000, "supplementalGroups": [1000]}
    assert found["containers"][0]["securityContext"]["runAsUser"] == 1000
    beyond = pod(container={"runAsUser": 1003}, security={"supplementalGroups": [1002]})
    assert len(messages(judge(beyond, scc(supplementalGroups=OWN, runAsUser=RANGE), namespace=old))) == 1


def test_namespaces_do_not_share_ids() -> None:
    """Prevents a cached answer of one namespace from serving another with the same SCCs."""
    other = Namespace("other", {**NAMESPACE.annotations, "openshift.io/sa.scc.uid-range": "2000/10"})
    users = [
        judge(pod(), scc(runAsUser=RANGE), namespace=place).pod["spec"]["containers"][0]["securityContext"]["runAsUser"]
        for place in (NAMESPACE, other, NAMESPACE)
    ]
    assert users == [1000680000, 2000, 1000680000]


def test_other_mappings_than_dicts() -> None:
    """Prevents a crash on the read-only trees that other libraries hand out."""
    assert judge(MappingProxyType(pod()), MappingProxyType(scc(runAsUser=RANGE))).scc == "open"

"""What an SCC fills in."""

import copy
from typing import Any

import pytest

from tests.policies.scc.samples import ANY, NAMESPACE, OWN, judge, pod, scc

RANGE = {"type": "MustRunAsRange"}
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
OF_MAIN = "container.seccomp.security.alpha.kubernetes.io/main"
LOCAL = {"type": "Localhost", "localhostProfile": "p.json"}


@pytest.mark.parametrize(
    ("fields", "given", "filled"),
    [
        pytest.param({}, None, {}, id="never absent"),
        pytest.param({"fsGroup": OWN}, {}, {"fsGroup": 1000690000}, id="group of the namespace"),
        pytest.param({"fsGroup": OWN}, {"fsGroup": 1000690000}, {"fsGroup": 1000690000}, id="group that was set"),
        pytest.param(
            {"fsGroup": {**OWN, "ranges": [{"min": 5, "max": 9}, {"min": 1, "max": 2}]}}, {}, {"fsGroup": 5}, id="range"
        ),
        pytest.param({"supplementalGroups": OWN}, {}, {"supplementalGroups": [1000690000]}, id="supplemental group"),
        pytest.param(
            {"supplementalGroups": OWN},
            {"supplementalGroups": [1000710001]},
            {"supplementalGroups": [1000710001]},
            id="supplemental group that was set",
        ),
        pytest.param({"supplementalGroups": ANY}, {}, {}, id="no supplemental group"),
        pytest.param({"seLinuxContext": OWN}, {}, {"seLinuxOptions": {"level": "s0:c26,c15"}}, id="level of namespace"),
        pytest.param(
            {"seLinuxContext": {**OWN, "seLinuxOptions": {"type": "container_engine_t"}}},
            {},
            {"seLinuxOptions": {"level": "s0:c26,c15", "type": "container_engine_t"}},
            id="type of the SCC, level of the namespace",
        ),
        pytest.param(
            {"seLinuxContext": {**OWN, "seLinuxOptions": {"level": "s0:c1", "user": "u", "role": "r"}}},
            {},
            {"seLinuxOptions": {"level": "s0:c1", "role": "r", "user": "u"}},
            id="options of the SCC",
        ),
        pytest.param(
            {"seccompProfiles": ["runtime/default"]}, {}, {"seccompProfile": {"type": "RuntimeDefault"}}, id="seccomp"
        ),
        pytest.param(
            {"seccompProfiles": ["docker/default"]}, {}, {"seccompProfile": {"type": "RuntimeDefault"}}, id="docker's"
        ),
        pytest.param(
            {"seccompProfiles": ["*", "localhost/p.json"]},
            {},
            {"seccompProfile": LOCAL},
            id="first that is not a wildcard",
        ),
        pytest.param({"seccompProfiles": ["*"]}, {}, {}, id="wildcard fills nothing"),
        pytest.param(
            {"seccompProfiles": ["*"]}, {"seccompProfile": LOCAL}, {"seccompProfile": LOCAL}, id="own seccomp"
        ),
        pytest.param({"runAsUser": RANGE}, {}, {}, id="users are filled in containers"),
        pytest.param(
            {}, {"fsGroup": None, "runAsUser": 7, "sysctls": []}, {"runAsUser": 7, "sysctls": []}, id="nulls go"
        ),
        pytest.param(
            {},
            {"seLinuxOptions": {"level": "s0", "role": ""}},
            {"seLinuxOptions": {"level": "s0"}},
            id="what is empty goes",
        ),
    ],
)
def test_pod(fields: dict[str, Any], given: dict[str, Any] | None, filled: dict[str, Any]) -> None:
    """The predicted pod is the one that a cluster stores."""
    verdict = judge(pod(security=given), scc(**fields))
    assert verdict.admitted, verdict.message
    assert verdict.pod["spec"]["securityContext"] == filled


@pytest.mark.parametrize(
    ("fields", "given", "filled"),
    [
        pytest.param({}, None, None, id="nothing to say"),
        pytest.param({}, {}, {}, id="an empty one stays"),
        pytest.param(
            {"runAsUser": RANGE},
            None,
            {"runAsUser": 1000680000, "runAsNonRoot": True},
            id="first user of the namespace",
        ),
        pytest.param(
            {"runAsUser": {**RANGE, "uidRangeMin": 0, "uidRangeMax": 5}}, None, {"runAsUser": 0}, id="range from root"
        ),
        pytest.param(
            {"runAsUser": {**OWN, "uid": 12}}, None, {"runAsUser": 12, "runAsNonRoot": True}, id="the only user"
        ),
        pytest.param({"runAsUser": {"type": "MustRunAsNonRoot"}}, None, {"runAsNonRoot": True}, id="not root"),
        pytest.param(
            {}, {"runAsUser": 12}, {"runAsUser": 12, "runAsNonRoot": True}, id="whoever is not root is marked so"
        ),
        pytest.param({}, {"runAsUser": 0}, {"runAsUser": 0}, id="root is not marked"),
        pytest.param(
            {"requiredDropCapabilities": ["MKNOD", "KILL"]},
            None,
            {"capabilities": {"drop": ["KILL", "MKNOD"]}},
            id="drops, sorted",
        ),
        pytest.param(
            {"requiredDropCapabilities": ["KILL"]},
            {"capabilities": {"drop": ["KILL", "ALL"]}},
            {"capabilities": {"drop": ["KILL", "ALL"]}},
            id="drops that are there keep their order",
        ),
        pytest.param(
            {"defaultAddCapabilities": ["IPC_LOCK"], "allowedCapabilities": ["CHOWN"]},
            {"capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}},
            {"capabilities": {"add": ["CHOWN", "IPC_LOCK"], "drop": ["ALL"]}},
            id="adds",
        ),
        pytest.param(
            {"defaultAddCapabilities": ["IPC_LOCK"]},
            {"capabilities": {"drop": ["IPC_LOCK"]}},
            {"capabilities": {"drop": ["IPC_LOCK"]}},
            id="does not add what is dropped",
        ),
        pytest.param(
            {"requiredDropCapabilities": ["KILL"]},
            {"capabilities": {"drop": ["ALL", "ALL"]}},
            {"capabilities": {"drop": ["ALL", "KILL"]}},
            id="ALL stands for no other drop",
        ),
        pytest.param(
            {"defaultAddCapabilities": ["KILL"], "requiredDropCapabilities": ["KILL"]},
            None,
            {"capabilities": {"add": ["KILL"], "drop": ["KILL"]}},
            id="an SCC that adds what it drops",
        ),
        pytest.param({"readOnlyRootFilesystem": True}, None, {"readOnlyRootFilesystem": True}, id="read-only"),
        pytest.param(
            {"allowPrivilegeEscalation": False}, None, {"allowPrivilegeEscalation": False}, id="no escalation"
        ),
        pytest.param({"allowPrivilegeEscalation": True}, None, None, id="escalation is not filled in"),
        pytest.param(
            {"defaultAllowPrivilegeEscalation": False},
            None,
            {"allowPrivilegeEscalation": False},
            id="default escalation",
        ),
        pytest.param(
            {"defaultAllowPrivilegeEscalation": False, "allowPrivilegedContainer": True},
            {"privileged": True},
            {"privileged": True},
            id="privileged keeps escalation",
        ),
        pytest.param(
            {"allowPrivilegeEscalation": False, "allowPrivilegedContainer": True},
            {"privileged": True},
            {"privileged": True, "allowPrivilegeEscalation": False},
            id="privileged loses escalation that is not allowed",
        ),
        pytest.param(
            {"defaultAllowPrivilegeEscalation": False, "allowedCapabilities": ["*"]},
            {"capabilities": {"add": ["CAP_SYS_ADMIN"]}},
            {"capabilities": {"add": ["CAP_SYS_ADMIN"]}},
            id="CAP_SYS_ADMIN keeps escalation",
        ),
    ],
)
def test_container(fields: dict[str, Any], given: dict[str, Any] | None, filled: dict[str, Any] | None) -> None:
    """The predicted containers are those that a cluster stores."""
    verdict = judge(pod(container=given), scc(**fields))
    assert verdict.admitted, verdict.message
    assert verdict.pod["spec"]["containers"][0].get("securityContext") == filled


def test_every_kind_of_container() -> None:
    """Init and ephemeral containers are filled in and checked."""
    lists = {name: [{"name": name}, None] for name in ("initContainers", "ephemeralContainers")}
    verdict = judge(pod(spec=lists), scc(readOnlyRootFilesystem=True))
    for name in (*lists, "containers"):
        for container in verdict.pod["spec"][name]:
            assert container["securityContext"] == {"readOnlyRootFilesystem": True}, name


def test_the_pod_speaks_for_its_containers() -> None:
    """A user that the pod sets is not repeated in its containers."""
    security = {"runAsUser": 1000680007, "runAsNonRoot": True, "seLinuxOptions": {"level": "s0:c15,c26"}}
    verdict = judge(pod(security=security), scc(runAsUser=RANGE, seLinuxContext=OWN))
    assert verdict.pod["spec"]["securityContext"] == security
    assert "securityContext" not in verdict.pod["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("annotations", "field", "expected", "in_pod", "in_container"),
    [
        pytest.param({SECCOMP: "unconfined"}, None, "unconfined", {"type": "Unconfined"}, None, id="of the pod"),
        pytest.param({SECCOMP: "unconfined"}, LOCAL, "localhost/p.json", LOCAL, None, id="the field goes first"),
        pytest.param({SECCOMP: "foo"}, None, "foo", None, None, id="unknown to the field"),
        pytest.param({SECCOMP: "localhost/"}, None, "localhost/", None, None, id="without a file"),
        pytest.param({OF_MAIN: "unconfined"}, None, None, None, {"type": "Unconfined"}, id="of a container"),
        pytest.param({}, {"type": "Localhost"}, None, {"type": "Localhost"}, None, id="a field without a spelling"),
    ],
)
def test_seccomp_annotations(
    annotations: dict[str, str], field: object, expected: str | None, in_pod: object, in_container: object
) -> None:
    """The seccomp annotation and field agree."""
    security = {} if field is None else {"seccompProfile": field}
    found = judge(pod(security=security, annotations=annotations), scc(seccompProfiles=["*"])).pod
    assert found["metadata"]["annotations"].get(SECCOMP) == expected
    assert found["spec"]["securityContext"].get("seccompProfile") == in_pod
    assert found["spec"]["containers"][0].get("securityContext", {}).get("seccompProfile") == in_container


@pytest.mark.parametrize(("annotation", "filled"), [("unconfined", {"type": "Unconfined"}), ("foo", None)])
def test_the_annotation_of_a_container_goes_before_its_field(annotation: str, filled: object) -> None:
    """Seccomp profiles are replaced as by the plugin."""
    asked = pod(container={"seccompProfile": LOCAL}, annotations={OF_MAIN: annotation})
    found = judge(asked, scc(seccompProfiles=["*"])).pod["spec"]["containers"][0]["securityContext"]
    assert found.get("seccompProfile") == filled


def test_the_given_pod_stays() -> None:
    """Filling in does not change the given pod."""
    given = pod(spec={"initContainers": [{"name": "setup"}]}, security={}, container={"capabilities": {"add": []}})
    before = copy.deepcopy(given)
    constraints = (scc(runAsUser=RANGE, fsGroup=OWN, seLinuxContext=OWN, requiredDropCapabilities=["ALL"]),)
    untouched = copy.deepcopy(constraints)
    verdict = judge(given, *constraints)
    assert verdict.pod != before
    assert (given, constraints) == (before, untouched)
    assert NAMESPACE.annotations["openshift.io/sa.scc.uid-range"] == "1000680000/10000"


def test_annotations() -> None:
    """The annotations name the SCC, and through whom it was used."""
    verdict = judge(pod(annotations={"note": "kept"}), scc())
    assert verdict.pod["metadata"]["annotations"] == {
        "note": "kept",
        "openshift.io/scc": "open",
        "security.openshift.io/validated-scc-subject-type": "user",
    }

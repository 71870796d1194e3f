"""What an SCC fills in, beyond what the recorded verdicts have (`test_scc_recorded.py`)."""

import copy
from typing import Any

import pytest

from tests.policies.scc.samples import NAMESPACE, OWN, judge, pod, scc

RANGE = {"type": "MustRunAsRange"}
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
OF_MAIN = "container.seccomp.security.alpha.kubernetes.io/main"
LOCAL = {"type": "Localhost", "localhostProfile": "p.json"}


@pytest.mark.parametrize(
    ("fields", "given", "filled"),
    [
        pytest.param(
            {"seccompProfiles": ["docker/default"]}, {}, {"seccompProfile": {"type": "RuntimeDefault"}}, id="docker's"
        ),
        pytest.param(
            {"seccompProfiles": ["*", "localhost/p.json"]},
            {},
            {"seccompProfile": LOCAL},
            id="first that is not a wildcard",
        ),
        pytest.param(
            {"seccompProfiles": ["*"]}, {"seccompProfile": LOCAL}, {"seccompProfile": LOCAL}, id="own seccomp"
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
        pytest.param(
            {"defaultAddCapabilities": ["IPC_LOCK"], "allowedCapabilities": ["CHOWN"]},
            {"capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}},
            {"capabilities": {"add": ["CHOWN", "IPC_LOCK"], "drop": ["ALL"]}},
            id="adds",
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


@pytest.mark.parametrize(
    ("annotations", "field", "expected", "in_pod", "in_container"),
    [
        pytest.param({SECCOMP: "unconfined"}, None, "unconfined", {"type": "Unconfined"}, None, id="of the pod"),
        pytest.param({SECCOMP: "unconfined"}, LOCAL, "localhost/p.json", LOCAL, None, id="the field goes first"),
        pytest.param({SECCOMP: "localhost/"}, None, "localhost/", None, None, id="without a file"),
        pytest.param({OF_MAIN: "unconfined"}, None, None, None, {"type": "Unconfined"}, id="of a container"),
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

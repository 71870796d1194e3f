"""What an SCC refuses, in the API server's words, beyond what the recorded verdicts have (`test_scc_recorded.py`)."""

from typing import Any

import pytest

from tests.policies.scc.samples import OWN, judge, messages, pod, scc

IN_POD, IN_CONTAINER = "provider open: .spec.", "provider open: .containers[0]."
POD_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
OF_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
TOKEN = {
    "sources": [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {
            "configMap": {
                "name": "openshift-service-ca.crt",
                "items": [{"key": "service-ca.crt", "path": "service-ca.crt"}],
            }
        },
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
}


@pytest.mark.parametrize(
    ("fields", "asked", "expected"),
    [
        pytest.param(
            {"seLinuxContext": OWN},
            {"container": {"seLinuxOptions": {"level": "s0:c1", "type": "spc_t"}}},
            [
                f'{IN_CONTAINER}seLinuxOptions.level: Invalid value: "s0:c1": must be s0:c26,c15',
                f'{IN_CONTAINER}seLinuxOptions.type: Invalid value: "spc_t": must be ',
            ],
            id="SELinux of a container",
        ),
        *(
            pytest.param(
                {"seLinuxContext": OWN},
                {"security": {"seLinuxOptions": {"level": level}}},
                [
                    f'{place}seLinuxOptions.level: Invalid value: "{level}": must be s0:c26,c15'
                    for place in (f"{IN_POD}securityContext.", IN_CONTAINER)
                ],
                id=f"level {level}",
            )
            for level in ("s1:c26,c15", "s0:c26,c15,c15", "s0:c15.c26")
        ),
        pytest.param(
            {"fsGroup": OWN},
            {"security": {"fsGroup": 1000690001}},
            [f"{IN_POD}securityContext.fsGroup: Invalid value: [1000690001]: 1000690001 is not an allowed group"],
            id="only the first group of the namespace is a file system's",
        ),
        pytest.param(
            {"supplementalGroups": OWN},
            {"security": {"supplementalGroups": [1000710001, 5, 1000710002]}},
            [
                f"{IN_POD}securityContext.supplementalGroups: Invalid value: [1000710001,5,1000710002]: "
                f"{group} is not an allowed group"
                for group in (5, 1000710002)
            ],
            id="supplemental groups",
        ),
        pytest.param(
            {"supplementalGroups": OWN},
            {"security": {"supplementalGroups": []}},
            [
                f"{IN_POD}securityContext.supplementalGroups: Invalid value: []: "
                "unable to validate empty groups against required ranges"
            ],
            id="no supplemental group",
        ),
        pytest.param(
            {"userNamespaceLevel": "RequirePodLevel"},
            {"spec": {"hostUsers": True}},
            [f"{IN_POD}hostUsers: Invalid value: true: Host Users must be set to false"],
            id="users of the host",
        ),
        pytest.param(
            {"forbiddenSysctls": ["kernel.shm*"], "allowedUnsafeSysctls": ["kernel.*"]},
            {"security": {"sysctls": [{"name": n} for n in ("kernel.shm_rmid_forced", "kernel.sem", "net.core.x")]}},
            [
                'spec.securityContext.sysctls[0]: Forbidden: sysctl "kernel.shm_rmid_forced" is not allowed',
                'spec.securityContext.sysctls[2]: Forbidden: unsafe sysctl "net.core.x" is not allowed',
            ],
            id="sysctls",
        ),
        pytest.param(
            {"forbiddenSysctls": ["net.*.tcp_rmem"], "allowedUnsafeSysctls": ["kernel.*x", "net"]},
            {"security": {"sysctls": [{"name": name} for name in ("net.ipv4.tcp_rmem", "kernel.msgmax", "net.a")]}},
            [
                f'spec.securityContext.sysctls[{index}]: Forbidden: unsafe sysctl "{name}" is not allowed'
                for index, name in ((1, "kernel.msgmax"), (2, "net.a"))
            ],
            id="a star stands for others at the end alone",
        ),
        pytest.param(
            {"allowedFlexVolumes": [{"driver": "example/foo"}]},
            {"spec": {"volumes": [{"flexVolume": {"driver": "example/bar"}}]}},
            [f'{IN_POD}volumes[0]: Invalid value: "flexVolume": flexVolume volumes are not allowed to be used'],
            id="no flexVolume, whatever its driver",
        ),
        pytest.param(
            {"allowedCapabilities": ["CHOWN"], "requiredDropCapabilities": ["KILL"]},
            {"container": {"capabilities": {"add": ["CHOWN", "IPC_LOCK", "ipc_lock"]}}},
            [
                f'{IN_CONTAINER}capabilities.add: Invalid value: "{name}": capability may not be added'
                for name in ("IPC_LOCK", "ipc_lock")
            ],
            id="capabilities",
        ),
        *(
            pytest.param(
                {"allowedCapabilities": names},
                {"container": {"capabilities": {"add": ["CHOWN"]}}},
                [f'{IN_CONTAINER}capabilities.add: Invalid value: "CHOWN": capability may not be added'],
                id=f"capability {names}",
            )
            for names in (["ALL"], ["CAP_CHOWN", "chown"])
        ),
        pytest.param(
            {"allowHostNetwork": True},
            {"spec": {"hostNetwork": True}, "ports": [{"containerPort": 81}]},
            [f"{IN_CONTAINER}containers[0].hostPort: Invalid value: 81: Host ports are not allowed to be used"],
            id="on the host's network every port is one of the host",
        ),
    ],
)
def test_refused(fields: dict[str, Any], asked: dict[str, Any], expected: list[str]) -> None:
    """Each check refuses with the plugin's own message."""
    assert messages(judge(pod(**asked), scc(**fields))) == expected


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        pytest.param(
            {"seLinuxContext": OWN}, {"security": {"seLinuxOptions": {"level": "s0:c15,c26"}}}, id="categories"
        ),
        pytest.param({"seccompProfiles": ["docker/default"]}, {"annotations": {}}, id="docker's profile"),
        pytest.param({"allowHostPorts": True}, {"ports": [{"hostPort": 80}]}, id="host port"),
        pytest.param({"userNamespaceLevel": "RequirePodLevel"}, {"spec": {"hostUsers": False}}, id="own users"),
        pytest.param({}, {"security": {"sysctls": [{"name": "net.ipv4.tcp_rmem"}]}}, id="safe sysctl"),
        pytest.param({"volumes": ["secret"]}, {"spec": {"volumes": [{"projected": TOKEN}]}}, id="token"),
        pytest.param({"volumes": ["secret"]}, {"spec": {"volumes": [{"projected": {}}]}}, id="nothing is projected"),
        pytest.param(
            {"volumes": ["*"], "allowedFlexVolumes": [{"driver": "example/foo"}]},
            {"spec": {"volumes": [{"flexVolume": {"driver": "example/foo"}}]}},
            id="this flexVolume driver",
        ),
        pytest.param(
            {"allowedUnsafeSysctls": ["kernel.msg*"]}, {"security": {"sysctls": [{"name": "kernel.msgmax"}]}}, id="star"
        ),
        pytest.param(
            {"allowedCapabilities": ["*"]}, {"container": {"capabilities": {"add": ["x"]}}}, id="any capability"
        ),
    ],
)
def test_admitted(fields: dict[str, Any], asked: dict[str, Any]) -> None:
    """Pods that a cluster admits are admitted."""
    verdict = judge(pod(**asked), scc(**fields))
    assert verdict.admitted, verdict.message


@pytest.mark.parametrize(
    "change",
    [
        {"serviceAccountToken": {"path": "other"}},
        {"serviceAccountToken": {"path": "token", "audience": "vault"}},
        {"configMap": {"name": "mine", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"configMap": {"name": "kube-root-ca.crt"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "../ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"downwardAPI": {"items": [{"path": "namespace"}]}},
        {"secret": {"name": "s"}},
    ],
)
def test_projected_volumes_that_are_not_the_token(change: dict[str, Any]) -> None:
    """Only the exact projected volume counts as a service account's token."""
    volumes = [{"projected": {"sources": [*TOKEN["sources"], change]}}]
    found = messages(judge(pod(spec={"volumes": volumes}), scc(volumes=["secret"])))
    assert found == [
        'provider open: .spec.volumes[0]: Invalid value: "projected": projected volumes are not allowed to be used'
    ]

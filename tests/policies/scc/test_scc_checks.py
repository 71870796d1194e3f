"""What an SCC refuses, word by word; the words are those that the API server prints."""

from typing import Any

import pytest

from tests.policies.scc.samples import OWN, judge, messages, pod, scc

RANGE = {"type": "MustRunAsRange"}
NON_ROOT = {"type": "MustRunAsNonRoot"}
IN_POD, IN_CONTAINER = "provider open: .spec.", "provider open: .containers[0]."
POD_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
OF_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
SECCOMP = f"pod.metadata.annotations[{POD_SECCOMP}]: Forbidden: "
OF_MAIN = f"pod.metadata.annotations[{OF_CONTAINER}main]: Forbidden: "
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
            {"runAsUser": RANGE},
            {"container": {"runAsUser": 1000}},
            [f"{IN_CONTAINER}runAsUser: Invalid value: 1000: must be in the ranges: [1000680000, 1000689999]"],
            id="user outside the range",
        ),
        pytest.param(
            {"runAsUser": RANGE},
            {"security": {"runAsUser": 0}},
            [f"{IN_CONTAINER}runAsUser: Invalid value: 0: must be in the ranges: [1000680000, 1000689999]"],
            id="user of the pod",
        ),
        pytest.param(
            {"runAsUser": {**OWN, "uid": 6}},
            {"container": {"runAsUser": 5}},
            [f"{IN_CONTAINER}runAsUser: Invalid value: 5: must be: 6"],
            id="another user",
        ),
        pytest.param(
            {"runAsUser": NON_ROOT},
            {"container": {"runAsUser": 0}},
            [f"{IN_CONTAINER}runAsUser: Invalid value: 0: running with the root UID is forbidden"],
            id="root",
        ),
        pytest.param(
            {"runAsUser": NON_ROOT},
            {"container": {"runAsNonRoot": False, "runAsUser": 0}},
            [f"{IN_CONTAINER}runAsNonRoot: Invalid value: false: must be true"],
            id="may be root",
        ),
        pytest.param(
            {"seLinuxContext": OWN},
            {"container": {"seLinuxOptions": {"level": "s0:c1", "type": "spc_t"}}},
            [
                f'{IN_CONTAINER}seLinuxOptions.level: Invalid value: "s0:c1": must be s0:c26,c15',
                f'{IN_CONTAINER}seLinuxOptions.type: Invalid value: "spc_t": must be ',
            ],
            id="SELinux of a container",
        ),
        pytest.param(
            {"seLinuxContext": {**OWN, "seLinuxOptions": {"level": "l", "role": "r", "type": "t", "user": "u"}}},
            {"security": {"seLinuxOptions": {}}},
            [
                f'{place}seLinuxOptions.{field}: Invalid value: "": must be {field[0]}'
                for place in (f"{IN_POD}securityContext.", IN_CONTAINER)
                for field in ("level", "role", "type", "user")
            ],
            id="SELinux of the pod",
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
            for level in ("s1:c26,c15", "s0:c26,c15,c15", "s0:c15.c26", "s0", "")
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
            {},
            {"security": {"seccompProfile": {"type": "Unconfined"}}},
            [f"{SECCOMP}seccomp may not be set", f"{OF_MAIN}seccomp may not be set"],
            id="no seccomp allowed",
        ),
        pytest.param(
            {"seccompProfiles": ["runtime/default", "localhost/a"]},
            {"container": {"seccompProfile": {"type": "Unconfined"}}},
            [f"{OF_MAIN}unconfined is not an allowed seccomp profile. Valid values are [runtime/default localhost/a]"],
            id="another seccomp profile",
        ),
        pytest.param(
            {"seccompProfiles": ["runtime/default"]},
            {"container": {"seccompProfile": {"type": "Localhost"}}},
            [f"{OF_MAIN} is not an allowed seccomp profile. Valid values are [runtime/default]"],
            id="a seccomp profile without a file",
        ),
        pytest.param(
            {"seccompProfiles": ["foo"]},
            {"annotations": {f"{OF_CONTAINER}main": "bar"}},
            [f"{OF_MAIN}bar is not an allowed seccomp profile. Valid values are [foo]"],
            id="the annotation of a container",
        ),
        *(
            pytest.param(
                {},
                {"spec": {field: True}},
                [
                    f"{IN_POD}{field}: Invalid value: true: Host {what} is not allowed to be used",
                    f"{IN_CONTAINER}{field}: Invalid value: true: Host {what} is not allowed to be used",
                ],
                id=field,
            )
            for field, what in (("hostNetwork", "network"), ("hostPID", "PID"), ("hostIPC", "IPC"))
        ),
        *(
            pytest.param(
                {"userNamespaceLevel": "RequirePodLevel"},
                {"spec": {"hostUsers": value}},
                [f"{IN_POD}hostUsers: Invalid value: {shown}: Host Users must be set to false"],
                id=f"users of the host: {shown}",
            )
            for value, shown in ((None, "null"), (True, "true"))
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
            {"volumes": ["secret"]},
            {"spec": {"volumes": [{"hostPath": {"path": "/"}}, {"name": "x"}, {"cephfs": {}}, {"secret": {}}]}},
            [
                f'{IN_POD}volumes[{index}]: Invalid value: "{kind}": {kind} volumes are not allowed to be used'
                for index, kind in enumerate(("hostPath", "emptyDir", "cephFS"))
            ],
            id="volumes",
        ),
        pytest.param(
            {"volumes": ["*"], "allowedFlexVolumes": [{"driver": "example/foo"}]},
            {"spec": {"volumes": [{"emptyDir": {}}, {"flexVolume": {"driver": "example/bar"}}]}},
            [
                f'{IN_POD}volumes[1].flexVolume.driver: Invalid value: "example/bar": '
                "Flexvolume driver is not allowed to be used"
            ],
            id="flexVolume driver",
        ),
        pytest.param(
            {"allowedFlexVolumes": [{"driver": "example/foo"}]},
            {"spec": {"volumes": [{"flexVolume": {"driver": "example/bar"}}]}},
            [f'{IN_POD}volumes[0]: Invalid value: "flexVolume": flexVolume volumes are not allowed to be used'],
            id="no flexVolume, whatever its driver",
        ),
        pytest.param(
            {},
            {"container": {"privileged": True}},
            [f"{IN_CONTAINER}privileged: Invalid value: true: Privileged containers are not allowed"],
            id="privileged",
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
                fields,
                {"container": {"capabilities": {"add": ["CHOWN"]}}},
                [f'{IN_CONTAINER}capabilities.add: Invalid value: "CHOWN": capability may not be added'],
                id=f"{fields}",
            )
            for fields in (
                {"requiredDropCapabilities": ["CHOWN"]},
                {"allowedCapabilities": ["ALL"]},
                {"allowedCapabilities": ["CAP_CHOWN", "chown"]},
            )
        ),
        pytest.param(
            {},
            {"ports": [{"hostPort": 80}, {"hostPort": 0}, {"containerPort": 81}]},
            [f"{IN_CONTAINER}containers[0].hostPort: Invalid value: 80: Host ports are not allowed to be used"],
            id="host port",
        ),
        pytest.param(
            {"allowHostNetwork": True},
            {"spec": {"hostNetwork": True}, "ports": [{"containerPort": 81}]},
            [f"{IN_CONTAINER}containers[0].hostPort: Invalid value: 81: Host ports are not allowed to be used"],
            id="on the host's network every port is one of the host",
        ),
        pytest.param(
            {"readOnlyRootFilesystem": True},
            {"container": {"readOnlyRootFilesystem": False}},
            [f"{IN_CONTAINER}readOnlyRootFilesystem: Invalid value: false: ReadOnlyRootFilesystem must be set to true"],
            id="writable",
        ),
        *(
            pytest.param(
                {"allowPrivilegeEscalation": False, **more},
                {"container": container},
                [
                    f"{IN_CONTAINER}allowPrivilegeEscalation: Invalid value: true: "
                    "Allowing privilege escalation for containers is not allowed"
                ],
                id=f"escalation {more or container}",
            )
            for more, container in (
                ({}, {"allowPrivilegeEscalation": True}),
                ({"defaultAllowPrivilegeEscalation": True}, {}),
            )
        ),
    ],
)
def test_refused(fields: dict[str, Any], asked: dict[str, Any], expected: list[str]) -> None:
    """Each check refuses with the plugin's own message."""
    assert messages(judge(pod(**asked), scc(**fields))) == expected


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        pytest.param({"runAsUser": RANGE}, {"container": {"runAsUser": 1000689999}}, id="last user of the range"),
        pytest.param(
            {"seLinuxContext": OWN}, {"security": {"seLinuxOptions": {"level": "s0:c15,c26"}}}, id="categories"
        ),
        pytest.param({"seccompProfiles": ["docker/default"]}, {"annotations": {}}, id="docker's profile"),
        pytest.param(
            {"seccompProfiles": ["x", "docker/default"]},
            {"security": {"seccompProfile": {"type": "RuntimeDefault"}}},
            id="docker's profile and the runtime's are one",
        ),
        pytest.param({}, {"annotations": {POD_SECCOMP: "", f"{OF_CONTAINER}main": ""}}, id="no seccomp profile"),
        pytest.param({"seccompProfiles": ["x"]}, {"annotations": {POD_SECCOMP: "x"}}, id="the pod's profile"),
        pytest.param({"allowHostPorts": True}, {"ports": [{"hostPort": 80}]}, id="host port"),
        pytest.param({"userNamespaceLevel": "RequirePodLevel"}, {"spec": {"hostUsers": False}}, id="own users"),
        pytest.param({"userNamespaceLevel": "AllowHostLevel"}, {"spec": {"hostUsers": True}}, id="users of the host"),
        pytest.param({}, {"security": {"sysctls": [{"name": "net.ipv4.tcp_rmem"}]}}, id="safe sysctl"),
        pytest.param(
            {"volumes": ["*"], "allowHostDirVolumePlugin": True},
            {"spec": {"volumes": [{"hostPath": {}}]}},
            id="any volume",
        ),
        pytest.param({"volumes": ["vsphere"]}, {"spec": {"volumes": [{"vsphereVolume": {}}]}}, id="renamed volume"),
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
        pytest.param({}, {"security": {"supplementalGroups": []}}, id="no group where any will do"),
        pytest.param(
            {"volumes": ["flexVolume"], "allowedFlexVolumes": []},
            {"spec": {"volumes": [{"flexVolume": {"driver": "any"}}]}},
            id="any flexVolume driver",
        ),
        pytest.param(
            {"allowedCapabilities": ["*"]}, {"container": {"capabilities": {"add": ["x"]}}}, id="any capability"
        ),
        pytest.param(
            {"defaultAddCapabilities": ["X"]},
            {"container": {"capabilities": {"add": ["X"]}}},
            id="capability by default",
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


def test_each_container_is_named() -> None:
    """A refusal names every container that it is about."""
    bad = {"name": "c", "securityContext": {"privileged": True}}
    spec = {"initContainers": [bad], "containers": [{"name": "ok"}, bad], "ephemeralContainers": [bad]}
    assert messages(judge(pod(spec=spec), scc())) == [
        f"provider open: .{place}.privileged: Invalid value: true: Privileged containers are not allowed"
        for place in ("initContainers[0]", "containers[1]", "ephemeralContainers[0]")
    ]


def test_host_ports_are_reported_once_per_container() -> None:
    """Host ports of all containers are listed for each container, as by the plugin."""
    port = {"ports": [{"hostPort": 80}]}
    spec = {"initContainers": [{"name": "a"}], "containers": [port], "ephemeralContainers": [port]}
    assert messages(judge(pod(spec=spec), scc())) == [
        f"provider open: .{place}.{other}.hostPort: Invalid value: 80: Host ports are not allowed to be used"
        for place in ("initContainers[0]", "containers[0]", "ephemeralContainers[0]")
        for other in ("containers[0]", "ephemeralContainers[0]")
    ]

"""The security context constraints that let ordinary users' pods lock memory (R-3.4.3-2)."""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from apis import kinds, names
from components.component import Component, stateful
from components.custom_resources import CustomObject
from components.labels import labels
from components.model import DnsName, Model


class MpiSccArgs(Model):
    """Which SCC to make."""

    scc_name: DnsName = Field(default="scc-for-mpi", description="R-3.4.3-2")
    protect: bool = Field(default=False, description="refuse to delete it")


def constraints() -> dict[str, Any]:
    """Return the SCC's fields: the `restricted` of OpenShift 4.4, plus IPC_LOCK for pods that ask for it.

    IPC_LOCK is allowed, not added to every pod. No group may use it, the paper's `system:authenticated` would make the
    per-namespace binding decoration (E-13); use is granted by RBAC alone. Every key that the real CRD requires is
    there: Pulumi drops nulls, and `priority: 0` and `[]` mean the same to OpenShift.
    """
    host = ("allowHostDirVolumePlugin", "allowHostIPC", "allowHostNetwork", "allowHostPID", "allowHostPorts")
    return {
        **dict.fromkeys(host, False),
        "allowPrivilegeEscalation": True,
        "allowPrivilegedContainer": False,
        "allowedCapabilities": [names.IPC_LOCK],
        "defaultAddCapabilities": [],
        "requiredDropCapabilities": ["KILL", "MKNOD", "SETUID", "SETGID"],
        "fsGroup": {"type": "MustRunAs"},
        "runAsUser": {"type": "MustRunAsRange"},
        "seLinuxContext": {"type": "MustRunAs"},
        "supplementalGroups": {"type": "RunAsAny"},
        "groups": [],
        "users": [],
        "priority": 0,
        "readOnlyRootFilesystem": False,
        "volumes": ["configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret"],
    }


class MpiScc(Component):
    """One cluster-wide SecurityContextConstraints object. Outputs: `scc_name`."""

    scc_name: pulumi.Output[str]

    def __init__(self, name: str, args: MpiSccArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("security:MpiScc", name, args, opts)
        scc = CustomObject(
            f"{name}-constraints",
            kinds.SECURITY_CONTEXT_CONSTRAINTS,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.scc_name,
                labels=labels(args.scc_name, "security"),
                annotations={"kubernetes.io/description": "restricted, and IPC_LOCK for containers that add it"},
            ),
            constraints(),
            self.child(**stateful(protect=args.protect)),
        )
        self.outputs(scc_name=scc.id.apply(lambda _: args.scc_name))

"""The security context constraints that let ordinary users' pods lock memory."""

from collections.abc import Mapping
from typing import Any, Literal

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component, CustomObject, stateful
from components.base.model import DnsName, Model
from core.apis import kinds, names
from core.apis.names import labels

Base = Literal["restricted", "restricted-v2"]
"""What pods of every account get: `restricted` as of OpenShift 4.4, `restricted-v2` from 4.11 on."""


class MpiSccArgs(Model):
    """Which SCC to make."""

    base: Base = Field(default="restricted", description="what it gives besides IPC_LOCK, from the release")

    scc_name: DnsName = Field(default="scc-for-mpi", description="name of the SCC")
    protect: bool = Field(default=False, description="refuse to delete it")


def constraints(base: Base) -> dict[str, Any]:
    """Return the SCC's fields: those of `base`, plus IPC_LOCK for pods that ask for it.

    IPC_LOCK is allowed, not added to every pod. No group may use it, the paper's `system:authenticated` would make the
    per-namespace binding decoration; use is granted by RBAC alone. Every key that the real CRD requires is
    there: Pulumi drops nulls, and `priority: 0` and `[]` mean the same to OpenShift.
    """
    host = ("allowHostDirVolumePlugin", "allowHostIPC", "allowHostNetwork", "allowHostPID", "allowHostPorts")
    return {
        **dict.fromkeys(host, False),
        "allowPrivilegedContainer": False,
        "defaultAddCapabilities": [],
        "fsGroup": {"type": "MustRunAs"},
        "runAsUser": {"type": "MustRunAsRange"},
        "seLinuxContext": {"type": "MustRunAs"},
        "supplementalGroups": {"type": "RunAsAny"},
        "groups": [],
        "users": [],
        "priority": 0,
        "readOnlyRootFilesystem": False,
        **_BASES[base],
    }


_VOLUMES = ("configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret")

_BASES: Mapping[Base, Mapping[str, Any]] = {
    "restricted": {
        "allowPrivilegeEscalation": True,
        "allowedCapabilities": [names.IPC_LOCK],
        "requiredDropCapabilities": ["KILL", "MKNOD", "SETUID", "SETGID"],
        "volumes": list(_VOLUMES),
    },
    "restricted-v2": {
        "allowPrivilegeEscalation": False,
        "allowedCapabilities": [names.IPC_LOCK, names.NET_BIND_SERVICE],
        "requiredDropCapabilities": ["ALL"],
        "seccompProfiles": ["runtime/default"],
        "volumes": sorted((*_VOLUMES, "csi", "ephemeral", "image")),
    },
}
"""In what the two differ; current OpenShift lets both have the newer kinds of volumes, 4.4 did not know them."""


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
                annotations={"kubernetes.io/description": f"{args.base}, and IPC_LOCK for containers that add it"},
            ),
            constraints(args.base),
            self.child(**stateful(protect=args.protect)),
        )
        self.outputs(scc_name=scc.id.apply(lambda _: args.scc_name))

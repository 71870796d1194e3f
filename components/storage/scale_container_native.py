"""Container-native Storage Scale: a cluster of pods on the workers that mounts a file system of a storage cluster.

Nodes of RHCOS have no package of a Spectrum Scale client. IBM's operator runs one in a pod on every labelled node and
installs the CSI driver; whoever administers the cluster installs the operator, from IBM's manifest. Kinds, fields and
names are those of 5.2.3 (IBM/ibm-spectrum-scale-container-native, generated/scale).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, StringConstraints

from components.base import waits
from components.base.component import Component, CustomObject, cluster_wide, stateful
from components.base.model import DnsLabel, DnsName, Model, Seconds
from components.base.scheduling import Toleration
from components.base.timeouts import DEFAULTS
from components.storage.scale_csi import Certificate, ClusterId, GuiAccount
from core.apis import kinds, names
from core.apis.names import labels

CLUSTER = "ibm-spectrum-scale"
_PROFILE = {
    "controlSetxattrImmutableSELinux": "yes",
    "enforceFilesetQuotaOnRoot": "yes",
    "ignorePrefetchLUNCount": "yes",
    "initPrefetchBuffers": "128",
    "maxblocksize": "16M",
    "prefetchPct": "25",
    "prefetchTimeout": "30",
}
"""As in IBM's samples; other values are unsupported."""
_DRIVERS = "/run/mellanox/drivers"
_SOURCES = ("/usr/src/kernels", "/usr/include/asm", "/usr/include/asm-generic", "/usr/include/linux")
_AFTER_DRIVER = """\
#!/bin/sh
# The module must not use a network driver that is about to be replaced: wait for the one in a container, where the
# node has an adapter of vendor 15b3 to drive.
if grep -qs 0x15b3 /sys/bus/pci/devices/*/vendor; then
    waited=0
    until [ -f /run/mellanox/drivers/.driver-ready ]; do
        if [ "$waited" -ge 600 ]; then
            echo "no network driver is ready after $waited seconds"
            exit 1
        fi
        sleep 10
        waited=$((waited + 10))
    done
fi
mmbuildgpl
"""


class ScaleClient(Model):
    """What the client pod requests on every node, even the smallest worker; its memory holds the pagepool."""

    cpus: int = Field(default=2, gt=0, description="CPUs; IBM's sample for NVIDIA's machines has 4")
    memory_gib: int = Field(default=4, ge=4, description="memory, GiB; IBM's sample for NVIDIA's machines has 32")


class ScaleRdma(Model):
    """Data over RDMA instead of TCP; nodes without the ports stay on TCP."""

    link: Literal["infiniband", "roce"] = Field(
        description="link layer of the storage network; roce from version 5.2.3 on"
    )
    ports: tuple[Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+(/[1-9][0-9]*)?$")], ...] = Field(
        min_length=1, description="adapters on the nodes, each with its port, e.g. mlx5_3/1"
    )


class RemoteStorage(Model):
    """The storage cluster that owns the file system."""

    name: DnsLabel = Field(
        description="name of its RemoteCluster; accounts are in Secrets cnsa-remote-mount-NAME and "
        "csi-remote-mount-NAME"
    )
    id: ClusterId = Field(description="cluster id, from mmlscluster on its nodes")
    gui_hosts: tuple[str, ...] = Field(min_length=1, max_length=3, description="DNS names of its GUIs")
    contact_nodes: tuple[str, ...] = Field(
        min_length=1,
        description="daemon names of nodes through which the file system is mounted, as mmlscluster prints them",
    )
    csi_account: bool = Field(
        default=True, description="provide the account of group CsiAdmin, too; a cluster of 5.2.3 or later needs none"
    )

    @property
    def operator_secret(self) -> str:
        """Name of the Secret with the account of group ContainerOperator."""
        return f"cnsa-remote-mount-{self.name}"

    @property
    def csi_secret(self) -> str:
        """Name of the Secret with the account of group CsiAdmin."""
        return f"csi-remote-mount-{self.name}"

    @property
    def secrets(self) -> Mapping[str, str]:
        """The Secrets with accounts of the GUI, each with its namespace."""
        csi = {self.csi_secret: names.SCALE_CSI_NAMESPACE} if self.csi_account else {}
        return {self.operator_secret: names.SCALE_NAMESPACE} | csi


class ContainerNativeScale(Model):
    """One cluster and one file system, as settings and the component have them."""

    license: Literal["data-access", "data-management", "erasure-code"] = Field(
        description="edition that the site is entitled to"
    )
    license_accepted: Literal[True] = Field(description="true: you have read and accepted IBM's licence")
    remote: RemoteStorage
    ca_certificate: Certificate | None = Field(
        default=None, description="CA certificate of the GUIs, PEM; None: one that the operator trusts already"
    )
    mounted_as: DnsLabel = Field(description="name of the Filesystem; the file system is mounted at /mnt/NAME")
    client: ScaleClient = ScaleClient()
    rdma: ScaleRdma | None = Field(default=None, description="None: data over TCP")
    host_aliases: dict[DnsName, Annotated[str, Field(min_length=1)]] = Field(
        default={}, description="addresses of storage nodes whose names DNS does not resolve, by name"
    )

    @property
    def mount_point(self) -> str:
        """Where the nodes have the file system."""
        return f"{names.SCALE_MOUNTS}{self.mounted_as}"


class ScaleContainerNativeArgs(ContainerNativeScale):
    """The cluster, and what the component must know beside it."""

    file_system: str = Field(min_length=1, description="its name on the storage cluster")
    network_driver: bool = Field(
        default=False, description="the nodes' network driver comes in a container: the kernel module is built after it"
    )
    tolerations: tuple[Toleration, ...] = Field(
        default=(), description="taints that the client's pods tolerate; nodes with others are no clients"
    )
    ready_timeout: Seconds = Field(
        default=DEFAULTS.operator, description="seconds until every client runs and has the file system"
    )
    protect: bool = Field(default=False, description="refuse to delete secrets, cluster and file system")


class ScaleContainerNative(Component):
    """Secrets and CA of the storage cluster's GUI, Cluster, RemoteCluster, Filesystem; a ConfigMap for DOCA drivers.

    The ConfigMap replaces the script that builds the kernel module. IBM's sample waits for a network driver on every
    node, and ends in an error where none comes; ours waits where there is an adapter, and has not been run on one.
    `accounts` maps secret names to `GuiAccount` fields and stays a Pulumi secret. Outputs: `file_system`, its name,
    known when it is mounted.
    """

    file_system: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: ScaleContainerNativeArgs,
        accounts: pulumi.Output[dict[str, GuiAccount]],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("storage:ScaleContainerNative", name, args, opts)
        keep = stateful(protect=args.protect)
        resources: list[pulumi.Resource] = [
            k8s.core.v1.Secret(
                f"{name}-{secret}",
                metadata=_meta(secret, namespace),
                string_data=accounts[secret].apply(GuiAccount.model_dump),
                opts=self.child(**keep),
            )
            for secret, namespace in args.remote.secrets.items()
        ]
        if args.ca_certificate:
            resources.append(
                self._config_map(f"{name}-ca", _ca(args.remote), {f"{args.remote.name}.crt": args.ca_certificate})
            )
        if args.network_driver:
            script = {"buildgpl": _AFTER_DRIVER, "hostPathDirectories": "\n".join((_DRIVERS, *_SOURCES, ""))}
            resources.append(self._config_map(f"{name}-buildgpl", "buildgpl", script))
        cluster = CustomObject(
            f"{name}-cluster",
            kinds.SCALE_CLUSTER,
            cluster_wide(CLUSTER, "storage"),
            {"spec": cluster_spec(args)},
            self.child(*resources, **keep),
        )
        remote = CustomObject(
            f"{name}-remote",
            kinds.SCALE_REMOTE_CLUSTER,
            _meta(
                args.remote.name,
                names.SCALE_NAMESPACE,
                waits.wait_for([waits.condition("Ready")], timeout=args.ready_timeout),
            ),
            {"spec": remote_spec(args)},
            self.child(cluster, **keep),
        )
        file_system = CustomObject(
            f"{name}-file-system",
            kinds.SCALE_FILE_SYSTEM,
            _meta(
                args.mounted_as,
                names.SCALE_NAMESPACE,
                waits.wait_for([waits.condition("Success")], timeout=args.ready_timeout),
            ),
            {"spec": {"remote": {"cluster": args.remote.name, "fs": args.file_system}, "seLinuxOptions": {}}},
            self.child(remote, **keep),
        )
        self.outputs(file_system=file_system.id.apply(lambda _: args.mounted_as))

    def _config_map(self, name: str, config_map: str, data: Mapping[str, str]) -> pulumi.Resource:
        return k8s.core.v1.ConfigMap(
            name, metadata=_meta(config_map, names.SCALE_NAMESPACE), data=data, opts=self.child()
        )


def cluster_spec(args: ScaleContainerNativeArgs) -> dict[str, Any]:
    """Return the `spec` of the Cluster."""
    aliases = [{"hostname": name, "ip": address} for name, address in args.host_aliases.items()]
    daemon = {
        "nodeSelector": {names.SCALE_CORE: ""},
        "clusterProfile": _PROFILE | (_rdma(args.rdma) if args.rdma else {}),
        "roles": [
            {"name": "client", "resources": {"cpu": str(args.client.cpus), "memory": f"{args.client.memory_gib}Gi"}}
        ],
        **({"hostAliases": aliases} if aliases else {}),
        **({"tolerations": [toleration.manifest() for toleration in args.tolerations]} if args.tolerations else {}),
    }
    return {
        "license": {"accept": args.license_accepted, "license": args.license},
        "daemon": daemon,
        "networkPolicy": {},
    }


def _rdma(rdma: ScaleRdma) -> dict[str, str]:
    return {
        "maxTcpConnsPerNodeConn": "4",
        "verbsPorts": " ".join(rdma.ports),
        "verbsRdma": "enable",
        "verbsRdmaSend": "yes",
        **({"verbsRdmaCm": "enable"} if rdma.link == "roce" else {}),
    }


def remote_spec(args: ScaleContainerNativeArgs) -> dict[str, Any]:
    """Return the `spec` of the RemoteCluster."""
    remote = args.remote
    return {
        "contactNodes": list(remote.contact_nodes),
        "gui": {
            "hosts": list(remote.gui_hosts),
            "insecureSkipVerify": False,
            "secretName": remote.operator_secret,
            **({"csiSecretName": remote.csi_secret} if remote.csi_account else {}),
            **({"cacert": _ca(remote)} if args.ca_certificate else {}),
        },
    }


def _ca(remote: RemoteStorage) -> str:
    return f"cacert-{remote.name}"


def _meta(name: str, namespace: str, annotations: Mapping[str, str] | None = None) -> "k8s.meta.v1.ObjectMetaArgs":
    return k8s.meta.v1.ObjectMetaArgs(
        name=name, namespace=namespace, labels=labels(CLUSTER, "storage"), annotations=annotations
    )

"""The facts of a stack that the files around its cluster are written from: hosts, jobs, and cables of switches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address
from typing import Literal

from pydantic import Field, InstanceOf

from core.hardware.cabling import Cabling
from core.hardware.profiles import Hca, Profile
from core.model import Model
from stacks.settings.site import SiteSettings
from stacks.settings.site.mirror import NOTHING, Content
from stacks.settings.site.switches import Switch, in_order


class BatchMount(Model):
    """A folder of a container."""

    at: str
    volume: str = Field(description="of the tenant, by its name")
    folder: str = Field(description="of the volume, from its root; empty: all of it")
    read_only: bool


class PodJob(Model):
    """A workload that pods of the cluster alone can be, and no other scheduler starts."""

    name: str
    why: str
    remedy: str


class BatchJob(Model):
    """A workload, with the arguments that its pods have."""

    tenant: str = Field(description="namespace of its pods")
    name: str
    starter: Literal["mpi", "torch", "one"] = Field(description="a process each, torchrun on each node, or one node")
    nodes: int
    tasks: int = Field(description="of each node")
    gpus: int = Field(description="of each node")
    cpus: int = Field(description="of each node")
    memory: str = Field(description="of each node, as Kubernetes writes it, e.g. 992Gi")
    together: bool = Field(description="all nodes must share a leaf switch")
    image: str | None = Field(description="as pods have it; None: the stack gives none")
    build: str | None = Field(description="of the stack, where the image is one that the cluster builds")
    command: tuple[str, ...]
    working_directory: str | None
    environment: Mapping[str, str]
    mounts: tuple[BatchMount, ...]
    data_set: str | None = Field(description="whose lock is proved before the program starts")


class ScaleFacts(Model):
    """Clients as packages of hosts, and the file system that they mount from another cluster."""

    cluster_id: str = Field(description="of the clients' cluster, as the driver and volumes name it")
    file_system: str = Field(description="device name, as storage.file_system.name has it")
    owner_gui: str | None = Field(description="name or address of the owner's GUI; None: not known which it is")
    reserved_gib: int = Field(description="memory that a GPU node leaves for itself, GiB; the pagepool is part of it")


class HostFacts(Model):
    """Facts that all GPU hosts share."""

    driver: Literal["host", "special-resource-operator", "gpu-operator"] = Field(
        description="who brings the GPU driver"
    )
    pool: str = Field(description="their machine config pool")
    interfaces: tuple[str, ...] = Field(
        description="network interfaces of the compute ports, in the order of the rails"
    )
    network_operator: str | None = Field(description="namespace of the Network Operator; None: there is none")
    memlock_by_host: bool = Field(description="pods need locked memory, and no MachineConfig gives it")


class Host(Model):
    """One node of the cluster, as a host."""

    name: str = Field(description="as on the cluster, usually with its domain")
    roles: tuple[Literal["master", "worker"], ...]
    # Has been checked where it was made; every host would check it again.
    machine: InstanceOf[Profile] | None = Field(default=None, description="hardware of a GPU node; None for others")
    scale_client: bool = Field(default=False, description="is a Spectrum Scale client")

    @property
    def short(self) -> str:
        """The name without its domain."""
        return self.name.split(".", maxsplit=1)[0]

    @property
    def ports(self) -> tuple[Hca, ...]:
        """Its compute ports, in the order of the rails, then those for storage; none where no source names them."""
        return (*self.machine.hcas, *self.machine.storage_hcas) if self.machine else ()


class Site(Model):
    """A stack's hosts and their surroundings."""

    stack: str
    release: str = Field(description="of OpenShift, e.g. 4.4")
    systems: Mapping[str, tuple[str, ...]] = Field(
        description="operating systems of the release's workers -> their minor releases; none: any"
    )
    fabric: Literal["infiniband", "roce", "ethernet", "none"] = Field(description="network between the GPU nodes")
    hosts: tuple[Host, ...]
    on_hosts: HostFacts = Field(description="what the GPU hosts need for it")
    traffic_class: int | None = Field(
        default=None, description="of RoCE packets, DSCP and ECN together; None: the fabric is another"
    )
    bonded: tuple[str, ...] = Field(
        default=(), description="HCAs of each GPU node that are one link by LACP; empty: no bond"
    )
    one_switch: Cabling | None = Field(
        default=None, description="cables of all machines and storage to one switch, where a document plans it so"
    )
    image_mirrors: Literal["digests", "digests-and-tags"] | None = Field(
        description="images for which nodes of the release can have a mirror configured; None: for none"
    )
    content: Content = Field(default=NOTHING, description="what nodes pull, where a group of files needs it")
    jobs: tuple[BatchJob | PodJob, ...] = Field(
        default=(), description="workloads, where another scheduler starts them, too"
    )
    scale: ScaleFacts | None = Field(
        default=None, description="Spectrum Scale whose clients are packages of hosts; None: there are none"
    )
    settings: SiteSettings = Field(description="the setting `site`")

    @property
    def version(self) -> tuple[int, int]:
        """The release, for comparisons."""
        major, minor = self.release.split(".")
        return int(major), int(minor)

    @property
    def gpu_hosts(self) -> tuple[Host, ...]:
        """The hosts with GPUs."""
        return tuple(host for host in self.hosts if host.machine)

    @property
    def scale_clients(self) -> tuple[Host, ...]:
        """The hosts that are Spectrum Scale clients."""
        return tuple(host for host in self.hosts if host.scale_client)

    def admin_address(self, host: Host) -> IPv4Address | None:
        """Return the address by which a host is reached; None: it is reached by its name."""
        admin = self.settings.networks.admin
        return admin.addresses.get(host.name) if admin else None


class SwitchCable(Model):
    """A cable between two switches."""

    lower: str
    """Name of the switch that has it among its `uplinks`."""
    lower_port: str
    upper: str
    upper_port: str


def between(switches: Iterable[Switch]) -> Iterator[SwitchCable]:
    """Yield the cables between switches, each once."""
    for switch in switches:
        for port in sorted(switch.uplinks, key=in_order):
            upper, _, upper_port = switch.uplinks[port].partition("/")
            yield SwitchCable(lower=switch.name, lower_port=port, upper=upper, upper_port=upper_port)


def peers(switch: Switch, switches: Sequence[Switch]) -> Mapping[str, str]:
    """Return what is on each port of a switch that something is on, in the order of their numbers."""
    below = {
        cable.upper_port: f"{cable.lower}/{cable.lower_port}"
        for cable in between(switches)
        if cable.upper == switch.name
    }
    peer_by_port = {**below, **switch.uplinks, **switch.others, **switch.ports}
    return {port: peer_by_port[port] for port in sorted(peer_by_port, key=in_order)}

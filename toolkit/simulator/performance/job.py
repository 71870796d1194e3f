"""A job as it was admitted and placed: all that its programs could find out for themselves."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from core.hardware.profiles import Hca, Profile
from core.model import Model

log = logging.getLogger(__name__)
POD_MTU, ETHERNET_MTU = 1450, 1500
"""Bytes: of eth0 on OpenShift's overlay network."""
DEFAULT_SHM_MIB = 64
"""What a container runtime gives a container that brings no /dev/shm along."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class NodeFaults(Model):
    """What is wrong with one node. GPUs are named by their number on the machine, in JSON as text."""

    acs: bool = Field(
        default=False, description="whether PCIe bridges send traffic between devices to the CPU (ACS), GPUDirect's too"
    )
    pcie_width: dict[int, int] = Field(default={}, description="GPU -> lanes of its PCIe link, e.g. 8 of 16")
    nvlinks_in_recovery: dict[int, int] = Field(default={}, description="GPU -> NVLinks that are in recovery, not up")
    sm_mhz: dict[int, int] = Field(default={}, description="GPU -> clock that it is locked to, MHz (nvidia-smi -lgc)")
    celsius: dict[int, int] = Field(default={}, description="GPU -> temperature that it has, degrees Celsius")
    gpus_off_the_bus: tuple[int, ...] = Field(
        default=(), description="GPUs that the driver reached no longer (Xid 79): no pod is given them"
    )
    fabric_manager: bool = Field(default=True, description="whether the Fabric Manager of a machine's NVSwitches runs")


HEALTHY = NodeFaults()


def read_faults(text: str | None) -> NodeFaults:
    """Return the faults of an annotation; of one that cannot be read none, and the log says why."""
    if text is None:
        return HEALTHY
    try:
        return NodeFaults.model_validate_json(text)
    except ValidationError as error:
        log.warning("faults %s cannot be read: %s", text, error)
        return HEALTHY


@dataclass(frozen=True)
class Machine:
    """A node, as far as programs on it can see it."""

    name: str
    profile: Profile | None = None
    """None: a machine without GPUs and adapters."""
    interfaces: Mapping[str, str] = field(default_factory=dict)
    """HCA -> what its network interface is called now; udev rules may have renamed it."""
    mtus: Mapping[str, int] = field(default_factory=dict)
    """Interface -> its MTU, bytes, where that is not Ethernet's own."""
    ports_down: frozenset[str] = frozenset()
    """HCAs whose port has no link."""
    memlock_unlimited: bool = False
    """Whether containers may lock memory without limit; otherwise 64 KiB."""
    has_driver: bool = False
    """Whether the GPU driver is loaded."""
    driver: str | None = None
    """Version of the GPU driver; None: not known from the image of its pod."""
    gpudirect: bool = True
    """Whether HCAs can reach the memory of its GPUs: a module for it is loaded, or the kernel's own way is open."""
    ethernet: bool = False
    """Whether the ports speak Ethernet: RoCE, and not InfiniBand."""
    storage_shared: bool = False
    """Whether it is a client of Spectrum Scale: without ports of their own for that, storage shares the others."""
    faults: NodeFaults = HEALTHY
    """What is wrong with its GPUs and bridges."""
    umad_for_all: bool = True
    """Whether umad devices are everyone's, as under a host's own MOFED; a driver in a container leaves them root's."""

    @property
    def hcas(self) -> tuple[Hca, ...]:
        """All ports of the machine, those for storage last."""
        return (*self.profile.hcas, *self.profile.storage_hcas) if self.profile else ()

    @property
    def storage_and_inband(self) -> tuple[Hca, ...]:
        """Ports that are not for compute, which may be InfiniBand's beside Ethernet's, and the other way."""
        return (*self.profile.storage_hcas, *self.profile.inband_hcas) if self.profile else ()

    def is_up(self, hca: str) -> bool:
        """Return whether a port has a link."""
        return hca not in self.ports_down

    def mtu(self, hca: str) -> int:
        """Return the MTU of a port on Ethernet, bytes."""
        return self.mtus.get(self.interfaces.get(hca, ""), ETHERNET_MTU)

    def hca(self, name: str) -> Hca | None:
        """Return the port of that name, None for one that the machine does not have."""
        return next((hca for hca in self.hcas if hca.name == name), None)


@dataclass(frozen=True)
class Worker:
    """A pod, with what its node's device plugins really gave it."""

    name: str
    """Of the pod, which is its host name."""
    machine: Machine
    gpus: tuple[int, ...] = ()
    """GPUs of the machine that it was given, by their number there."""
    devices: tuple[str, ...] = ()
    """HCAs whose device files it has, in the machine's order, whether their ports are up or down."""
    claims: tuple[str, ...] = ()
    """Persistent volume claims that its first container mounts."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Where its first container mounts a volume whose files are on this machine -> their folder."""
    claim_folders: Mapping[str, Path] = field(default_factory=dict)
    """Where its first container mounts claims -> what stands for these on this machine, whether it exists or not."""
    ipc_lock: bool = False
    """Whether its first container has IPC_LOCK."""
    uid: int | None = None
    """As which its first container runs; None: the image's own user."""
    host_network: bool = False
    """Whether it is in the network namespace of its node."""
    networks: tuple[str, ...] = ()
    """Secondary networks that it joined, namespace/name."""
    network_mtus: tuple[int, ...] = ()
    """Of the interfaces there, in the same order, bytes; of those that are missing it is not known."""
    shm_mib: int = DEFAULT_SHM_MIB
    """Size of /dev/shm."""
    nvlink_domain: str = ""
    """ComputeDomain and rack by which its GPUs share memory with those of other nodes; empty: with none."""
    mtu: int = POD_MTU
    """Of eth0, bytes."""
    address: str = "10.128.0.2"
    """Of eth0."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of its first container; values from Secrets and fields are not known, and empty."""

    @property
    def ports(self) -> tuple[Hca, ...]:
        """HCAs that it can send through: it has their device, and their port is up."""
        return tuple(hca for hca in self.machine.hcas if hca.name in self.devices and self.machine.is_up(hca.name))

    @property
    def may_pin(self) -> bool:
        """Whether RDMA may pin memory: the limit is lifted, or it is root with IPC_LOCK."""
        return self.machine.memlock_unlimited or (self.uid == 0 and self.ipc_lock)


@dataclass(frozen=True)
class Launched:
    """What a pod runs, and the pods that it runs it with."""

    me: Worker
    """The pod whose log this is: a launcher, or the only pod."""
    image: str
    words: tuple[str, ...]
    """Command and arguments; empty: what the image starts."""
    run: str
    """What two runs differ in: their results are spread by it, and the same run has the same log."""
    workers: tuple[Worker, ...] = ()
    """Pods of the hostfile in its order; of a job without launcher its only pod."""
    slots: Mapping[str, int] = field(default_factory=dict)
    """Pod -> processes that the hostfile allows on it."""
    processes: tuple[Worker, ...] = ()
    """The pod of each process, by its rank; one rank drives several GPUs in nccl-tests with -g."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that the processes have: mpirun's -x, a shell's assignments, the containers' own."""
    peers: Mapping[str, Worker] = field(default_factory=dict)
    """Pods of other batch jobs of the namespace that run or have succeeded, by the name of the job."""
    machines: tuple[Machine, ...] = ()
    """All nodes with adapters, by name."""
    started: datetime = EPOCH
    seconds: float = 1.0
    """How long the simulated work takes."""

    def having(self, **variables: str) -> Self:
        """Return the same with other environment variables beside those that there are."""
        return replace(self, environment={**self.environment, **variables})

"""What one machine of a model has, as a record."""

from typing import Literal, Self

from pydantic import Field, model_validator

from hardware import cpus
from hardware.gpus import ARCHITECTURES, Architecture, Gpu
from hardware.model import Model

NVIDIA_PCI_VENDOR = "10de"
MELLANOX_PCI_VENDOR = "15b3"

Distance = Literal["PIX", "PXB"]
"""What lies between an HCA and its GPUs, as nvidia-smi topo says it: one PCIe bridge, or several."""


class Hca(Model):
    """One port of an InfiniBand or RoCE adapter."""

    name: str = Field(description="verbs device, as NCCL_IB_HCA names it, e.g. mlx5_0")
    netdev: str = Field(description="network interface, as the RDMA device plugin selects it, e.g. ib0")
    numa: int = Field(ge=0, description="NUMA node of its PCIe root")
    gpus: tuple[int, ...] = Field(description="GPUs at `distance`; empty for a port that no GPU is near to")
    distance: Distance | None = Field(default="PIX", description="PCIe path to `gpus`; None if there are none")
    rate_gbps: int = Field(gt=0, description="line rate in Gb/s")
    pci: str | None = Field(default=None, description="PCI address, for a udev rule; None: not given")


class Ports(Model):
    """Network ports of one purpose, counted. Their names may be unknown."""

    count: int = Field(gt=0, description="ports of one machine")
    rate_gbps: int = Field(gt=0, description="line rate of a port in Gb/s")
    adapter: str = Field(description="model of the adapter, as the source document has it")


class NumaNode(Model):
    """One NUMA node."""

    id: int = Field(ge=0)
    cpus: str = Field(description="logical CPUs as lscpu lists them, e.g. 0-15,128-143")
    gpus: tuple[int, ...] = Field(default=(), description="GPUs on its PCIe roots")
    memory_gib: int | None = Field(default=None, gt=0, description="GiB; None: no source document gives it")
    memory_gbs: int | None = Field(default=None, gt=0, description="memory bandwidth in GB/s; None: not given")

    @property
    def cpu_set(self) -> frozenset[int]:
        """Its logical CPUs as numbers."""
        return cpus.parse(self.cpus)


class NvLink(Model):
    """How the GPUs of a machine are joined."""

    generation: int = Field(gt=0)
    gbs: int = Field(gt=0, description="bandwidth of one GPU in GB/s, both directions together")
    shape: Literal["hybrid cube mesh", "switched"]
    switches: int | None = Field(default=None, description="NVSwitches; None: not given, or none in a mesh")
    links: tuple[tuple[int, ...], ...] = Field(
        default=(), description="links between GPU i and GPU j, 0 for none (SYS); empty: no document prints the matrix"
    )


class Profile(Model):
    """One machine. None, or an empty tuple, where the source documents give nothing."""

    name: str
    model: str
    gpus: int = Field(gt=0, description="number of GPUs, which is what nvidia.com/gpu becomes")
    gpu: Gpu
    nvlink: NvLink
    sockets: int = Field(default=2, gt=0)
    cpu_model: str | None = None
    cpu_cores: int = Field(gt=0, description="physical cores of all sockets")
    threads_per_core: int = Field(default=2, gt=0)
    memory_gib: int = Field(gt=0)
    memory_options_gib: tuple[int, ...] = Field(default=(), description="other sizes that the documents mention, GiB")
    numa: tuple[NumaNode, ...] = Field(default=(), description="empty: no document prints the map")
    link_layer: Literal["InfiniBand", "Ethernet"] = Field(description="of the compute ports as delivered")
    ports: Ports = Field(description="compute ports")
    hcas: tuple[Hca, ...] = Field(
        description="the compute ports in the order of the rails: HCA i is on plane i (D-3.6); empty: names not given"
    )
    storage_ports: Ports | None = Field(default=None, description="ports for storage only; None: shares the others")
    storage_hcas: tuple[Hca, ...] = ()
    pci_vendors: tuple[str, ...] = Field(description="PCI vendor ids that node feature discovery finds")
    power_watts: int | None = Field(default=None, gt=0, description="most that it draws, W")
    rack_units: int | None = Field(default=None, gt=0)
    weight_kg: int | None = Field(default=None, gt=0)
    source: str = Field(description="inventory ids of the figures, and public records where the documents have none")

    @property
    def cpus(self) -> int:
        """Logical CPUs, as a node reports them."""
        return self.cpu_cores * self.threads_per_core

    @property
    def gpu_model(self) -> str:
        """Model of its GPUs, as the source document prints it."""
        return self.gpu.model

    @property
    def architecture(self) -> Architecture:
        """Generation of its GPUs."""
        return ARCHITECTURES[self.gpu.architecture]

    @property
    def hca_model(self) -> str:
        """Model of the compute adapters."""
        return self.ports.adapter

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        faults = [*self._numa_faults(), *self._port_faults()]
        if faults:
            raise ValueError(f"{self.name}: {'; '.join(faults)}")
        return self

    def _numa_faults(self) -> list[str]:
        if not self.numa:
            return []
        faults = []
        if sorted(cpu for node in self.numa for cpu in node.cpu_set) != list(range(self.cpus)):
            faults.append(f"numa: give each of the CPUs 0-{self.cpus - 1} to one node")
        if sorted(gpu for node in self.numa for gpu in node.gpus) != list(range(self.gpus)):
            faults.append(f"numa: give each of the GPUs 0-{self.gpus - 1} to one node")
        gpus = {node.id: set(node.gpus) for node in self.numa}
        faults += [
            f"hca {hca.name}: its GPUs {hca.gpus} are not on its NUMA node {hca.numa}"
            for hca in (*self.hcas, *self.storage_hcas)
            if not set(hca.gpus) <= gpus.get(hca.numa, set())
        ]
        return faults

    def _port_faults(self) -> list[str]:
        faults = []
        for field, ports, hcas in (
            ("hcas", self.ports, self.hcas),
            ("storage_hcas", self.storage_ports, self.storage_hcas),
        ):
            if hcas and (ports is None or len(hcas) != ports.count):
                faults.append(f"{field}: name all {ports.count if ports else 0} ports or none, not {len(hcas)}")
            elif ports is not None and any(hca.rate_gbps != ports.rate_gbps for hca in hcas):
                faults.append(f"{field}: every port has {ports.rate_gbps} Gb/s")
        names = [hca.name for hca in (*self.hcas, *self.storage_hcas)]
        if len(names) != len(set(names)):
            faults.append("hcas: a name is there twice")
        return faults

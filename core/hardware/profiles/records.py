"""What one machine of a model has, as a record."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from core.hardware import cpus
from core.hardware.gpus import ARCHITECTURES, Architecture, Gpu, resolve_gpu
from core.hardware.profiles.facts import PlanFacts
from core.model import Model
from core.wording import duplicates

NVIDIA_PCI_VENDOR = "10de"
MELLANOX_PCI_VENDOR = "15b3"
MEMORY_REPORTED = 0.983
"""Part of the installed memory that Linux reports, the rest is firmware's and the kernel's: public Slurm configurations
of machines with eight GPUs have RealMemory 515600 and 1031736 MiB of 512 and 1024 GiB."""

Near = Literal["PIX", "PXB"]
"""What is between an HCA and the GPUs next to it, as nvidia-smi topo prints it: one PCIe bridge, or several."""
Reach = Literal["PIX", "PXB", "PHB", "NODE"]
"""Also a host bridge, or several of one NUMA node."""
Distance = Literal["PIX", "PXB", "PHB", "NODE", "SYS"]
"""What is between a device and a GPU: also the link between sockets."""
Shape = Literal["hybrid cube mesh", "mesh", "bridged", "switched", "none"]


def _is_empty(value: object) -> bool:
    """Return whether a field that the first machines do not have is left out of dumps, and so of states."""
    return not value


class Hca(Model):
    """One port of an InfiniBand or RoCE adapter."""

    name: str = Field(description="verbs device, as NCCL_IB_HCA names it, e.g. mlx5_0")
    netdev: str | None = Field(
        description="network interface on RHEL and RHCOS, as the RDMA device plugin selects it, e.g. ib0; "
        "None: not known"
    )
    numa: int = Field(ge=0, description="NUMA node of its PCIe root")
    gpus: tuple[int, ...] = Field(description="GPUs at `distance`; empty for a port on the NUMA node of no GPU")
    distance: Reach | None = Field(
        default="PIX", description="PCIe path to `gpus`, the shortest that it has; None if there are none"
    )
    rate_gbps: int = Field(gt=0, description="line rate in Gb/s")
    pci: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{4,5}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$",
        description="PCI address as lspci -D prints it, for a udev rule, e.g. 0000:18:00.0; None: not given",
    )
    ethernet: str | None = Field(
        default=None,
        exclude_if=_is_empty,
        description="network interface where the port runs Ethernet; None: not known",
    )
    other_names: dict[str, str] = Field(
        default={}, exclude_if=_is_empty, description="operating system -> network interface, where it has another name"
    )
    distances: tuple[Distance, ...] = Field(
        default=(), exclude_if=_is_empty, description="path to each GPU; empty: no source prints the matrix"
    )

    @property
    def interface(self) -> str:
        """Its network interface; of one whose name is not known that of its device, so that it can be simulated."""
        return self.netdev or self.name

    @property
    def named_link_layer(self) -> Literal["InfiniBand", "Ethernet"] | None:
        """What it speaks by the name of its network interface; None: the name is not known."""
        if self.netdev is None:
            return None
        return "Ethernet" if self.netdev.startswith("e") else "InfiniBand"


class OtherDevice(Model):
    """A device that has the name of an HCA and is none, such as a bridge by which NVSwitches are managed."""

    name: str = Field(description="verbs device, e.g. mlx5_0")
    what: str = Field(description="what it is")
    numa: int = Field(ge=0, description="NUMA node of its PCIe root")
    pci: str | None = Field(default=None, description="PCI address; None: not given")
    distances: tuple[Distance, ...] = Field(default=(), description="path to each GPU; empty: not given")

    @property
    def gpus(self) -> tuple[int, ...]:
        """GPUs next to it: none, as far as jobs are concerned."""
        return ()

    @property
    def distance(self) -> None:
        """PCIe path to `gpus`."""
        return


Device = Hca | OtherDevice
"""What has the name of a verbs device."""


class Ports(Model):
    """Network ports of one purpose, counted. Their names may be unknown."""

    count: int = Field(gt=0, description="ports of one machine")
    rate_gbps: int = Field(gt=0, description="line rate of a port in Gb/s")
    adapter: str = Field(description="model of the adapter, as the source document has it, or its CA type")


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

    model_config = ConfigDict(json_schema_extra={"required": ["shape"]})

    generation: int = Field(ge=0, description="0, or left out, without NVLink")
    gbs: int = Field(
        ge=0, description="bandwidth of one GPU in GB/s, both directions together; 0, or left out, without NVLink"
    )
    shape: Shape = Field(
        description="switched: over NVSwitches; mesh: every GPU is joined to all others; bridged: GPUs in pairs or "
        "fours, the rest by PCIe; none: all by PCIe"
    )
    switches: int | None = Field(default=None, description="NVSwitches; None: not given, or none in a mesh")
    machines: int = Field(
        default=1,
        gt=0,
        exclude_if=lambda machines: machines == 1,
        description="machines whose GPUs the switches join, e.g. the 18 trays of an NVL72 rack; 1: those of each alone",
    )
    links: tuple[tuple[int, ...], ...] = Field(
        default=(), description="links between GPU i and GPU j, 0 for none (SYS); empty: no document prints the matrix"
    )

    @property
    def of_a_gpu(self) -> int:
        """Links of one GPU: over switches those to any other, in a mesh those to all; 0: no document has them."""
        return max((max(row) if self.shape == "switched" else sum(row) for row in self.links), default=0)

    def joins(self, gpu: int, other: int) -> bool:
        """Whether two GPUs have NVLink between them; where no document has the matrix, they do."""
        return self.shape != "none" and (not self.links or self.links[gpu][other] > 0)

    @model_validator(mode="before")
    @classmethod
    def _default_figures(cls, fields: Any) -> Any:
        none = isinstance(fields, dict) and fields.get("shape") == "none"
        return {"generation": 0, "gbs": 0, **fields} if none else fields

    @model_validator(mode="after")
    def _figures_fit_shape(self) -> Self:
        if not (self.shape == "none") == (self.generation == 0) == (self.gbs == 0):
            raise ValueError(
                f"nvlink: shape {self.shape}, generation {self.generation} and gbs {self.gbs}: a machine without "
                "NVLink has shape none and 0 of both; correct it"
            )
        return self


class Profile(Model):
    """One machine. None, or an empty tuple, where the source documents give nothing."""

    name: str
    model: str
    gpus: int = Field(gt=0, description="number of GPUs, which is what nvidia.com/gpu becomes")
    gpu: Annotated[Gpu, BeforeValidator(resolve_gpu)] = Field(
        description="a known one, as architecture/name, or its own fields"
    )
    gpu_buses: tuple[int, ...] = Field(default=(), description="PCI bus of each GPU; empty: no document gives them")
    nvlink: NvLink
    sockets: int = Field(default=2, gt=0)
    cpu_architecture: Literal["x86_64", "aarch64"] = "x86_64"
    cpu_model: str | None = None
    cpu_cores: int = Field(gt=0, description="physical cores of all sockets")
    threads_per_core: int = Field(default=2, gt=0)
    memory_gib: int = Field(gt=0)
    memory_options_gib: tuple[int, ...] = Field(default=(), description="other sizes that the documents mention, GiB")
    numa: tuple[NumaNode, ...] = Field(default=(), description="nodes with CPUs; empty: no document prints the map")
    gpu_memory_nodes: tuple[int, ...] = Field(
        default=(), description="NUMA nodes without CPUs, which are the GPUs' own memory"
    )
    link_layer: Literal["InfiniBand", "Ethernet"] = Field(description="of the compute ports as delivered")
    ports: Ports = Field(description="compute ports")
    hcas: tuple[Hca, ...] = Field(
        description="the compute ports in the order of the rails: HCA i is on rail i; empty: names not given"
    )
    storage_ports: Ports | None = Field(default=None, description="ports for storage only; None: shares the others")
    storage_hcas: tuple[Hca, ...] = ()
    inband_ports: Ports | None = Field(default=None, description="ports of the cluster's own network; None: not given")
    inband_hcas: tuple[Hca, ...] = ()
    other_devices: tuple[OtherDevice, ...] = Field(
        default=(), description="devices with names of HCAs that jobs must not use"
    )
    pci_vendors: tuple[str, ...] = Field(description="PCI vendor ids that node feature discovery finds")
    power_watts: int | None = Field(default=None, gt=0, description="most that it draws, W")
    rack_units: int | None = Field(default=None, gt=0)
    weight_kg: int | float | None = Field(default=None, gt=0)
    facts: PlanFacts | None = Field(
        default=None, exclude_if=_is_empty, description="figures for plans; None: none are given"
    )
    reference_design: Literal["superpod", "supermicro"] | None = Field(
        default=None, description="design whose fabric tables or list of parts `./hpc hardware show` shows for it"
    )
    source: str = Field(
        description="source ids (docs/coverage/sources.md) of the figures, and public records where the documents have "
        "none"
    )
    sources: dict[str, str] = Field(default={}, description="field -> its own source, where it is another one")

    @property
    def devices(self) -> tuple[Device, ...]:
        """All that has the name of a verbs device."""
        return (*self.hcas, *self.storage_hcas, *self.inband_hcas, *self.other_devices)

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

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        faults = [*self._numa_faults(), *self._port_faults(), *self._gpu_faults()]
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
            f"hca {hca.name}: its GPUs {', '.join(map(str, hca.gpus))} are not on its NUMA node {hca.numa}; correct one"
            for hca in (*self.hcas, *self.storage_hcas, *self.inband_hcas)
            if not set(hca.gpus) <= gpus.get(hca.numa, set())
        ]
        return faults

    def _port_faults(self) -> list[str]:
        faults = []
        for field, ports, hcas in (
            ("hcas", self.ports, self.hcas),
            ("storage_hcas", self.storage_ports, self.storage_hcas),
            ("inband_hcas", self.inband_ports, self.inband_hcas),
        ):
            if hcas and (ports is None or len(hcas) != ports.count):
                count = field.replace("hcas", "ports") + ".count"
                faults.append(
                    f"{field}: name all {ports.count if ports else 0} ports or none, not {len(hcas)}, or give the "
                    f"machine another {count}, which its base gives where its own file does not"
                )
            elif ports is not None and any(hca.rate_gbps != ports.rate_gbps for hca in hcas):
                others = ", ".join(f"{hca.name} {hca.rate_gbps}" for hca in hcas if hca.rate_gbps != ports.rate_gbps)
                faults.append(f"{field}: every port has {ports.rate_gbps} Gb/s, not {others}; correct it, or `ports`")
        return [*faults, *self._duplicate_faults()]

    def _duplicate_faults(self) -> Iterator[str]:
        for field in ("name", "netdev", "ethernet", "pci"):
            values = [value for device in self.devices if (value := getattr(device, field, None))]
            if repeated := duplicates(values):
                yield f"hcas.{field}: {', '.join(repeated)} is given twice; give each port its own"

    def _gpu_faults(self) -> list[str]:
        links = self.nvlink.links
        faults = []
        if self.gpu.architecture not in ARCHITECTURES:
            faults.append(
                f"gpu.architecture: {self.gpu.architecture!r} is not known; use {', '.join(ARCHITECTURES)}, or add "
                "its file to core/hardware/architectures/"
            )
        if self.gpu_buses and len(self.gpu_buses) != self.gpus:
            faults.append(f"gpu_buses: give one of each of the {self.gpus} GPUs, not {len(self.gpu_buses)}")
        if links and {len(links), *map(len, links)} != {self.gpus}:
            faults.append(f"nvlink.links: give {self.gpus} rows of {self.gpus} numbers")
        if unknown := sorted(self.sources.keys() - type(self).model_fields.keys()):
            faults.append(f"sources: {', '.join(unknown)} is not a field of a machine; correct its name")
        for device in self.devices:
            if device.distances and len(device.distances) != self.gpus:
                faults.append(f"{device.name}: distances: give one for each of the {self.gpus} GPUs")
        for hca in self.hcas:
            # Of a port that is next to no GPU those of its NUMA node may be left out.
            paths = get_args(Reach if hca.gpus else Near)
            nearest = next((path for path in paths if path in hca.distances), None)
            near = tuple(gpu for gpu, path in enumerate(hca.distances) if nearest and path == nearest)
            if hca.distances and (near, nearest) != (hca.gpus, hca.distance):
                faults.append(
                    f"{hca.name}: distances: gpus {[*hca.gpus]} at {hca.distance} are not what they give; correct one"
                )
        return faults

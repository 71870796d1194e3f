"""What a parser found in a file, the base of all readings; and what the API server reports of the nodes."""

from collections.abc import Mapping

from pydantic import Field

from core.model import Model
from core.wording import plural
from toolkit.evidence.wording import listed

UNREAD_KEPT = 1000
"""Lines that a reading stores of those that it could not read, and as many more of failures; all are counted."""


class Record(Model):
    """What was read from one line of a file."""

    line: int = Field(ge=1, description="number in the file")


class Unread(Model):
    """A line that no parser understood, or that is damaged."""

    line: int = Field(ge=1, description="number in the file, from 1")
    text: str = Field(description="the line's text, without prefixes of mpirun or kubectl")


class OneEnd(Model):
    """Channels over a network between two ranks of which one end was printed, and nothing of the other rank."""

    transport: str
    rank: int = Field(description="that printed its end")
    other: int = Field(description="whose host no line names")
    channels: int
    gpudirect: int = Field(description="of them those with GDRDMA")


class NcclLog(Model):
    """What NCCL_DEBUG=INFO prints of the communicators of one program, all ranks together."""

    version: str | None = Field(description="of NCCL, e.g. 2.5.6")
    cuda: str | None = Field(description="that NCCL was built for, e.g. 10.2")
    nranks: int | None = Field(description="ranks of the largest communicator")
    initialised: int = Field(description="ranks of it that printed `Init COMPLETE`")
    devices: tuple[str, ...] = Field(description="HCAs that `NET/IB : Using` names, in NCCL's order, e.g. mlx5_3")
    devices_by_host: Mapping[str, tuple[str, ...]] = Field(description="the same by host: one may lack an HCA")
    link_layers: Mapping[str, str] = Field(description="HCA -> IB or RoCE")
    sockets: tuple[str, ...] = Field(description="interfaces of `NET/Socket : Using`, and of out-of-band traffic")
    plugins: tuple[str, ...] = Field(
        default=(),
        description="networks beside NCCL's own IB and Socket that it has loaded or uses, as it names them, e.g. "
        "IBext_v8, AWS Libfabric",
    )
    transports: Mapping[str, int] = Field(
        description="transport -> channels connected by it, e.g. P2P/IPC, P2P/CUMEM, SHM, NET/IB, NET/Socket; both "
        "ends of a channel count once"
    )
    between_nodes: Mapping[str, int] = Field(description="the same, of channels between hosts only, and of `one_end`")
    one_end: tuple[OneEnd, ...] = Field(
        default=(), description="channels that a layout may show to be within a pod, as the log of one pod has them"
    )
    gpudirect: int = Field(description="channels with GDRDMA at every end that the log holds")
    gpudirect_between_nodes: int = Field(description="of those between hosts")
    gpudirect_one_end: int = Field(default=0, description="channels with GDRDMA at one of their two ends only")
    used_devices: Mapping[str, int] = Field(description="HCA -> channels over it, where its index is known")
    crossed_devices: Mapping[str, int] = Field(
        default={}, description="HCAs of a channel's two ends, `mlx5_3 to mlx5_1`, where they differ -> such channels"
    )
    channels: int | None = Field(description="rings or trees of a communicator, as NCCL counts them")
    rings: int | None = Field(
        default=None, description="rings of the largest communicator, whose ranks NCCL lists; None: it does not"
    )
    rings_between_nodes: int = Field(
        default=0,
        description="of them those that go into each host and out of it: channels of the number between hosts",
    )
    trees: bool | None = Field(description="whether trees are enabled; None: not printed")
    collnet: bool | None = Field(description="whether CollNet, so SHARP, is in use; None: not printed")
    gdr_unavailable: tuple[Unread, ...] = Field(description="lines in which NCCL reports why GPUDirect is not used")
    warnings: tuple[Unread, ...] = Field(description="lines with NCCL WARN")
    proofs: Mapping[str, Unread] = Field(
        description="the first line of each kind: transport as above, `GDRDMA`, `NET/IB : Using`, `Init COMPLETE`, ..."
    )

    def figures(self) -> str:
        """Return the few figures that a table has room for: channels by transport, GPUDirect, trees and CollNet."""
        channels = listed(f"{count} by {name}" for name, count in self.transports.items())
        direct = f", {self.gpudirect} with GDRDMA" if self.gpudirect else ""
        algorithms = {"trees": self.trees, "CollNet": self.collnet}
        used = "".join(f", {'' if on else 'no '}{name}" for name, on in algorithms.items() if on is not None)
        version = f" {self.version}" if self.version else ""
        return f"NCCL{version}: {channels or 'no channels'}{direct}{used}"


class Reading(Model):
    """What one run of one tool printed. Each parser has its own kind, with its figures."""

    file: str = Field(description="path as it was given; - is standard input")
    tool: str = Field(description="name of the tool, as docs/reference/evidence-schema.md lists them")
    tool_version: str | None = Field(default=None, description="as printed; None: not printed")
    complete: bool = Field(description="whether everything that the tool prints is there")
    incomplete: str | None = Field(default=None, description="what is missing; None when complete")
    simulated: bool = Field(default=False, description="whether the log is marked as simulated")
    first_line: int = Field(ge=1)
    last_line: int = Field(ge=1)
    nccl: NcclLog | None = Field(default=None, description="of the program that ran; None: NCCL printed nothing")
    unread: tuple[Unread, ...] = Field(
        default=(), description=f"the first {UNREAD_KEPT}, and as many more that report a failure"
    )
    unread_total: int = Field(default=0, ge=0, description="lines that could not be read, stored or not")

    def figures(self) -> str:
        """Return the few figures that a table has room for: the number of rows, unless the tool's kind has better."""
        return self._figures()

    def _figures(self) -> str:
        rows = getattr(self, "rows", None)
        return plural(len(rows), "row") if isinstance(rows, tuple) else ""

    def rank_count(self) -> int | None:
        """Return the processes or GPUs that took part, by the tool, else by NCCL; None: neither prints it."""
        ranks: int | None = getattr(self, "ranks", None)
        return ranks if ranks is not None or self.nccl is None else self.nccl.nranks

    def refusal(self) -> str | None:
        """Return the message by which the job reports that the tool's output cannot be had; None: there is none."""
        return None

    def summary(self) -> str:
        """Return the figures, and what NCCL printed beside them."""
        return "; ".join(part for part in (self.figures(), self.nccl.figures() if self.nccl else "") if part)


class Unknown(Reading):
    """A file, or the beginning of one, in which no tool was recognised."""


NODE_FACTS = "node-facts"
"""Name of the tool, which is the API server."""


class NodeFact(Model):
    """One node."""

    name: str
    roles: tuple[str, ...] = Field(default=(), description="by its labels node-role.kubernetes.io/")
    ready: bool = Field(description="whether it is Ready")
    schedulable: bool = Field(description="whether new pods may come")
    gpus: int = Field(ge=0, description="nvidia.com/gpu that pods may have")
    instances: Mapping[str, int] = Field(default={}, description="size of MIG instances -> what pods may have of it")
    rdma: Mapping[str, int] = Field(description="resource below rdma/ -> what pods may have of it")
    found_gpu: bool | None = Field(
        default=None, description="whether node feature discovery labels a device of NVIDIA; None: not read"
    )
    gpu_model: str | None = Field(description="as GPU feature discovery labels it; None: not labelled")
    driver: str | None = Field(description="version of the GPU driver, by label; None: not labelled")
    taints: tuple[str, ...] = Field(
        default=(), description="taints that keep pods off, as KEY=VALUE:EFFECT, without those of Kubernetes itself"
    )
    kernel: str
    os_image: str
    kubelet: str


class NodeFacts(Reading):
    """The nodes that jobs may run on."""

    nodes: tuple[NodeFact, ...]
    others: tuple[NodeFact, ...] = Field(default=(), description="nodes of the settings without GPUs")
    pod_mtu: int | None = Field(default=None, gt=0, description="MTU of the pod network, bytes; None: unknown")

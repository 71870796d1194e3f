"""perftest: bandwidth and latency of RDMA between two pods.

The figures of an EDR link on InfiniBand are the paper's; docs/reference/performance-model.md says how those of
others follow from it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.hardware.profiles import Hca
from toolkit.simulator.performance import ports
from toolkit.simulator.performance.job import Launched, Machine, Worker
from toolkit.simulator.performance.printed import Printed, seeded, seeded_bits, whole

WORDS = {"write": "RDMA_Write", "send": "Send", "read": "RDMA_Read"}
ITERATIONS = {"write": 5000, "send": 1000, "read": 1000}
LATENCY_ITERATIONS = 1000
NO_MEMLOCK = ("Couldn't allocate MR", "failed to create mr", "Failed to create MR", " Couldn't create IB resources")
"""What it prints when it may not pin memory."""
LINE, STARS = "-" * 87, "*" * 36
GID_INDEX = 3
"""Of RoCE v2 with an IPv4 address, on a port with one network."""
OPTIONS = frozenset(
    (
        *(f"-{letter}" for letter in "disnxpmqtrSDulQTOI"),
        *("--tclass", "--ib-dev", "--ib-port", "--size", "--iters", "--gid-index", "--port", "--mtu", "--qp"),
    )
)
"""Options that take a value."""
DOWN = (" Port number 1 state is Down", " Couldn't set the link layer", " Couldn't get context for the device")
NO_CONTEXT = (" Couldn't get context for the device",)
NO_DEVICE = (" Unable to find the Infiniband/RoCE device",)
NO_LISTENER = ("Unable to open file descriptor for socket connection", "Unable to init the socket connection")
PEER_ENDED = (" Unable to read to socket/rdma_cm", " Failed to exchange data between server and clients")
PORT = 18515


@dataclass(frozen=True)
class Request:
    """What a command line asks for."""

    verb: str
    test: str
    server: str | None
    options: Mapping[str, str]

    def option(self, *names: str) -> str | None:
        """Return the value of an option, None when it is not there."""
        return next((self.options[name] for name in names if name in self.options), None)

    def number(self, otherwise: int, *names: str) -> int:
        """Return the number that an option gives, `otherwise` when it gives none."""
        text = self.option(*names)
        return whole(text or "", otherwise)

    def sizes(self) -> tuple[int, ...]:
        """Return the message sizes, bytes."""
        if self.option("-a", "--all") is not None:
            return tuple(1 << power for power in range(1, 24))
        return (self.number(65536 if self.test == "bw" else 2, "-s", "--size"),)


def perftest(words: Sequence[str], job: Launched) -> Printed:
    """Simulate ib_write_bw and its sisters: the side that listens, or the one that measures."""
    request = _request(words)
    own_port, why = _port(request, job.me)
    if own_port is None:
        return Printed(why, 1, why[0].strip())
    banner = () if request.server else ("", STARS, "* Waiting for client to connect... *", STARS)
    peer = _peer(request, job)
    if peer is None:
        if request.server is None:
            return Printed(banner, waits=True)
        why = (f"Couldn't connect to {request.server}:{request.number(PORT, '-p', '--port')}", *NO_LISTENER)
        return Printed(why, 1, why[0])
    if not job.me.may_pin:
        return Printed((*banner, *NO_MEMLOCK), 1, NO_MEMLOCK[0])
    peer_port, _ = _port(request, peer)
    if peer_port is None or not peer.may_pin:
        return Printed((*banner, *PEER_ENDED), 1, PEER_ENDED[1].strip())
    # Both sides take the smaller one.
    mtu = min(_mtu(request, job.me.machine, own_port), _mtu(request, peer.machine, peer_port))
    lines = (
        *banner,
        *_frequencies(job),
        *_header(request, job, own_port, mtu),
        *_ends(request, job, (own_port, peer_port), peer),
    )
    return Printed((*lines, *_table(request, job, peer, (own_port, peer_port), mtu), LINE))


def _request(words: Sequence[str]) -> Request:
    _, verb, test = words[0].rpartition("/")[2].split("_")
    options: dict[str, str] = {}
    server = None
    at = 1
    while at < len(words):
        word, _, value = words[at].partition("=")
        if word in OPTIONS and not value:
            at += 1
            value = words[at] if at < len(words) else ""
        if word.startswith("-"):
            options[word] = value
        else:
            server = server or word
        at += 1
    return Request(verb, test, server, options)


def _port(request: Request, worker: Worker) -> tuple[Hca | None, tuple[str, ...]]:
    """Return the port that a side uses, or what it says when there is none."""
    name = request.option("-d", "--ib-dev")
    hcas = worker.machine.hcas
    port = worker.machine.hca(name) if name else next(iter(hcas), None)
    if port is None:
        return None, (f"IB device {name} not found" if name else "No IB devices found", *NO_DEVICE)
    if port.name not in worker.devices:
        return None, NO_CONTEXT
    if not worker.machine.is_up(port.name):
        return None, DOWN
    return port, ()


def _peer(request: Request, job: Launched) -> Worker | None:
    """Return the pod at the other end: of the job whose name, or whose service's name, was called.

    On a node that is called by its name a user runs the listener as root, as in the Redpaper.
    """
    if request.server is not None:
        called = request.server.partition(".")[0]
        return job.peers.get(called) or next(
            (_listener(machine) for machine in job.machines if ports.host(machine) == called), None
        )
    return next((pod for name, pod in sorted(job.peers.items()) if job.me.name.startswith(f"{name}-")), None)


def _listener(machine: Machine) -> Worker:
    devices = tuple(hca.name for hca in machine.hcas)
    return Worker(ports.host(machine), machine, devices=devices, ipc_lock=True, uid=0)


def _frequencies(job: Launched) -> tuple[str, ...]:
    """Return the warning that cores have different clocks, as in the Redpaper."""
    draw = seeded(job.run, "clocks")
    slow, other = draw.uniform(2600, 3500), draw.uniform(2600, 3500)
    return (f"Conflicting CPU frequency values detected: {slow:.6f} != {other:.6f}. CPU Frequency is not max.",)


def _header(request: Request, job: Launched, port: Hca, mtu: int) -> list[str]:
    ethernet = job.me.machine.ethernet
    bandwidth = request.test == "bw"
    both = "Bidirectional " if "-b" in request.options else ""
    lines = [
        LINE,
        " " * 20 + f"{WORDS[request.verb]} {both}{'BW' if bandwidth else 'Latency'} Test",
        f" Dual-port       : OFF\t\tDevice         : {port.name}",
        f" Number of qps   : {request.number(1, '-q')}\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
    ]
    if request.server is not None:
        lines.append(f" TX depth        : {request.number(128, '-t') if bandwidth else 1}")
    elif request.verb == "send":
        lines.append(" RX depth        : 512")
    if bandwidth:
        lines.append(" CQ Moderation   : 100")
    lines += [f" Mtu             : {mtu}[B]", f" Link type       : {'Ethernet' if ethernet else 'IB'}"]
    if ethernet:
        lines.append(f" GID index       : {request.number(GID_INDEX, '-x', '--gid-index')}")
    if request.verb == "read":
        lines.append(" Outstand reads  : 16")
    else:
        lines.append(f" Max inline data : {0 if bandwidth else 220}[B]")
    return [*lines, " rdma_cm QPs\t : OFF", " Data ex. method : Ethernet", LINE]


def _mtu(request: Request, machine: Machine, port: Hca) -> int:
    return request.number(ports.packet_payload(machine, port.name), "-m", "--mtu")


def _ends(request: Request, job: Launched, hcas: tuple[Hca, Hca], peer: Worker) -> list[str]:
    """Return the addresses of both sides; the other side's log has the same, the other way round."""
    test = _pair_key(job, peer)
    lines = []
    for side, worker, hca in (("local", job.me, hcas[0]), ("remote", peer, hcas[1])):
        machine = worker.machine
        lid = f"{ports.lid(job.machines, machine, hca):#04x}" if not machine.ethernet else "0000"
        qpn, psn, key = (seeded_bits(bits, test, worker.name, bits) for bits in (14, 24, 19))
        address = f" {side} address: LID {lid} QPN {qpn:#06x} PSN {psn:#06x}"
        if request.verb == "read":
            address += " OUT 0x10"
        if request.verb != "send":
            address += f" RKey {key:#08x} VAddr {0x7F0000000000 | seeded_bits(32, test, worker.name) << 8:#016x}"
        lines.append(address)
        if machine.ethernet:
            octets = [0] * 10 + [255, 255] + _address(worker)
            lines.append(" GID: " + ":".join(f"{octet:02d}" for octet in octets))
    return [*lines, LINE]


def _address(worker: Worker) -> list[int]:
    octets = [int(part) for part in worker.address.split(".") if part.isdecimal()]
    return octets if len(octets) == 4 else [10, 128, 0, 2]  # noqa: PLR2004


def _pair_key(job: Launched, peer: Worker) -> str:
    """Return what the two sides of one measurement have in common, and two measurements have not."""
    return "/".join(sorted((job.me.name, peer.name)))


def _table(request: Request, job: Launched, peer: Worker, both: tuple[Hca, Hca], mtu: int) -> list[str]:
    machine = job.me.machine
    # Both sides print what the measuring one found.
    draw = seeded(_pair_key(job, peer), request.verb, request.test, both[0].name)
    full = ports.link_mb_s(machine, min(port.rate_gbps for port in both), mtu) * draw.gauss(1, ports.SPREAD)
    if request.test == "lat":
        return _latencies(request, full, draw.gauss(1, 0.02))
    if "-b" in request.options:
        full *= 2
    in_gb = "--report_gbits" in request.options
    unit = "Gb" if in_gb else "MB"
    lines = [f" #bytes     #iterations    BW peak[{unit}/sec]    BW average[{unit}/sec]   MsgRate[Mpps]"]
    iterations = request.number(ITERATIONS[request.verb], "-n", "--iters")
    for size in request.sizes():
        average = ports.message_mb_s(size, full)
        rate = average * (1 << 20) / size / 1e6
        shown = average * (1 << 20) * 8 / 1e9 if in_gb else average
        figures = f"{shown * ports.EDR_PEAK / ports.EDR_AVERAGE:<7.2f}            {shown:<7.2f}\t\t   {rate:<7.6f}"
        lines.append(f" {size:<7}    {iterations:<10}       {figures}")
    return lines


def _latencies(request: Request, full: float, factor: float) -> list[str]:
    lines = [" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]"]
    iterations = request.number(LATENCY_ITERATIONS, "-n", "--iters")
    for size in request.sizes():
        ways = 2 if request.verb == "read" else 1
        typical = ports.message_us(size, full, ways) * factor
        least, most = typical * 0.97, typical * 3.1
        lines.append(f" {size:<7} {iterations}          {least:<7.2f}        {most:<7.2f}      {typical:<7.2f}")
    return lines

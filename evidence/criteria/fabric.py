"""The network between nodes: its ports, and what one link carries."""

from collections.abc import Sequence
from statistics import median

from evidence.criteria.criterion import Criterion, Found, at, begins, listed, of, passed
from evidence.criteria.transport import hcas
from evidence.tools.ibstatus import IbStatus, Port
from evidence.tools.perftest.model import Bandwidth, Perftest
from evidence.tools.rdma_devices import RdmaDevices
from evidence.verdict import Asked, Job, Proof, Status
from hardware.measured import RDMA_WRITE
from hardware.profiles import PROFILES

EDR_GBPS = 100
EDR_MB_S = RDMA_WRITE.least_mb_s
"""MB/s of 2^20 bytes, as perftest prints them: 92 Gb/s of 100."""
_OF_EACH_HCA = ("issm", "umad", "uverbs")
_WRITES = ("ib_write_bw", None)


def rate_gbps(asked: Asked) -> int | None:
    """Return the rate of the profile's compute ports, Gb/s; None: no profile."""
    profile = PROFILES.get(asked.profile or "")
    return profile.ports.rate_gbps if profile else None


def is_infiniband(asked: Asked) -> bool:
    """Whether the nodes talk over InfiniBand."""
    return asked.fabric == "infiniband"


def _write_bandwidth(job: Job) -> Found | None:
    links: dict[tuple[str, str, str], list[Bandwidth]] = {}
    for one in of(job, Perftest):
        if one.program in _WRITES and not one.bidirectional and not one.dual_port and one.bandwidth:
            links.setdefault((one.file, one.device or "", one.role or ""), []).extend(one.bandwidth)
    if not links:
        return Found(Status.MISSING, "no row of ib_write_bw")
    (file, device, _), rows = min(links.items(), key=lambda link: _carried(link[1]))
    largest = _largest(rows)
    measured = f"{_carried(rows):.2f} MB/s at {largest[0].bytes} B"
    said = f"{device or 'one link'}: {measured}, the least of {len(links)}" if len(links) > 1 else measured
    return Found(passed(_carried(rows) >= EDR_MB_S), said, proofs=at(file, *[row.line for row in largest]))


def _largest(rows: Sequence[Bandwidth]) -> list[Bandwidth]:
    # Small messages of -a are bound by their rate: what the link carries is the largest's figure.
    size = max(row.bytes for row in rows)
    return [row for row in rows if row.bytes == size]


def _carried(rows: Sequence[Bandwidth]) -> float:
    return median(row.average_mb_s for row in _largest(rows))


def ports(job: Job) -> list[tuple[str, Port]]:
    """Return the ports that ibstatus shows, with the file of each."""
    return [(one.file, port) for one in of(job, IbStatus) for port in one.rows]


def places(some: list[tuple[str, Port]]) -> tuple[Proof, ...]:
    """Return the lines of ports."""
    return tuple(proof for file, port in some for proof in at(file, port.line))


def _active(job: Job) -> Found | None:
    wanted, rate = hcas(job.asked), rate_gbps(job.asked)
    limit = f"ACTIVE, LinkUp, {rate} Gb/s" if rate else "ACTIVE, LinkUp"
    found = _of_compute(job)
    if not found:
        none = f"none of {listed(sorted(wanted))}" if wanted else "no port"
        return Found(Status.FAIL, none, limit, begins(of(job, IbStatus)), short=True)
    # An adapter of two ports has one cable where the profile has one port of it.
    carrying = {(file, port.device) for file, port in found if _carries(port, rate)}
    bad = [(file, port) for file, port in found if (file, port.device) not in carrying]
    said = [f"{port.device}: {port.state}, {port.phys_state}, {port.rate_gbps:g} Gb/s" for _, port in bad]
    measured = listed(said, 4) if bad else f"{len(carrying)} ports so"
    return Found(passed(not bad), measured, limit, places(bad or found))


def _of_compute(job: Job) -> list[tuple[str, Port]]:
    """Return the ports that jobs are to use: storage may have HCAs and a fabric of its own (D-3.2)."""
    wanted = hcas(job.asked)
    return [(file, port) for file, port in ports(job) if not wanted or port.device in wanted]


def _carries(port: Port, rate: int | None) -> bool:
    return port.up and (rate is None or port.rate_gbps >= rate)


def _present(job: Job) -> Found | None:
    wanted, seen = hcas(job.asked), {port.device for _, port in ports(job)}
    absent = sorted(wanted - seen)
    measured = f"{listed(absent)} absent" if absent else listed(sorted(seen))
    return Found(passed(not absent), measured, listed(sorted(wanted)), places(ports(job)), short=True)


def _one_manager(job: Job) -> Found | None:
    found = [(file, port) for file, port in _of_compute(job) if port.link_layer == "InfiniBand" and port.up]
    lids = sorted({port.sm_lid for _, port in found})
    if not found:
        return Found(Status.MISSING, "no active port")
    return Found(passed(len(lids) == 1 and int(lids[0], 16) > 0), f"sm lid {listed(lids)}", proofs=places(found))


def _device_files(job: Job) -> Found | None:
    count = len(hcas(job.asked))
    limit = f"{count} each of {listed(_OF_EACH_HCA)}, and rdma_cm"
    bad: list[str] = []
    proofs: list[Proof] = []
    for one in of(job, RdmaDevices):
        counts = one.counts
        absent = [kind for kind in _OF_EACH_HCA if counts.get(kind, 0) < count]
        absent += [] if "rdma_cm" in counts else ["rdma_cm"]
        if absent:
            bad.append(one.failed or ", ".join(f"{counts.get(kind, 0)} {kind}" for kind in absent))
        proofs += at(one.file, one.first_line, one.last_line)
    short = not any(one.failed for one in of(job, RdmaDevices))
    return Found(passed(not bad), listed(bad) if bad else "all there", limit, tuple(proofs), short)


CRITERIA = (
    Criterion(
        name="ib-write-bandwidth",
        title="One link carries what EDR can",
        limit=f">= {EDR_MB_S:,.0f} MB/s, average of the largest messages",
        unit="MB/s",
        tolerance="92 % of the line rate; the median of a link's repeats, and the slowest link; MB of 2^20 bytes",
        applies="ib_write_bw over InfiniBand EDR (100 Gb/s); no document gives a number for other rates",
        source="R-4.1-8",
        needs=("perftest",),
        look=_write_bandwidth,
        when=lambda asked: is_infiniband(asked) and rate_gbps(asked) == EDR_GBPS,
    ),
    Criterion(
        name="ports-active",
        title="Every port is up, at its rate",
        limit="ACTIVE, LinkUp, at least the profile's rate",
        unit="ports",
        tolerance="a second port of an HCA without a cable; HCAs for storage",
        applies="jobs that show ibstatus",
        source="R-4.1-6",
        needs=("ibstatus",),
        look=_active,
    ),
    Criterion(
        name="ports-present",
        title="Every HCA is in the machine",
        limit="every HCA that the pods were given, else every one of the profile",
        unit="HCAs",
        tolerance="pods see all of their machine; what a pod was given its device files show",
        applies="jobs that show ibstatus, of profiles whose HCAs have names",
        source="R-4.1-6, R-3.4.2-2",
        needs=("ibstatus",),
        look=_present,
        when=lambda asked: bool(hcas(asked)),
    ),
    Criterion(
        name="one-subnet-manager",
        title="One subnet manager serves all ports",
        limit="one sm lid",
        unit="",
        tolerance="HCAs for storage may have another; two subnets whose managers have one lid are not told apart",
        applies="jobs that show ibstatus, over InfiniBand",
        source="R-4.1-6, R-3.1-1",
        needs=("ibstatus",),
        look=_one_manager,
        when=is_infiniband,
    ),
    Criterion(
        name="rdma-device-files",
        title="The pod has the device files of every HCA",
        limit="one each of issm, umad and uverbs an HCA, and rdma_cm",
        unit="files",
        tolerance="ucm, which newer kernels lack, need not be there",
        applies="jobs that list /dev/infiniband over InfiniBand, of profiles whose HCAs have names",
        source="R-4.1-4",
        needs=("rdma-devices",),
        look=_device_files,
        when=lambda asked: is_infiniband(asked) and bool(hcas(asked)),
    ),
)

"""The network between nodes: ports, the subnet as each of them sees it, and what one link carries."""

from statistics import median

from evidence.criteria.criterion import Criterion, Found, at, begins, listed, of, passed
from evidence.criteria.transport import hcas
from evidence.tools.ib_smnode import IbSmNode
from evidence.tools.ibhosts import IbHosts
from evidence.tools.ibstatus import IbStatus, Port
from evidence.tools.perftest.model import Perftest
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


def _is_infiniband(asked: Asked) -> bool:
    return asked.fabric == "infiniband"


def _write_bandwidth(job: Job) -> Found | None:
    rows = [
        (one.file, row)
        for one in of(job, Perftest)
        if one.program in _WRITES and not one.bidirectional and not one.dual_port
        for row in one.bandwidth
    ]
    if not rows:
        return Found(Status.MISSING, "no row of ib_write_bw")
    # Small messages of -a are bound by their rate: what the link carries is the largest's figure.
    size = max(row.bytes for _, row in rows)
    measured = median(row.average_mb_s for _, row in rows if row.bytes == size)
    proofs = tuple(proof for file, row in rows if row.bytes == size for proof in at(file, row.line))
    return Found(passed(measured >= EDR_MB_S), f"{measured:.2f} MB/s at {size} B", proofs=proofs)


def ports(job: Job) -> list[tuple[str, Port]]:
    """Return the ports that ibstatus shows, with the file of each."""
    return [(one.file, port) for one in of(job, IbStatus) for port in one.rows]


def places(some: list[tuple[str, Port]]) -> tuple[Proof, ...]:
    """Return the lines of ports."""
    return tuple(proof for file, port in some for proof in at(file, port.line))


def _active(job: Job) -> Found | None:
    wanted, rate = hcas(job.asked), rate_gbps(job.asked)
    found = [(file, port) for file, port in ports(job) if not wanted or port.device in wanted]
    limit = f"ACTIVE, LinkUp, {rate} Gb/s" if rate else "ACTIVE, LinkUp"
    if not found:
        return Found(Status.FAIL, f"none of {listed(sorted(wanted))}" if wanted else "no port", limit)
    bad = [(file, port) for file, port in found if not port.up or (rate is not None and port.rate_gbps != rate)]
    said = [f"{port.device}: {port.state}, {port.phys_state}, {port.rate_gbps:g} Gb/s" for _, port in bad]
    measured = listed(said, 4) if bad else f"{len(found)} ports so"
    return Found(passed(not bad), measured, limit, places(bad or found))


def _present(job: Job) -> Found | None:
    wanted, seen = hcas(job.asked), {port.device for _, port in ports(job)}
    absent = sorted(wanted - seen)
    measured = f"{listed(absent)} absent" if absent else listed(sorted(seen))
    return Found(passed(not absent), measured, listed(sorted(wanted)), places(ports(job)))


def _one_manager(job: Job) -> Found | None:
    found = [(file, port) for file, port in ports(job) if port.link_layer == "InfiniBand" and port.up]
    lids = sorted({port.sm_lid for _, port in found})
    if not found:
        return Found(Status.MISSING, "no active port")
    return Found(passed(len(lids) == 1 and int(lids[0], 16) > 0), f"sm lid {listed(lids)}", proofs=places(found))


def _manager_enabled(job: Job) -> Found | None:
    told = [one for one in of(job, IbSmNode) if one.state is not None]
    if not told:
        return Found(Status.MISSING, "no sm-state")
    found = [one for one in told if one.enabled]
    measured = listed(f"{one.node or 'the switch'}: {one.state}" for one in told)
    return Found(
        passed(bool(found)), measured, proofs=tuple(p for one in found or told for p in at(one.file, one.line))
    )


def _alike(job: Job) -> Found | None:
    views = [one for one in of(job, IbHosts) if one.rows]
    if not views:
        return Found(Status.MISSING, "no list of hosts")
    sets = {one: frozenset(row.guid for row in one.rows) for one in views}
    everywhere = frozenset.intersection(*sets.values())
    differing = [one for one in views if sets[one] != frozenset.union(*sets.values())]
    lacking = [f"{one.hca or 'one HCA'} sees {len(sets[one])}" for one in differing]
    asked = sorted({one.hca for one in views if one.hca})
    unasked = sorted(hcas(job.asked) - {*asked}) if asked else []
    if unasked and not lacking:
        return Found(Status.MISSING, f"no list from {listed(unasked)}", proofs=begins(views))
    measured = listed(lacking) if lacking else f"{len(everywhere)} CAs from each of {len(views)}"
    return Found(passed(not lacking), measured, proofs=begins(differing or views))


def _all_there(job: Job) -> Found | None:
    profile = PROFILES[job.asked.profile or ""]
    rows = {row.guid: (one.file, row) for one in of(job, IbHosts) for row in one.rows}
    if not rows:
        return Found(Status.MISSING, "no list of hosts")
    hosts = [row for _, row in rows.values() if not row.aggregation_node]
    reducing = [(file, row) for file, row in rows.values() if row.aggregation_node]
    # The client and the other end; storage and further machines may be there, too.
    least = profile.ports.count * max(2, len(job.asked.nodes))
    limit = f">= {least} CAs of hosts{', and an Aggregation Node' if job.asked.sharp else ''}"
    good = len(hosts) >= least and (bool(reducing) or not job.asked.sharp)
    proofs = tuple(proof for file, row in reducing for proof in at(file, row.line))
    measured = f"{len(hosts)} CAs of hosts, {len(reducing)} Aggregation Nodes"
    return Found(passed(good), measured, limit, proofs or begins(of(job, IbHosts)))


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
    return Found(passed(not bad), listed(bad) if bad else "all there", limit, tuple(proofs))


CRITERIA = (
    Criterion(
        name="ib-write-bandwidth",
        title="One link carries what EDR can",
        limit=f">= {EDR_MB_S:,.0f} MB/s, average of the largest messages",
        unit="MB/s",
        tolerance="92 % of the line rate; the median of repeats; MB as perftest has it, 2^20 bytes",
        applies="ib_write_bw over InfiniBand EDR (100 Gb/s); no document gives a number for other rates",
        source="R-4.1-8",
        needs=("perftest",),
        look=_write_bandwidth,
        when=lambda asked: _is_infiniband(asked) and rate_gbps(asked) == EDR_GBPS,
    ),
    Criterion(
        name="ports-active",
        title="Every port is up, at its rate",
        limit="ACTIVE, LinkUp, the profile's rate",
        unit="ports",
        tolerance="",
        applies="jobs that show ibstatus",
        source="R-4.1-6",
        needs=("ibstatus",),
        look=_active,
    ),
    Criterion(
        name="ports-present",
        title="Every HCA is in the pod",
        limit="every HCA that the pods were given, else every one of the profile",
        unit="HCAs",
        tolerance="",
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
        tolerance="",
        applies="jobs that show ibstatus, over InfiniBand",
        source="R-4.1-6, R-3.1-1",
        needs=("ibstatus",),
        look=_one_manager,
        when=_is_infiniband,
    ),
    Criterion(
        name="subnet-manager-enabled",
        title="A switch runs the subnet manager",
        limit="sm-state enabled",
        unit="",
        tolerance="further switches may have theirs disabled",
        applies="answers of switches to show ib smnode",
        source="R-3.1-3",
        needs=("ib-smnode",),
        look=_manager_enabled,
    ),
    Criterion(
        name="fabric-alike",
        title="Every HCA sees the same subnet",
        limit="the same CAs from every HCA",
        unit="CAs",
        tolerance="",
        applies="jobs that list the hosts of InfiniBand; not where umad devices are root's, as on RHCOS",
        source="R-4.1-7",
        needs=("ibhosts",),
        look=_alike,
        when=_is_infiniband,
    ),
    Criterion(
        name="fabric-complete",
        title="The subnet has every HCA of the nodes, and of SHARP its Aggregation Node",
        limit="the profile's HCAs, times the nodes",
        unit="CAs",
        tolerance="more may be there: of storage, and of other machines",
        applies="jobs that list the hosts of InfiniBand, of a known profile",
        source="R-4.1-7, D-3.8",
        needs=("ibhosts",),
        look=_all_there,
        when=lambda asked: _is_infiniband(asked) and asked.profile in PROFILES,
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
        when=lambda asked: _is_infiniband(asked) and bool(hcas(asked)),
    ),
)

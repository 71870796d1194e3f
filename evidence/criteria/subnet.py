"""The subnet of InfiniBand: its manager, and the adapters that each HCA sees."""

from collections import Counter

from evidence.criteria.criterion import Criterion, Found, at, begins, listed, of, passed
from evidence.criteria.fabric import is_infiniband
from evidence.criteria.transport import hcas
from evidence.tools.ib_smnode import IbSmNode
from evidence.tools.ibhosts import ChannelAdapter, IbHosts
from evidence.verdict import Job, Status
from hardware.profiles import PROFILES


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
    sets = [frozenset(row.guid for row in one.rows) for one in views]
    everywhere = frozenset.intersection(*sets)
    differing = [one for one, guids in zip(views, sets, strict=True) if guids != frozenset.union(*sets)]
    lacking = [f"{one.hca or 'one HCA'} sees {len(one.rows)}" for one in differing]
    asked = sorted({one.hca for one in views if one.hca})
    unasked = sorted(hcas(job.asked) - {*asked}) if asked else []
    if unasked and not lacking:
        return Found(Status.MISSING, f"no list from {listed(unasked)}", proofs=begins(views))
    measured = listed(lacking) if lacking else f"{len(everywhere)} CAs from each of {len(views)}"
    return Found(passed(not lacking), measured, proofs=begins(differing or views), short=True)


def _all_there(job: Job) -> Found | None:
    profile = PROFILES[job.asked.profile or ""]
    rows = {row.guid: (one.file, row) for one in of(job, IbHosts) for row in one.rows}
    if not rows:
        return Found(Status.MISSING, "no list of hosts")
    hosts = Counter(_host(row) for _, row in rows.values() if not row.aggregation_node)
    reducing = [(file, row) for file, row in rows.values() if row.aggregation_node]
    each, known = profile.ports.count, (*job.asked.nodes, *job.asked.peers)
    lacking = [f"{name}: {hosts[_short(name)]} CAs" for name in known if hosts[_short(name)] < each]
    # Where the nodes are not known: two machines; storage and further ones may be there, too.
    whole = [name for name, count in hosts.items() if count >= each]
    lacking += [f"{len(whole)} hosts with {each} CAs"] if len(whole) < max(2, len(known)) else []
    lacking += ["no Aggregation Node"] if job.asked.sharp and not reducing else []
    limit = f">= {each} CAs of {f'each of {listed(known)}' if known else 'each of 2 hosts'}"
    limit += ", and an Aggregation Node" if job.asked.sharp else ""
    proofs = tuple(proof for file, row in reducing for proof in at(file, row.line))
    measured = f"{hosts.total()} CAs of {len(hosts)} hosts, {len(reducing)} Aggregation Nodes"
    said = f"{listed(lacking, 4)} ({measured})" if lacking else measured
    return Found(passed(not lacking), said, limit, proofs or begins(of(job, IbHosts)), short=True)


def _host(row: ChannelAdapter) -> str:
    """Return the host of `dgx02 HCA-3`, as drivers describe nodes."""
    return _short(row.name.partition(" ")[0])


def _short(name: str) -> str:
    return name.partition(".")[0]


CRITERIA = (
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
        when=is_infiniband,
    ),
    Criterion(
        name="fabric-complete",
        title="The subnet has every HCA of the nodes, and of SHARP its Aggregation Node",
        limit="the profile's HCAs of each node that takes part; where nodes are not known, of two hosts",
        unit="CAs",
        tolerance="more may be there: of storage, and of other machines; hosts by the first word of a node description",
        applies="jobs that list the hosts of InfiniBand, of a known profile",
        source="R-4.1-7, D-3.8",
        needs=("ibhosts",),
        look=_all_there,
        when=lambda asked: is_infiniband(asked) and asked.profile in PROFILES,
    ),
)

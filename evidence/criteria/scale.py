"""Spectrum Scale: the machines are its clients, tuned as planned."""

import re
from collections.abc import Iterator, Mapping

from evidence.criteria.criterion import Criterion, Found, at, begins, listed, of, passed
from evidence.tools.mmlscluster import MmLsCluster
from evidence.tools.mmlsconfig import MmLsConfig, ScaleSetting
from evidence.verdict import Asked, Job, Status
from hardware.profiles import PROFILES
from hardware.topology import pagepool_gib

COMMON = "common"
_OF_ALL = ("enforceFilesetQuotaOnRoot", "controlSetxattrImmutableSELinux")
"""What the driver of OpenShift needs on every node."""
_SIZE = re.compile(r"(\d{1,18})([KMGT]?)(%?)$")
_GIB = {"": 2.0**-30, "K": 2.0**-20, "M": 2.0**-10, "G": 1.0, "T": 2.0**10}


def _members(job: Job) -> Found | None:
    found, wanted = of(job, MmLsCluster), job.asked.nodes
    rows = [(one.file, row) for one in found for row in one.rows]
    known = {name for _, row in rows for name in (row.admin_name, row.daemon_name)}
    absent = [name for name in wanted if not any(_same(name, other) for other in known)]
    proofs = tuple(
        proof
        for file, row in rows
        if any(_same(name, row.admin_name) or _same(name, row.daemon_name) for name in wanted)
        for proof in at(file, row.line)
    )
    measured = f"{listed(absent)} absent" if absent else f"{len(wanted)} of {len(rows)} nodes"
    return Found(passed(not absent), measured, listed(wanted), begins(found) if absent else proofs, short=True)


def _same(name: str, other: str) -> bool:
    """Whether two names are one machine's: Scale has a network, and so a domain, of its own."""
    return name == other or name.partition(".")[0] == other.partition(".")[0]


def _settings(job: Job) -> Found | None:
    found = [one for one in of(job, MmLsConfig) if one.rows]
    if not found:
        return Found(Status.MISSING, "no settings")
    faults = [(one, row, said) for one in found for row, said in _faults(one, job.asked)]
    absent = [one for one, row, _ in faults if row is None]
    lines = [(one.file, row.line) for one, row, _ in faults if row is not None]
    proofs = tuple(proof for file, line in lines for proof in at(file, line))
    measured = listed((said for *_, said in faults), 4) if faults else f"so in {len(found)} lists"
    short = len(absent) == len(faults)
    return Found(passed(not faults), measured, proofs=proofs or begins(absent or found), short=short)


def _faults(one: MmLsConfig, asked: Asked) -> Iterator[tuple[ScaleSetting | None, str]]:
    """Yield what is not as planned, with its setting; None: it is not set."""
    common = {row.name: row for row in one.rows if row.group == COMMON}
    for name in _OF_ALL:
        rows = [row for row in one.rows if row.name == name]
        if not rows:
            yield None, f"{name}: not set"
        yield from ((row, f"{name}: {row.value}") for row in rows if row.value.lower() != "yes")
    for group in _groups(one):
        own = {**common, **{row.name: row for row in one.rows if row.group == group}}
        yield from ((row, f"{said} [{group}]") for row, said in _of_machine(own, asked))


def _groups(one: MmLsConfig) -> list[str]:
    """Return the nodes that use RDMA; where none do, all."""
    groups = dict.fromkeys(row.group for row in one.rows if row.name in ("verbsPorts", "verbsRdma"))
    return [*groups] or [COMMON]


def _of_machine(own: Mapping[str, ScaleSetting], asked: Asked) -> Iterator[tuple[ScaleSetting | None, str]]:
    profile = PROFILES.get(asked.profile or "")
    pool = own.get("pagepool")
    if profile is not None and pool is not None:
        size = _gib(pool.value, profile.memory_gib)
        if size is not None and size > pagepool_gib(profile):
            yield pool, f"pagepool: {pool.value}, planned {pagepool_gib(profile)}G"
    if asked.fabric != "infiniband" or profile is None:
        return
    rdma, ports = own.get("verbsRdma"), own.get("verbsPorts")
    if rdma is None or rdma.value.lower() != "enable":
        yield rdma, f"verbsRdma: {rdma.value if rdma else 'not set'}"
    wanted = {hca.name for hca in profile.storage_hcas or profile.hcas}
    named = {port.partition("/")[0] for port in re.split(r"[\s,]+", ports.value)} if ports else set()
    if absent := wanted - named:
        yield ports, f"verbsPorts without {listed(sorted(absent))}"
    if strange := named - {hca.name for hca in (*profile.hcas, *profile.storage_hcas)}:
        yield ports, f"verbsPorts with {listed(sorted(strange))}"


def _gib(value: str, memory_gib: int) -> float | None:
    """Return a size as GiB; None: it is none, e.g. dynamic."""
    found = _SIZE.match(value.upper())
    if found is None:
        return None
    return int(found[1]) / 100 * memory_gib if found[3] else int(found[1]) * _GIB[found[2]]


CRITERIA = (
    Criterion(
        name="scale-members",
        title="The nodes are in the Scale cluster",
        limit="every node of the job",
        unit="nodes",
        tolerance="by the name without its domain: Scale has a network of its own",
        applies="machines that show mmlscluster, where the nodes are known",
        source="R-3.3-2",
        needs=("mmlscluster",),
        look=_members,
        when=lambda asked: bool(asked.nodes),
    ),
    Criterion(
        name="scale-settings",
        title="Spectrum Scale is set as planned",
        limit=f"{' and '.join(_OF_ALL)} yes; over InfiniBand verbsRdma enable, and in verbsPorts the profile's HCAs "
        "(for storage, where it has such); pagepool <= a quarter of the profile's memory, which pods leave",
        unit="",
        tolerance="what the profile does not say; a smaller pagepool, and one that is not set",
        applies="machines that show mmlsconfig",
        source="R-3.3-7, R-3.4.5-4, R-3.4.5-7",
        needs=("mmlsconfig",),
        look=_settings,
    ),
)

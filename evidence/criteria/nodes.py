"""What nodes must be set up with: memory to be locked, modules of the kernel and of SELinux, firmware, and bonds."""

from evidence.criteria.criterion import Criterion, Found, at, begins, listed, of, passed
from evidence.tools.bonding import Bonding
from evidence.tools.ibstat import IbStat
from evidence.tools.lsmod import LsMod
from evidence.tools.semodule import SeModule
from evidence.tools.ulimit import Ulimit
from evidence.verdict import Asked, Job, Proof, Status
from hardware.profiles import PROFILES

PEER_MEMORY = ("nv_peer_mem", "nvidia_peermem")


def _rdma(asked: Asked) -> bool:
    return asked.fabric in ("infiniband", "roce")


def _memlock(job: Job) -> Found | None:
    found = of(job, Ulimit)
    known = [one for one in found if one.unlimited is not None]
    if not known:
        return Found(Status.MISSING, "no limit", proofs=begins(found))
    bad = [one for one in known if not one.unlimited]
    measured = listed({f"{one.memlock_bytes} bytes" for one in bad}) if bad else "unlimited"
    return Found(
        passed(not bad), measured, proofs=tuple(proof for one in bad or known for proof in at(one.file, one.line))
    )


def _peer_memory(job: Job) -> Found | None:
    found = of(job, LsMod)
    bad: list[LsMod] = []
    lines: list[Proof] = []
    for one in found:
        loaded = next((module for name in PEER_MEMORY if (module := one.module(name)) is not None), None)
        if loaded is None:
            bad.append(one)
        else:
            lines += at(one.file, loaded.line)
    measured = f"not on {len(bad)} of {len(found)}" if bad else "loaded"
    return Found(passed(not bad), measured, proofs=begins(bad) or tuple(lines), short=True)


def _by_module(asked: Asked) -> bool:
    """Whether an HCA reaches the GPUs' memory by a module of its own; newer ones need none (dma-buf)."""
    profile = PROFILES.get(asked.profile or "")
    return _rdma(asked) and (profile is None or profile.architecture.peer_memory == "nvidia-peermem")


def _nouveau(job: Job) -> Found | None:
    whole = [one for one in of(job, LsMod) if one.module("nouveau") is not None or not one.filtered]
    bad = [(one.file, module) for one in whole if (module := one.module("nouveau")) is not None]
    if not whole:
        return None
    proofs = tuple(proof for file, module in bad for proof in at(file, module.line))
    return Found(passed(not bad), "loaded" if bad else "not loaded", proofs=proofs or begins(whole))


def _selinux(job: Job) -> Found | None:
    found = of(job, SeModule)
    rows = [(one.file, row) for one in found for row in one.rows if row.name == "infiniband"]
    proofs = tuple(proof for file, row in rows for proof in at(file, row.line))
    return Found(
        passed(len(rows) >= len(found)), "installed" if rows else "not installed", proofs=proofs or begins(found)
    )


def _bond(job: Job) -> Found | None:
    found = of(job, Bonding)
    bad = [one for one in found if not _bundles(one)]
    said = [
        f"{one.bond or 'bond'}: {listed(row.name for row in one.rows if not row.up) or _unbundled(one)}" for one in bad
    ]
    measured = listed(said) if bad else listed(f"{len(one.rows)} ports" for one in found)
    short = all(not one.rows for one in bad)
    return Found(passed(not bad), measured, proofs=begins(bad or found), short=short)


def _unbundled(one: Bonding) -> str:
    if not one.rows:
        return "no port"
    return f"{one.ports} of {len(one.rows)} ports in the aggregator" if one.lacp and one.ports else "no partner"


def _bundles(one: Bonding) -> bool:
    aggregators = {row.aggregator for row in one.rows if row.aggregator is not None}
    bundled = one.lacp and one.up is True and all(row.up for row in one.rows) and len(aggregators) <= 1
    return bool(one.rows) and bundled and one.ports in (None, len(one.rows))


def _one_firmware(job: Job) -> Found | None:
    found = [(one.file, hca) for one in of(job, IbStat) for hca in one.adapters]
    if not found:
        return Found(Status.MISSING, "no adapter")
    versions: dict[str, set[str]] = {}
    for _, hca in found:
        versions.setdefault(hca.kind, set()).add(hca.firmware)
    mixed = {kind for kind, several in versions.items() if len(several) > 1}
    measured = listed(f"{kind}: {listed(sorted(several))}" for kind, several in sorted(versions.items()))
    shown = [(file, hca) for file, hca in found if hca.kind in mixed] or found
    proofs = tuple(proof for file, hca in shown for proof in at(file, hca.line))
    return Found(passed(not mixed), f"{measured}, on {len(found)} HCAs", proofs=proofs)


CRITERIA = (
    Criterion(
        name="memlock-unlimited",
        title="Containers may lock any amount of memory",
        limit="unlimited",
        unit="bytes",
        tolerance="",
        applies="jobs that show ulimit -l, over InfiniBand and RoCE",
        source="R-3.4.3-8, E-19a, E-64",
        needs=("ulimit",),
        look=_memlock,
        when=_rdma,
    ),
    Criterion(
        name="peer-memory",
        title="The kernel module for GPUDirect is loaded",
        limit=" or ".join(PEER_MEMORY),
        unit="",
        tolerance="",
        applies="nodes that show lsmod, over InfiniBand and RoCE, whose GPUs do without dma-buf",
        source="R-3.2.3-3, E-05, E-63",
        needs=("lsmod",),
        look=_peer_memory,
        when=_by_module,
    ),
    Criterion(
        name="nouveau-absent",
        title="The kernel's own GPU driver is not loaded",
        limit="not loaded",
        unit="",
        tolerance="",
        applies="nodes that show lsmod whole",
        source="R-3.4.1-7, S-6.1",
        needs=("lsmod",),
        look=_nouveau,
    ),
    Criterion(
        name="selinux-infiniband",
        title="SELinux lets containers use InfiniBand",
        limit="module infiniband",
        unit="",
        tolerance="",
        applies="nodes that show semodule, over InfiniBand",
        source="R-3.2.4-1",
        needs=("semodule",),
        look=_selinux,
        when=lambda asked: asked.fabric == "infiniband",
    ),
    Criterion(
        name="bond-up",
        title="All ports of the bond carry traffic",
        limit="802.3ad with a partner, all ports up in one aggregator",
        unit="ports",
        tolerance="",
        applies="nodes that show /proc/net/bonding",
        source="B-2.3",
        needs=("bonding",),
        look=_bond,
    ),
    Criterion(
        name="one-firmware",
        title="All HCAs of one kind have the same firmware",
        limit="one version of each CA type",
        unit="versions",
        tolerance="",
        applies="machines that show ibstat; logs of several of them together",
        source="N-3.5",
        needs=("ibstat",),
        look=_one_firmware,
    ),
)

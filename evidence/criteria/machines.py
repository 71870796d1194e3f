"""Machines: GPUs, CPUs and the paths between them are those of the profile, and nodes offer them."""

from collections.abc import Callable, Iterator, Mapping

from evidence.criteria.criterion import Criterion, Found, at, listed, of, passed
from evidence.node_facts import NodeFact, NodeFacts
from evidence.tools.lscpu import LsCpu
from evidence.tools.nvidia_smi import NvidiaSmi
from evidence.tools.nvidia_smi_topo import NvidiaSmiTopo
from evidence.verdict import Asked, Job, Proof, Status
from hardware import cpus
from hardware.profiles import PROFILES, Hca, Profile

MEMORY_SHARE = 0.05
"""How far the memory that a driver reports may be from the profile's: drivers keep different shares."""


def _known(asked: Asked) -> bool:
    return asked.profile in PROFILES


def _profile(job: Job) -> Profile:
    return PROFILES[job.asked.profile or ""]


def _gpus(job: Job) -> Found | None:
    profile, shape = _profile(job), job.asked.shape
    count, memory = shape.gpus if shape else profile.gpus, profile.gpu.memory_mib
    bad: list[str] = []
    proofs: list[Proof] = []
    strange = False
    for one in of(job, NvidiaSmi):
        if len(one.rows) != count:
            bad.append(one.failed or f"{len(one.rows)} GPUs")
        other = [
            gpu for gpu in one.rows if memory and gpu.memory_mib and abs(gpu.memory_mib / memory - 1) > MEMORY_SHARE
        ]
        bad += [f"GPU {gpu.index}: {gpu.memory_mib} MiB" for gpu in other]
        strange = strange or bool(other)
        proofs += at(one.file, *[gpu.line for gpu in other or one.rows[-1:]] or [one.first_line])
    limit = f"{count}{f' of {memory} MiB' if memory else ''}"
    short = all(len(one.rows) <= count and not one.failed for one in of(job, NvidiaSmi)) and not strange
    return Found(passed(not bad), listed(bad, 4) if bad else f"{count} GPUs", limit, tuple(proofs), short)


def _ecc(job: Job) -> Found | None:
    rows = [(one.file, gpu) for one in of(job, NvidiaSmi) for gpu in one.rows if gpu.uncorrected_ecc is not None]
    bad = [(file, gpu) for file, gpu in rows if gpu.uncorrected_ecc]
    if not rows:
        return None
    measured = listed(f"GPU {gpu.index}: {gpu.uncorrected_ecc}" for _, gpu in bad) if bad else f"0 of {len(rows)} GPUs"
    proofs = tuple(proof for file, gpu in bad or rows[:1] for proof in at(file, gpu.line))
    return Found(passed(not bad), measured, proofs=proofs)


def _topology(job: Job) -> Found | None:
    profile = _profile(job)
    shown = [one for one in of(job, NvidiaSmiTopo) if one.rows]
    if not shown:
        return Found(Status.MISSING, "no matrix")
    faults = [(one.file, line, text) for one in shown for line, text in _differences(one, profile)]
    measured = listed((text for *_, text in faults), 4) if faults else "as the profile has it"
    places = [(file, line) for file, line, _ in faults[:4]] or [(one.file, one.first_line) for one in shown]
    return Found(
        passed(not faults), measured, profile.name, tuple(proof for file, line in places for proof in at(file, line))
    )


def _differences(topo: NvidiaSmiTopo, profile: Profile) -> Iterator[tuple[int, str]]:
    """Yield what is not as the profile has it, with its line. Of what is not printed nothing is said."""
    for pair in topo.asymmetric:
        yield topo.first_line, f"{pair}: two cells differ"
    gpus = {row.name: row for row in topo.rows if row.name.startswith("GPU")}
    # Of some of a node's GPUs the container renumbers, and only HCAs' distances can be looked for, which it hides too.
    if len(gpus) != profile.gpus:
        return
    for name, row in gpus.items():
        index = int(name.removeprefix("GPU"))
        yield from ((row.line, text) for text in _links(name, row.links, profile, index))
        wanted = next((cpus.write(node.cpu_set) for node in profile.numa if index in node.gpus), None)
        if wanted and row.cpu_affinity not in (None, "N/A", wanted):
            yield row.line, f"{name}: CPUs {row.cpu_affinity}"
    for hca in (*profile.hcas, *profile.storage_hcas):
        if (found := topo.row(hca.name)) is not None:
            yield from ((found.line, text) for text in _paths(hca, found.links))


def _links(name: str, links: Mapping[str, str], profile: Profile, index: int) -> Iterator[str]:
    for other, count in enumerate(profile.nvlink.links[index] if profile.nvlink.links else ()):
        seen = links.get(f"GPU{other}")
        if other != index and seen is not None and seen != f"NV{count}" and (count or seen.startswith("NV")):
            yield f"{name} to GPU{other}: {seen}"


def _paths(hca: Hca, links: Mapping[str, str]) -> Iterator[str]:
    for gpu in hca.gpus:
        seen = links.get(f"GPU{gpu}")
        if seen is not None and seen != hca.distance:
            yield f"{hca.name} to GPU{gpu}: {seen}, not {hca.distance}"


def _numa(job: Job) -> Found | None:
    profile = _profile(job)
    # As text: lscpu writes the shortest list, and one that was damaged may name any number of CPUs.
    wanted = {node.id: cpus.write(node.cpu_set) for node in profile.numa}
    bad: list[str] = []
    proofs: list[Proof] = []
    other = False
    for one in of(job, LsCpu):
        wrong = [row for row in one.rows if wanted.get(row.node) != row.cpus]
        bad += [f"node {row.node}: {row.cpus}" for row in wrong]
        other = other or bool(wrong)
        bad += [f"no node {node}" for node in sorted(wanted.keys() - {row.node for row in one.rows})]
        proofs += at(one.file, *[row.line for row in wrong or one.rows])
    measured = listed(bad, 4) if bad else f"{len(wanted)} NUMA nodes"
    limit = f"{len(wanted)} NUMA nodes with their CPUs"
    return Found(passed(not bad), measured, limit, tuple(proofs), short=not other)


def _offered(job: Job) -> Found | None:
    profile = _profile(job)
    nodes = {node.name: node for one in of(job, NodeFacts) for node in one.nodes}
    resources = len(job.asked.devices)
    bad = [f"{name}: {fault}" for name, node in nodes.items() for fault in _lacks(node, profile, resources)]
    bad += [f"{name} is not there" for name in job.asked.nodes if name not in nodes]
    limit = f"Ready, not cordoned, {profile.gpus} GPUs{f', {resources} RDMA resources' if resources else ''}"
    if not nodes and not bad:
        return Found(Status.MISSING, "no node", limit)
    return Found(passed(not bad), listed(bad, 4) if bad else f"{len(nodes)} nodes so", limit)


def _lacks(node: NodeFact, profile: Profile, resources: int) -> Iterator[str]:
    if not node.ready:
        yield "not Ready"
    if not node.schedulable:
        yield "cordoned"
    if node.gpus != profile.gpus:
        yield f"{node.gpus} GPUs"
    offered = sum(amount > 0 for amount in node.rdma.values())
    if offered < resources:
        yield f"{offered} RDMA resources"


def _one(field: Callable[[NodeFact], str | None]) -> Callable[[Job], Found | None]:
    """Return what looks whether all nodes that tell have the same."""

    def look(job: Job) -> Found | None:
        told = [version for one in of(job, NodeFacts) for node in one.nodes if (version := field(node))]
        versions = sorted({*told})
        return Found(passed(len(versions) == 1), f"{listed(versions)} on {len(told)} nodes") if versions else None

    return look


CRITERIA = (
    Criterion(
        name="nodes-offer",
        title="Every node with GPUs is ready and offers what its machine has",
        limit="Ready and not cordoned, the profile's GPUs, an RDMA resource for each HCA",
        unit="nodes",
        tolerance="",
        applies="the nodes of a cluster",
        source="S-7.5, R-3.4.2-6",
        needs=("node-facts",),
        look=_offered,
        when=_known,
    ),
    Criterion(
        name="one-driver",
        title="All nodes run the same GPU driver",
        limit="one version",
        unit="versions",
        tolerance="",
        applies="the nodes of a cluster whose driver's version is labelled",
        source="N-3.5, N-5.2",
        needs=("node-facts",),
        look=_one(lambda node: node.driver),
    ),
    Criterion(
        name="one-kernel",
        title="All nodes with GPUs run the same kernel",
        limit="one version",
        unit="versions",
        tolerance="",
        applies="the nodes of a cluster",
        source="R-3.2.1-6",
        needs=("node-facts",),
        look=_one(lambda node: node.kernel),
    ),
    Criterion(
        name="one-system",
        title="All nodes with GPUs run the same release of their system",
        limit="one release",
        unit="releases",
        tolerance="",
        applies="the nodes of a cluster",
        source="R-3.2.1-5",
        needs=("node-facts",),
        look=_one(lambda node: node.os_image),
    ),
    Criterion(
        name="gpus-present",
        title="The pod sees the GPUs that it was given",
        limit="the shape's GPUs, else the profile's, with its memory",
        unit="GPUs",
        tolerance=f"{MEMORY_SHARE:.0%} of the memory, of which drivers keep different shares",
        applies="jobs that show nvidia-smi, of a known profile",
        source="R-4.4-2, S-6.1a",
        needs=("nvidia-smi",),
        look=_gpus,
        when=_known,
    ),
    Criterion(
        name="gpu-ecc",
        title="The memory of the GPUs has no errors",
        limit="0 uncorrected ECC errors",
        unit="errors",
        tolerance="",
        applies="jobs that show nvidia-smi",
        source="R-4.4-2",
        needs=("nvidia-smi",),
        look=_ecc,
    ),
    Criterion(
        name="topology",
        title="GPUs and HCAs are connected as in the profile",
        limit="NVLinks, HCA distances and CPUs of the profile, in a symmetric matrix",
        unit="",
        tolerance="columns that are not printed, and a part of the GPUs, are not compared",
        applies="jobs that show nvidia-smi topo, of a known profile",
        source="R-4.4-3, D-2.6",
        needs=("nvidia-smi-topo",),
        look=_topology,
        when=_known,
    ),
    Criterion(
        name="numa-nodes",
        title="CPUs are on the NUMA nodes of the profile",
        limit="the profile's NUMA nodes, each with its CPUs",
        unit="nodes",
        tolerance="",
        applies="jobs that show lscpu, of a profile whose NUMA nodes a document prints",
        source="D-2.5, R-4.4-3",
        needs=("lscpu",),
        look=_numa,
        when=lambda asked: _known(asked) and bool(PROFILES[asked.profile or ""].numa),
    ),
)

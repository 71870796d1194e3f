"""What the API server must show of the nodes: ready, with all devices of their machine, and of one version."""

from collections.abc import Callable, Iterator, Mapping

from core.apis import rhel
from core.hardware.gpus import labelled, product
from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, passed, readings_of
from toolkit.evidence.model import NodeFact, NodeFacts
from toolkit.evidence.verdict import Job, Request, Status
from toolkit.evidence.wording import listed


def _offered(job: Job) -> Outcome | None:
    profile = job.request.known_machine
    nodes = {node.name: node for facts in readings_of(job, NodeFacts) for node in facts.nodes}
    resources = len(job.request.devices)
    faults = [f"{name}: {fault}" for name, node in nodes.items() for fault in _lacks(node, job.request, resources)]
    faults += [f"{name} does not exist" for name in job.request.nodes if name not in nodes]
    limit = f"Ready, not cordoned, {plural(profile.gpus, 'GPU')}{f', {resources} RDMA resources' if resources else ''}"
    limit += f" of {job.request.hca_shares} each" if resources and job.request.hca_shares else ""
    if not nodes and not faults:
        return Outcome(Status.MISSING, "no node", limit)
    return Outcome(passed(not faults), listed(faults, 4) if faults else plural(len(nodes), "node"), limit)


def _lacks(node: NodeFact, request: Request, resources: int) -> Iterator[str]:
    if not node.ready:
        yield "not Ready"
    if not node.schedulable:
        yield "cordoned"
    if request.feature_labels and node.found_gpu is False:
        yield "no label of node feature discovery for a GPU"
    parts = request.divided.get(node.name, {})
    if node.gpus != (0 if parts else request.known_machine.gpus):
        yield plural(node.gpus, "GPU")
    expected = labelled(request.known_machine.gpu)
    if node.gpu_model and product(node.gpu_model) != expected:
        yield f"GPUs {node.gpu_model}, not {expected}: another machine than {request.profile}"
    for size in sorted({*parts, *node.instances}):
        if node.instances.get(size, 0) != parts.get(size, 0):
            yield f"{plural(node.instances.get(size, 0), 'instance')} {size}, not {parts.get(size, 0)}"
    shares = request.hca_shares
    offered = [name for name, amount in node.rdma.items() if amount == (shares or amount) > 0]
    if len(offered) < resources:
        yield f"{len(offered)} RDMA resources{f' of {shares} each' if shares else ''}"


def _same(field: Callable[[NodeFact], str | None]) -> Callable[[Job], Outcome | None]:
    """Return a check that all nodes which report a version report the same."""

    def judge(job: Job) -> Outcome | None:
        nodes = (node for facts in readings_of(job, NodeFacts) for node in facts.nodes)
        reported = [version for node in nodes if (version := field(node))]
        versions = sorted({*reported})
        measured = f"{listed(versions)} on {plural(len(reported), 'node')}"
        return Outcome(passed(len(versions) == 1), measured) if versions else None

    return judge


def _in_roles(job: Job) -> Outcome | None:
    readings = readings_of(job, NodeFacts)
    nodes = {node.name: node for facts in readings for node in (*facts.nodes, *facts.others)}
    plain = {node.name for facts in readings for node in facts.others}
    if not nodes:
        return Outcome(Status.MISSING, "no node")
    faults = [f"{name} does not exist" for name in job.request.roles if name not in nodes]
    for name, node in nodes.items():
        labels = {_ROLES.get(role, role) for role in node.roles}
        faults += [f"{name}: no {role}" for role in job.request.roles.get(name, ()) if role not in labels]
        faults += [f"{name}: not Ready"] if name in plain and not node.ready else []
        faults += [f"{name}: {plural(node.gpus, 'GPU')}"] if name in plain and node.gpus else []
    return Outcome(passed(not faults), listed(faults, 4) if faults else plural(len(nodes), "node"))


def _in_systems(job: Job) -> Outcome | None:
    nodes = {node.name: node for facts in readings_of(job, NodeFacts) for node in (*facts.nodes, *facts.others)}
    systems = {
        name: rhel.system(node.os_image, node.kernel) for name, node in nodes.items() if name in job.request.systems
    }
    judged = {name: system for name, system in systems.items() if system}
    faults = [
        f"{name}: {system}, not {declared}"
        for name, system in judged.items()
        if not f"{system}.".startswith(f"{(declared := job.request.systems[name])}.")
    ]
    limit = ", ".join(sorted({job.request.systems[name] for name in judged}))
    return (
        Outcome(passed(not faults), listed(faults, 4) if faults else plural(len(judged), "node"), limit)
        if judged
        else None
    )


def _tainted(job: Job) -> Outcome | None:
    taints = {*(job.request.taints or ())}
    nodes = [node for facts in readings_of(job, NodeFacts) for node in facts.nodes]
    if not nodes:
        return Outcome(Status.MISSING, "no node")
    faults = [f"{node.name} has no {taint}" for node in nodes for taint in sorted(taints.difference(node.taints))]
    faults += [f"{node.name} has {taint}" for node in nodes for taint in node.taints if taint not in taints]
    return Outcome(
        passed(not faults), listed(faults, 4) if faults else f"{len(nodes)} nodes", ", ".join(sorted(taints)) or "none"
    )


_ROLES: Mapping[str, str] = {"compute": "worker", "control-plane": "master"}
"""Role by label -> that of the settings: 3.11 labels workers as compute, today's releases masters also otherwise."""

CRITERIA = (
    Criterion(
        name="nodes-offer",
        title="Every GPU node is ready and offers all devices of its machine",
        limit="Ready, not cordoned, labelled by node feature discovery where the stack has it, the profile's GPUs, "
        "of its model where GPU feature discovery labels it, or the settings' MIG instances, an RDMA resource for each "
        "HCA, with as many units as pods may share it",
        unit="nodes",
        applies="the nodes of a cluster",
        source="S-7.5, R-3.4.1-2, R-3.4.2-6",
        needs=("node-facts",),
        judge=_offered,
        when=lambda request: request.machine is not None,
    ),
    Criterion(
        name="nodes-in-roles",
        title="Every node in the settings exists with its roles; nodes without GPUs are ready and offer none",
        limit="the roles in the settings; without a profile, Ready and no GPU",
        unit="nodes",
        tolerance="additional roles; compute counts as worker, control-plane as master",
        applies="the nodes of a cluster whose stack names them",
        source="R-2.2-1, R-3.2.5-4, S-7.5",
        needs=("node-facts",),
        judge=_in_roles,
        when=lambda request: bool(request.roles),
    ),
    Criterion(
        name="nodes-in-systems",
        title="Every node has the operating system of its role: masters RHCOS, GPU nodes that of the settings",
        limit="RHCOS, or RHEL of the release in `site.hosts`",
        unit="nodes",
        tolerance="nodes that do not say what they run, as simulated ones",
        applies="the nodes of a cluster whose release has RHCOS alone, or whose stack has `site.hosts`",
        source="R-2.2-2, R-3.2.1-5",
        needs=("node-facts",),
        judge=_in_systems,
        when=lambda request: bool(request.systems),
    ),
    Criterion(
        name="nodes-tainted",
        title="Every node has the taints of its pool and no others, which pods of jobs and of the platform tolerate",
        limit="the taints in the settings",
        unit="nodes",
        tolerance="taints of Kubernetes itself, and such as only make another node better",
        applies="the nodes of a cluster whose stack has pools",
        source="S-7.2",
        needs=("node-facts",),
        judge=_tainted,
        when=lambda request: request.taints is not None,
    ),
    Criterion(
        name="one-driver",
        title="All nodes run the same GPU driver",
        limit="one version",
        unit="versions",
        applies="the nodes of a cluster whose labels give the driver version",
        source="N-3.5, N-5.2",
        needs=("node-facts",),
        judge=_same(lambda node: node.driver),
    ),
    Criterion(
        name="one-kernel",
        title="All GPU nodes run the same kernel",
        limit="one version",
        unit="versions",
        applies="the nodes of a cluster",
        source="R-3.2.1-6",
        needs=("node-facts",),
        judge=_same(lambda node: node.kernel),
    ),
    Criterion(
        name="one-system",
        title="All GPU nodes run the same OS release",
        limit="one release",
        unit="releases",
        applies="the nodes of a cluster",
        source="R-3.2.1-5",
        needs=("node-facts",),
        judge=_same(lambda node: node.os_image),
    ),
)

"""What is stuck after a loss and ends by itself late or never, with what ends it, from live objects (pure).

A pod on a silent node stays Terminating until the node is back, deleted or tainted as out of service (Kubernetes,
pkg/controller/podgc); it keeps its name, its volumes, and with them the pods that are to come in its place.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.apis import kinds
from core.apis.names import COMPLETION_INDEX, GPU_RESOURCE
from core.apis.quantity import whole
from core.wording import plural, some
from policies.manifests.values import entries, read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards.nodes import condition, why
from toolkit.cli.status.platform_parts import List, Object

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
WORKLOAD = "kueue.x-k8s.io/workload"
"""On pods of a job that Kueue admitted: its Workload."""
GATE = "kueue.x-k8s.io/topology"
"""Scheduling gate of a pod until Kueue has chosen its node."""
_ENDED = ("Succeeded", "Failed")
_GONE = "deletionTimestamp"
Place = tuple[str, str, str, str]


@dataclass(frozen=True)
class Stuck:
    """One thing that is stuck: where, why, and what ends it."""

    place: str
    cause: str
    remedy: str = ""
    """A sentence, with a command where there is one; empty where it ends by itself, as the cause says."""


def stuck(everything: List) -> Iterator[Stuck]:
    """Yield what is stuck, nodes first; `everything` lists all objects of a kind."""
    pods = everything(kinds.POD)
    replaced = {_place(pod) for pod in pods if not read(pod, "metadata", _GONE)}
    on: dict[str, list[Object]] = {}
    of: dict[tuple[str, str], list[Object]] = {}
    for pod in pods:
        on.setdefault(str(read(pod, "spec", "nodeName")), []).append(pod)
        of.setdefault((metadata.namespace(pod), metadata.annotations(pod).get(WORKLOAD, "")), []).append(pod)
    for node in everything(kinds.NODE):
        yield from _node(node, on.get(metadata.name(node), []), replaced, everything)
    for workload in everything(kinds.WORKLOAD):
        if not condition(workload, "Finished"):
            yield from _workload(workload, of.get((metadata.namespace(workload), metadata.name(workload)), []))


def _node(node: Object, pods: Sequence[Object], replaced: Container[Place], everything: List) -> Iterator[Stuck]:
    name = metadata.name(node)
    fenced = any(taint.get("key") == OUT_OF_SERVICE for taint in entries(node, "spec", "taints"))
    if condition(node, "Ready"):
        if fenced:
            cause = f"it is Ready, and still has the taint {OUT_OF_SERVICE}: no pod starts there"
            yield Stuck(f"Node {name}", cause, f"Remove it: `oc adm taint nodes {name} {OUT_OF_SERVICE}-`.")
        return
    left = [pod for pod in pods if read(pod, "status", "phase") not in _ENDED]
    terminating = [pod for pod in left if read(pod, "metadata", _GONE)]
    waiting = [pod for pod in left if _tolerated(pod) is not None]  # others, e.g. of DaemonSets, stay for ever
    ready: Object = next((entry for entry in entries(node, "status", "conditions") if entry.get("type") == "Ready"), {})
    since = f" since {ready['lastTransitionTime']}" if ready.get("lastTransitionTime") else ""
    lost = f"not ready{since} ({why(ready)})" if ready else "its kubelet has reported nothing"
    if terminating:
        held = sorted({job for pod in terminating if _place(pod) not in replaced and (job := _job(pod))})
        jobs = f", and {some(held)} {'wait' if len(held) > 1 else 'waits'} for that" if held else ""
        cause = f"{lost}; Terminating for as long as that: {_named(terminating)}{jobs}"
        yield Stuck(f"Node {name}", cause, _fencing(node, everything, fenced=fenced))
    elif waiting:
        seconds = sorted({seconds for pod in waiting if (seconds := _tolerated(pod)) is not None})
        shown = " to ".join(str(value) for value in dict.fromkeys((seconds[0], seconds[-1])))
        yield Stuck(f"Node {name}", f"{lost}; Kubernetes deletes {_named(waiting)} {shown} s after that")


def _fencing(node: Object, everything: List, *, fenced: bool) -> str:
    """Return what ends the pods of a node that is lost."""
    name = metadata.name(node)
    if fenced:
        return f"The node has the taint {OUT_OF_SERVICE}: Kubernetes removes them within 20 s."
    command = f"`oc adm taint nodes {name} {OUT_OF_SERVICE}=nodeshutdown:NoExecute`"
    by_hand = f"When the machine is surely off: {command}; remove the taint when it is back."
    for check in everything(kinds.NODE_HEALTH_CHECK):
        if name in {entry.get("name") for entry in entries(check, "status", "unhealthyNodes")}:
            phase = read(check, "status", "phase")
            if phase == "Remediating":
                return f"NodeHealthCheck {metadata.name(check)} remedies the node."
            return f"NodeHealthCheck {metadata.name(check)} knows it, and is {phase}. {by_hand}"
    return by_hand


def _workload(workload: Object, pods: Sequence[Object]) -> Iterator[Stuck]:
    name, namespace = metadata.name(workload), metadata.namespace(workload)
    kind, job = _owner(workload)
    place = f"{kind or 'Workload'} {namespace}/{job}"
    if read(workload, "spec", "active") is False:
        met = condition(workload, "Evicted") or condition(workload, "DeactivationTarget") or {}
        again = """-p '{"spec":{"active":true}}'"""
        command = f"`oc patch workload -n {namespace} {name} --type merge {again}`"
        yield Stuck(
            place,
            f"Kueue starts it no more: {why(met) or 'its Workload is not active'}",
            f"When the cause is removed: {command}.",
        )
        return
    requeued = read(workload, "status", "requeueState") or {}
    if requeued.get("requeueAt") and not condition(workload, "QuotaReserved"):
        times = plural(int(requeued.get("count") or 0), "time")
        evicted = condition(workload, "Evicted")
        yield Stuck(
            place, f"evicted {times}{f' ({why(evicted)})' if evicted else ''}; tried again at {requeued['requeueAt']}"
        )
    if not condition(workload, "Admitted"):
        return
    if unhealthy := [str(entry.get("name")) for entry in entries(workload, "status", "unhealthyNodes")]:
        yield Stuck(
            place,
            f"waits for a node in place of {some(unhealthy)}",
            "Free or add one in the domain that the job requires; without one Kueue evicts the whole job.",
        )
    yield from _without_pods(place, workload, pods)


def _without_pods(place: str, workload: Object, pods: Sequence[Object]) -> Iterator[Stuck]:
    """Yield that a job holds quota while not all of its pods run."""
    alive = [pod for pod in pods if not read(pod, "metadata", _GONE) and read(pod, "status", "phase") not in _ENDED]
    wanted = sum(int(entry.get("count") or 0) for entry in entries(workload, "spec", "podSets"))
    admitted = condition(workload, "Admitted") or {}
    gpus = _gpus(workload)
    holds = f"admitted since {admitted.get('lastTransitionTime')}, holds {plural(gpus, 'GPU')}" if gpus else "admitted"
    if not alive:
        terminating = sum(1 for pod in pods if read(pod, "metadata", _GONE))
        rest = f"no pod of it runs: {plural(terminating, 'pod')} Terminating" if terminating else "has no pod"
        yield Stuck(place, f"{holds}, and {rest}", "" if terminating else _asks(workload))
        return
    gated = [pod for pod in alive if any(gate.get("name") == GATE for gate in entries(pod, "spec", "schedulingGates"))]
    if gated:
        yield Stuck(place, f"{holds}; {_named(gated)} waits for Kueue to choose a node")
    unplaced = [entry for pod in alive if (entry := condition(pod, "PodScheduled", "False")) and pod not in gated]
    if unplaced:
        yield Stuck(place, f"{holds}; {plural(len(unplaced), 'pod')} of {wanted} finds no node: {why(unplaced[0])}")
    met = condition(workload, "PodsReady", "False")
    if met and not gated and not unplaced and met.get("reason") == "WaitForRecovery":
        yield Stuck(place, f"{holds}, and does not run since {met.get('lastTransitionTime')}: {why(met)}")


def _asks(workload: Object) -> str:
    kind, name = _owner(workload)
    command = f"`oc describe {kind.lower() or 'workload'} -n {metadata.namespace(workload)} {name}`"
    return f"Its events say why: {command}; deleting it frees the quota."


def _gpus(workload: Object) -> int:
    usages = (
        read(entry, "resourceUsage") or {} for entry in entries(workload, "status", "admission", "podSetAssignments")
    )
    return sum(whole(usage.get(GPU_RESOURCE)) or 0 for usage in usages)


def _owner(obj: Object) -> tuple[str, str]:
    """Return kind and name of what made an object; its own name where nothing did."""
    owners = ((str(owner.get("kind")), str(owner.get("name"))) for owner in entries(obj, "metadata", "ownerReferences"))
    return next(owners, ("", metadata.name(obj)))


def _job(pod: Object) -> str:
    """Return what makes another pod in the place of this one; empty for a bare pod."""
    kind, name = _owner(pod)
    return f"{kind} {metadata.namespace(pod)}/{name}" if kind else ""


def _place(pod: Object) -> Place:
    """Return what a pod is for: its owner and its index, or its name where it has no index."""
    index = metadata.annotations(pod).get(COMPLETION_INDEX)
    return metadata.namespace(pod), *_owner(pod), metadata.name(pod) if index is None else index


def _named(pods: Iterable[Object]) -> str:
    """Return pods by namespace: `pod a/b`, `pods a/b, a/c`."""
    paths = sorted(map(metadata.path, pods))
    return f"{'pod' if len(paths) == 1 else 'pods'} {some(paths)}"


def _tolerated(pod: Object) -> int | None:
    """Return the seconds that a pod stays on an unreachable node; None: for ever."""
    for entry in entries(pod, "spec", "tolerations"):
        if entry.get("key") == "node.kubernetes.io/unreachable" and entry.get("effect") == "NoExecute":
            seconds = entry.get("tolerationSeconds")
            return None if seconds is None else int(seconds)
    return None

"""The label of nodes that are not fit: with `hardware/job_writer.py` the only place that writes beside the engine.

Whether a node is fit is an observation of the day, and no desired state: in the settings each repair would be an edit
and an update of the whole platform, and a sick node would take jobs until then. The engine's own labels of nodes are
left alone: a merge patch changes this one label.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from core.apis import kinds, names
from core.apis.client import MERGE_PATCH, NOT_FOUND, OK
from policies.manifests.values import read as value
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.cluster_writes import send
from toolkit.cli.shared.errors import Problem
from toolkit.evidence.fitness import Fitness, NodeVerdict

Marks = Mapping[str, str | None]
"""Node -> the label's new value; None: it is removed."""


def changes(verdicts: Iterable[NodeVerdict], nodes: Iterable[Mapping[str, Any]]) -> dict[str, str | None]:
    """Return what labels should become: unfit nodes get theirs, fit ones lose it, and others keep what they have."""
    have = {node["metadata"]["name"]: (value(node, "metadata", "labels") or {}).get(names.UNFIT) for node in nodes}
    changed_labels: dict[str, str | None] = {}
    for verdict in verdicts:
        if verdict.node not in have:
            continue
        if verdict.fitness is Fitness.UNFIT and have[verdict.node] != verdict.reason:
            changed_labels[verdict.node] = verdict.reason
        elif verdict.fitness is Fitness.FIT and have[verdict.node] is not None:
            changed_labels[verdict.node] = None
    return changed_labels


def sentence(marks: Marks) -> str:
    """Return what would be done, for a question."""
    set_on = [f"{node} ({reason})" for node, reason in marks.items() if reason is not None]
    gone = [node for node, reason in marks.items() if reason is None]
    parts = [f"mark {', '.join(set_on)} as unfit"] * bool(set_on) + [f"unmark {', '.join(gone)}"] * bool(gone)
    return " and ".join(parts)


def write(cluster: Cluster, marks: Marks) -> None:
    """Set and remove the label; raise Problem for the first node whose change is refused."""
    for node, reason in marks.items():
        body = {"metadata": {"labels": {names.UNFIT: reason}}}
        answer = send(cluster, "PATCH", kinds.NODE.path(name=node), body, MERGE_PATCH)
        if answer.status not in OK:
            message = answer.refusal().get("message", answer.status)
            remedy = (
                "Compare the settings' `nodes` with `oc get nodes`."
                if answer.status == NOT_FOUND
                else f"Use a context whose user may patch nodes, or have it done: `oc label node {node} "
                f"{names.UNFIT}{f'={reason} --overwrite' if reason else '-'}`."
            )
            raise Problem(f"node {node} is not labelled: {message}", remedy)

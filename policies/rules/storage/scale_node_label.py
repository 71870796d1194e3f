"""The label of Spectrum Scale clients is on exactly the nodes that are planned as such."""

from collections.abc import Callable, Iterator
from functools import cache

from pydantic import Field

from core.apis.kinds import CSI_SCALE_OPERATOR, NODE
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown, brief
from policies.rule import Parameters, Rule


class ScaleNodeLabel(Parameters):
    """The plan."""

    nodes: tuple[str, ...] = Field(default=(), description="planned clients; none means no plan and no check")
    label: str = Field(default="scale", description='label with value "true"')


def _examine(subject: Obj, inventory: Inventory, parameters: ScaleNodeLabel) -> Iterator[Violation]:
    if not parameters.nodes:
        return
    if subject.kind == NODE.kind:
        yield from _node(subject, inventory.once(_labelled(parameters.label)), parameters)
        return
    labelled = {node.name for node in inventory.of(NODE)}
    for name in parameters.nodes:
        if name not in labelled:
            message = f"{name} is planned as a client, and nothing gives it the label {parameters.label}=true"
            yield subject.unlinked(message, "spec", "pluginNodeSelector")


@cache
def _labelled(label: str) -> Callable[[Inventory], frozenset[str]]:
    """Return what `Inventory.once` takes to find the nodes with the label: several patches of a node are one node's."""
    place = ("metadata", "labels", label)
    return lambda inventory: frozenset(node.name for node in inventory.of(NODE) if node.read(*place) is not None)


def _node(node: Obj, labelled: frozenset[str], parameters: ScaleNodeLabel) -> Iterator[Violation]:
    place = ("metadata", "labels", parameters.label)
    value = node.read(*place)
    planned = node.name in parameters.nodes
    if isinstance(value, Unknown) or (value is None and node.name in labelled):
        return
    if planned and value != "true":
        state = "has no label" if value is None else f"has {brief(value)} in its label"
        yield node.violation(f"is planned as a client and {state} {parameters.label}, not 'true'", *place)
    elif not planned and value == "true":
        yield node.violation(f"has {parameters.label}=true and is not planned as a client", *place)


SCALE_NODE_LABEL = Rule(
    name="scale-node-label",
    what='The label scale="true" is on exactly the nodes that are Spectrum Scale clients.',
    why="The driver runs where the label is. On a node without Spectrum Scale its pods keep crashing; on a client "
    "without the label, jobs stay in ContainerCreating (driver name spectrumscale.csi.ibm.com not found).",
    remedy='Label the planned clients with scale="true", and remove the label from all others',
    source="R-3.4.5-3, P-14",
    severity=Severity.MANDATORY,
    parameters=ScaleNodeLabel,
    examine=_examine,
    kinds=(NODE, CSI_SCALE_OPERATOR),
    links=True,
)

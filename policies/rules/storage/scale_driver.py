"""The configuration of Spectrum Scale's CSI driver."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice

from pydantic import Field

from core.apis.kinds import CSI_SCALE_OPERATOR, NODE
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown, brief
from policies.rule import Parameters, Rule, Severity

_ID = re.compile(r"[0-9]{1,20}\Z")
_LOCAL = ("spec", "localScaleCluster")
_MOST = 20


def _scale_cluster_id(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    return islice(_ids(subject), _MOST)


def _ids(subject: Obj) -> Iterator[Violation]:
    seen: set[str] = set()
    clusters = subject.entries("spec", "clusters")
    for index in range(len(clusters)):
        place = ("spec", "clusters", index, "id")
        value = subject.read(*place)
        if fault := _fault(value):
            yield subject.violation(f"cluster id {fault}", *place)
        elif isinstance(value, str):
            if value in seen:
                yield subject.violation(f"cluster {value} is listed twice", *place)
            seen.add(value)
        remote = subject.read(*place[:-1], "primary", "remoteCluster")
        if remote is not None and (fault := _fault(remote)):
            yield subject.violation(f"remoteCluster {fault}", *place[:-1], "primary", "remoteCluster")
    yield from _local(subject, seen, clusters)


def _fault(value: object) -> str:
    if isinstance(value, Unknown):
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{brief(value)} is a number, of which JSON keeps the first 15 digits or so, and not a string"
    return "" if isinstance(value, str) and _ID.match(value) else f"{brief(value)} is not a string of up to 20 digits"


def _local(subject: Obj, ids: set[str], clusters: list[object]) -> Iterator[Violation]:
    local = subject.read(*_LOCAL)
    hidden = subject.hidden("spec", "clusters")
    if local is None:
        primary = any(isinstance(cluster, Mapping) and cluster.get("primary") for cluster in clusters)
        if clusters and not primary and not hidden:
            message = "has neither localScaleCluster (CSI 3) nor primary (before), the cluster that the nodes are in"
            yield subject.violation(message, *_LOCAL)
    elif fault := _fault(local):
        yield subject.violation(f"localScaleCluster {fault}", *_LOCAL)
    elif isinstance(local, str) and local not in ids and not hidden:
        yield subject.violation(f"localScaleCluster {local} is none of the clusters", *_LOCAL)


SCALE_CLUSTER_ID = Rule(
    name="scale-cluster-id",
    what="Cluster ids of a CSIScaleOperator are unique strings of digits, and one is that of the nodes' own cluster.",
    why="An id has up to 20 digits. Without quotes it is a number and is rounded (16217308676014575616); the driver "
    "then finds no cluster with that id, without a message.",
    remedy='Write ids in quotes, "16217308676014575381", and name the local one in localScaleCluster or with primary',
    source="R-3.4.5-6, E-22, P-10",
    severity=Severity.MANDATORY,
    examine=_scale_cluster_id,
    kinds=(CSI_SCALE_OPERATOR,),
)


def _scale_gui_tls(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    return islice(_certificates(subject), _MOST)


def _certificates(subject: Obj) -> Iterator[Violation]:
    for index, cluster in enumerate(subject.entries("spec", "clusters")):
        place = ("spec", "clusters", index)
        name = brief(cluster.get("id") if isinstance(cluster, Mapping) else index)
        secure = subject.read(*place, "secureSslMode")
        if secure is not True and not isinstance(secure, Unknown):
            problem = (
                "is false"
                if secure is False
                else "is not set, which is false"
                if secure is None
                else "is not a boolean"
            )
            yield subject.violation(f"secureSslMode of cluster {name} {problem}", *place, "secureSslMode")
        elif secure is True and not subject.read(*place, "cacert"):
            yield subject.violation(f"cluster {name} has secureSslMode and no cacert to verify with", *place, "cacert")


SCALE_GUI_TLS = Rule(
    name="scale-gui-tls",
    what="Each cluster of a CSIScaleOperator has secureSslMode: true and names the ConfigMap with its CA (cacert).",
    why="Without secureSslMode the driver sends the GUI's user and password to whoever answers. With it but without "
    "cacert the driver does not start (CA certificate not specified in secure SSL mode for cluster).",
    remedy="Put the CA of the GUI's certificate into a ConfigMap, name it in cacert, and set secureSslMode: true",
    source="R-3.4.5-6, E-22, P-10",
    severity=Severity.MANDATORY,
    examine=_scale_gui_tls,
    kinds=(CSI_SCALE_OPERATOR,),
)


class ScaleNodeLabel(Parameters):
    """The plan."""

    nodes: tuple[str, ...] = Field(default=(), description="planned clients; none means no plan and no check")
    label: str = Field(default="scale", description='label with value "true"')


def _scale_node_label(subject: Obj, inventory: Inventory, parameters: ScaleNodeLabel) -> Iterator[Violation]:
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
    examine=_scale_node_label,
    kinds=(NODE, CSI_SCALE_OPERATOR),
    links=True,
)

"""Ids of Spectrum Scale clusters are unique strings of digits, and the local cluster is among them."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from core.apis.kinds import CSI_SCALE_OPERATOR
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown, brief
from policies.rule import Parameters, Rule

_ID = re.compile(r"[0-9]{1,20}\Z")
_LOCAL = ("spec", "localScaleCluster")
_MOST = 20


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    return islice(_clusters(subject), _MOST)


def _clusters(subject: Obj) -> Iterator[Violation]:
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
    parameters=Parameters,
    examine=_examine,
    kinds=(CSI_SCALE_OPERATOR,),
)

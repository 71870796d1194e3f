"""What restarts nodes by itself: how many at the same time, and which."""

from collections.abc import Iterator

from core.apis.kinds import NODE_HEALTH_CHECK
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown, is_empty
from policies.rule import Parameters, Rule, Severity

_LEAST: Path = ("spec", "minHealthy")
_MOST: Path = ("spec", "maxUnhealthy")
_SELECTOR: Path = ("spec", "selector")


def _node_remediation_limited(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    least, most = subject.read(*_LEAST), subject.read(*_MOST)
    if least is not None and most is not None:
        yield subject.violation("minHealthy and maxUnhealthy exclude each other", *_MOST).with_remedy("Delete one")
    elif least is None and most is None:
        yield subject.violation("has no minHealthy, so that all of its nodes may restart at the same time", *_LEAST)
    for path, limit, none in ((_LEAST, least, ("0", "0%")), (_MOST, most, ("100%",))):
        if not isinstance(limit, Unknown) and str(limit) in none:
            yield subject.violation(f"{path[-1]} {limit} lets all of its nodes restart at the same time", *path)
    selector = subject.read(*_SELECTOR)
    if selector is None or is_empty(selector):
        yield subject.violation("selects every node, masters among them", *_SELECTOR).with_remedy(
            "Select the nodes by a label, e.g. hpc.pulumi/gpu-node"
        )


NODE_REMEDIATION_LIMITED = Rule(
    name="node-remediation-limited",
    what="A NodeHealthCheck has minHealthy or maxUnhealthy, with a value that keeps nodes running, and selects nodes.",
    why="It restarts every node that it takes for lost. When a switch or a rack fails, all nodes behind it look lost "
    "although they are well; without a limit they all restart, and what ran on them ends. Its operator's webhook "
    "refuses a check without a limit, and accepts a limit that is none. A check that selects every node restarts "
    "masters by the same limit as workers.",
    remedy="Set minHealthy so high that the loss of a switch is below it, e.g. 90%",
    source="medik8s/node-healthcheck-operator, api/v1alpha1/validation.go, api/v1alpha1/nodehealthcheck_types.go",
    severity=Severity.MANDATORY,
    examine=_node_remediation_limited,
    kinds=(NODE_HEALTH_CHECK,),
)

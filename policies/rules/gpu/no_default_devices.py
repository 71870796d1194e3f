"""No LimitRange gives containers devices that they have not requested."""

from collections.abc import Iterator

from core.apis.kinds import LIMIT_RANGE
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import brief
from policies.rule import Parameters, Rule

_DEFAULTS = ("default", "defaultRequest")


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for limit in subject.parts("spec", "limits"):
        for field in _DEFAULTS:
            for resource, value in limit.mapping(field).items():
                if isinstance(resource, str) and "/" in resource and value not in (0, "0"):
                    yield limit.violation(f"gives every container {resource}: {brief(value)}", field, resource)


NO_DEFAULT_DEVICES = Rule(
    name="no-default-devices",
    what="No LimitRange has a default or defaultRequest of a device (nvidia.com/gpu, rdma/<name>).",
    why="The API server writes the default into every container that requests none: launchers, init containers and "
    "sidecars each take a GPU or an RDMA device, and no manifest shows it.",
    remedy="Delete the resource from the LimitRange, and request it in the containers that need it",
    source="P-13; kubernetes.io/docs/concepts/policy/limit-range",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(LIMIT_RANGE,),
)

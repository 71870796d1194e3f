"""A pod's user id is in its namespace's range, and not root."""

from collections.abc import Iterator

from core.apis.names import SCC_UID_RANGE
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import brief
from policies.rule import Rule
from policies.views.accounts import built_in_namespace
from policies.views.infrastructure import Infrastructure
from policies.views.namespaces import Namespaces, ids

_FIELD = ("securityContext", "runAsUser")


def _examine(subject: Obj, inventory: Inventory, parameters: Infrastructure) -> Iterator[Violation]:
    for pod in subject.pods:
        for part in (pod, *pod.containers):
            user = part.read(*_FIELD)
            if isinstance(user, int) and not isinstance(user, bool) and not parameters.excepts(subject):
                yield from _user(part, user, inventory)


def _user(part: Part, user: int, inventory: Inventory) -> Iterator[Violation]:
    if user == 0:
        yield part.violation("runs as user 0, root", *_FIELD)
        return
    name = part.object.text("metadata", "namespace")
    declared = inventory.once(Namespaces).get(name)
    message = f"runs as user {brief(user)}"
    if declared is None:
        if not name and not part.object.hidden("metadata", "namespace"):
            yield part.unlinked(f"{message}, and names no namespace that could have it", *_FIELD)
        elif name and not built_in_namespace(name):
            yield part.unlinked(f"{message}, and Namespace {name} is not among the objects", *_FIELD)
    elif SCC_UID_RANGE in declared.hidden:
        yield part.unverified(f"{message}, and the range of {name} is unknown until the update", *_FIELD)
    elif not declared.users:
        yield part.unlinked(
            f"{message}, and {name} has no {SCC_UID_RANGE}, so that OpenShift chooses its range", *_FIELD
        )
    elif (users := ids(declared.users)) is None:
        yield part.violation(f"{message}, and the range of {name}, {declared.users[:60]!r}, cannot be read", *_FIELD)
    elif not users.start <= user <= users.end:
        yield part.violation(f"{message}, and {name} has {users.start} to {users.end}", *_FIELD)


RUN_AS_USER_IN_RANGE = Rule(
    name="run-as-user-in-range",
    what=f"runAsUser of a pod and its containers is unset or within its namespace's {SCC_UID_RANGE}, and never 0; "
    "objects in the parameter infrastructure are exempt.",
    why="The strategy MustRunAsRange refuses any other user (runAsUser: Invalid value: 1075481000: must be in the "
    "ranges: [1000660000, 1000669999]). A manifest that works in one namespace is refused in the next.",
    remedy="Leave runAsUser out, or give the namespace a range that includes the owner of the data",
    source="E-17, R-4.3-6, P-12, platform-facts 0 and 4.3",
    severity=Severity.MANDATORY,
    parameters=Infrastructure,
    examine=_examine,
    links=True,
)

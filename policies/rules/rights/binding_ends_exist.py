"""The role and the accounts that a binding names exist."""

from collections.abc import Iterator

from core.apis.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, SERVICE_ACCOUNT
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.scc.roles import ships
from policies.views.accounts import built_in_namespace, exists


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    namespace = subject.text("metadata", "namespace")
    kind, name = subject.text("roleRef", "kind"), subject.text("roleRef", "name")
    if kind == CLUSTER_ROLE.kind:
        is_declared = ships(name) or inventory.get(CLUSTER_ROLE, name) is not None
    else:
        is_declared = (
            kind != ROLE.kind or built_in_namespace(namespace) or inventory.get(ROLE, name, namespace) is not None
        )
    if name and not is_declared:
        scope = f" in {namespace}" if kind == ROLE.kind else ""
        yield subject.unlinked(f"grants the {kind} {name}{scope}, which is not among the objects", "roleRef", "name")
    for entry in subject.parts("subjects"):
        if entry.text("kind") != SERVICE_ACCOUNT.kind:
            continue
        account, home = entry.text("name"), entry.text("namespace")
        if account and home and not built_in_namespace(home) and not exists(inventory, home, account):
            yield entry.unlinked(f"is for the ServiceAccount {home}/{account}, which is not among the objects", "name")


BINDING_ENDS_EXIST = Rule(
    name="binding-ends-exist",
    what="The role and the service accounts that a binding names exist.",
    why="The API server accepts a binding to a role or account that does not exist, but it grants nothing: the job "
    "fails with `Forbidden: not usable by user or serviceaccount`. An account created later under that name gets the "
    "right.",
    remedy="Correct the name and the namespace, or add the missing object",
    source="R-3.4.3-5, R-3.4.3-7",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING),
    links=True,
)

"""Red Hat's operator for Kueue: definitions, webhook and manager for the object `cluster`."""

from collections.abc import Iterable

from apis import kinds
from apis.kinds import Kind
from simulator.actors import grants, pods
from simulator.actors.api import Object
from simulator.actors.conditions import stated
from simulator.actors.kueue_jobs import FRAMEWORKS, Framework
from simulator.actors.kueue_manager import KINDS
from simulator.actors.package import Definition, structure
from simulator.actors.podactor import HERE, Operator
from simulator.actors.rbac import OWN, READ, Rule
from simulator.admission import manifests as admission
from simulator.manifests import deployment

NAME = "cluster"
MANAGER = "kueue-controller-manager"
MANAGER_IMAGE = "registry.redhat.io/kueue/kueue-rhel9:v1.3.0"
ISSUERS = "issuers.cert-manager.io"
AGAIN_SECONDS = 1.0
GROUP = kinds.CLUSTER_QUEUE.group


def _older(kind: Kind) -> tuple[Kind, ...]:
    return tuple(Kind(kind.group, version, kind.kind, kind.plural, kind.scope) for version in kind.other_versions)


DEFINITIONS = tuple(Definition(kind, structure(), _older(kind)) for kind in KINDS)
MANAGER_RULES = (
    Rule((GROUP,), tuple(each.kind.plural for each in DEFINITIONS), OWN),
    Rule((GROUP,), tuple(f"{each.kind.plural}/status" for each in DEFINITIONS), ("get", "update", "patch")),
    *(Rule((each.kind.group,), (each.kind.plural,), (*READ, "update", "patch")) for each in FRAMEWORKS.values()),
    Rule(("",), ("namespaces", "pods", "limitranges"), READ),
)
OPERATOR_RULES = (
    *MANAGER_RULES,
    Rule((kinds.CUSTOM_RESOURCE_DEFINITION.group,), (kinds.CUSTOM_RESOURCE_DEFINITION.plural,), OWN),
    Rule((kinds.MUTATING_WEBHOOK_CONFIGURATION.group,), (kinds.MUTATING_WEBHOOK_CONFIGURATION.plural,), OWN),
)


class KueueOperator(Operator):
    """For the Kueue `cluster`: definitions, webhook and manager, once cert-manager and the kinds of jobs are there."""

    watched = ((kinds.KUEUE, None), (kinds.DEPLOYMENT, HERE))

    def reconcile(self) -> float | None:
        """Keep what is made for it, or remove that with it."""
        resource = self.caches[kinds.KUEUE].get(NAME)
        if resource is None or pods.deleting(resource):
            self._remove()
            return None
        if self._definition(ISSUERS) is None:
            self.say("E please make sure that cert-manager is installed")
            return AGAIN_SECONDS
        lost = [name for name in frameworks(resource) if name in FRAMEWORKS and not self._served(FRAMEWORKS[name].kind)]
        if lost:
            self._show(resource, available=False, why=f"{lost[0]} of spec.config.integrations is not served")
            return AGAIN_SECONDS
        wanted = (resource["metadata"]["uid"], resource["metadata"]["generation"])
        manager = self.own(kinds.DEPLOYMENT, MANAGER)
        if self.installed != wanted or manager is None:
            self._make(resource)
            self.installed = wanted
        available = manager is not None and pods.condition(manager, "Available")
        self._show(resource, available=available, why="")
        return None

    def _remove(self) -> None:
        """Let no job be held any more, and stop the manager."""
        if self.own(kinds.DEPLOYMENT, MANAGER) is not None:
            self.api.delete(kinds.MUTATING_WEBHOOK_CONFIGURATION, admission.QUEUE_WEBHOOKS)
            self.api.delete(kinds.DEPLOYMENT, MANAGER, self.namespace)
        self.installed = None

    def _make(self, resource: Object) -> None:
        for definition in DEFINITIONS:
            self.api.apply(kinds.CUSTOM_RESOURCE_DEFINITION, definition.manifest())
        certificate = self.runtime.server.ca.encode()
        requested = [(kind.group, kind.version, kind.plural) for kind in (each.kind for each in managed(resource))]
        hook = admission.queue_webhook(
            self.runtime.settings.admission_port, certificate, requested, named_only=_policy(resource) == "QueueName"
        )
        parts = [*operands(self.namespace, frameworks(resource)), (kinds.MUTATING_WEBHOOK_CONFIGURATION, hook)]
        # The webhook may not outlive the manager's maker: jobs would be held, and nothing would admit them.
        self.make(parts, resource)

    def _definition(self, name: str) -> Object | None:
        return self.api.find(kinds.CUSTOM_RESOURCE_DEFINITION, name)

    def _served(self, kind: Kind) -> bool:
        if kind == kinds.JOB:
            return True
        found = self._definition(f"{kind.plural}.{kind.group}")
        versions = found["spec"]["versions"] if found else []
        return any(one["name"] == kind.version and one["served"] for one in versions)

    def _show(self, resource: Object, *, available: bool, why: str) -> None:
        reason = "AsExpected" if available else "Progressing"
        conditions = {
            "Available": (str(available), reason, why),
            "Degraded": ("False", "AsExpected", ""),
            "Progressing": (str(not available), reason, why),
        }
        status = {"conditions": stated(resource, conditions), "readyReplicas": int(available)}
        self.api.set_status(kinds.KUEUE, resource, status)


def frameworks(resource: Object) -> list[str]:
    """Return the kinds of jobs that a Kueue object manages."""
    config = (resource.get("spec") or {}).get("config") or {}
    return list((config.get("integrations") or {}).get("frameworks") or [])


def managed(resource: Object) -> list[Framework]:
    """Return those of them that are simulated."""
    return [FRAMEWORKS[name] for name in frameworks(resource) if name in FRAMEWORKS]


def _policy(resource: Object) -> str:
    config = (resource.get("spec") or {}).get("config") or {}
    return str((config.get("workloadManagement") or {}).get("labelPolicy") or "QueueName")


def operands(namespace: str, named: Iterable[str]) -> grants.Grant:
    """Return the manager with its account and rights."""
    container = {
        "name": "manager",
        "image": MANAGER_IMAGE,
        "command": ["/manager"],
        "args": [f"--frameworks={','.join(named)}"],
    }
    return [
        grants.service_account(namespace, MANAGER),
        *grants.cluster_wide(MANAGER, namespace, MANAGER, MANAGER_RULES),
        deployment(namespace, MANAGER, {"serviceAccountName": MANAGER, "containers": [container]}, "Kueue"),
    ]

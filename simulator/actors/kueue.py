"""Red Hat's operator for Kueue: definitions, webhook and manager for the object `cluster`."""

from collections.abc import Iterable
from pathlib import Path

from apis import kinds
from apis.kinds import Kind
from simulator.actors import grants, pods, rbac
from simulator.actors.api import Object
from simulator.actors.conditions import same_status, stated
from simulator.actors.informer import Informer, Key
from simulator.actors.kueue_jobs import FRAMEWORKS, Framework
from simulator.actors.kueue_manager import KINDS
from simulator.actors.package import Definition, structure
from simulator.actors.podactor import PodActor, owner_reference, played
from simulator.actors.rbac import OWN, READ, Rule
from simulator.admission import manifests as admission

NAME = "cluster"
MANAGER = "kueue-controller-manager"
MANAGER_IMAGE = "registry.redhat.io/kueue/kueue-rhel9:v1.3.0"
ISSUERS = "issuers.cert-manager.io"
AGAIN_SECONDS = 1.0
GROUP = kinds.CLUSTER_QUEUE.group
_EVERY: Key = ("", "")


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
    Rule((admission.WEBHOOK_CONFIGURATION.group,), (admission.WEBHOOK_CONFIGURATION.plural,), OWN),
)


class KueueOperator(PodActor):
    """For the Kueue `cluster`: definitions, webhook and manager, once cert-manager and the kinds of jobs are there."""

    _resources: Informer
    _deployments: Informer
    _made: tuple[str, int] | None = None

    def start(self) -> None:
        """Watch the custom resource and the manager."""
        loop = self.loop(self._reconcile)
        self._deployments = self.watch(kinds.DEPLOYMENT, loop, namespace=self.namespace, key=_EVERY)
        self._resources = self.watch(kinds.KUEUE, loop, key=_EVERY)

    def _reconcile(self, _key: Key) -> float | None:
        if not (self._resources.synced and self._deployments.synced):
            return None
        resource = self._resources.get(NAME)
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
        manager = self._deployments.get(MANAGER, self.namespace)
        if self._made != wanted or manager is None:
            self._make(resource)
            self._made = wanted
        available = manager is not None and pods.condition(manager, "Available")
        self._show(resource, available=available, why="")
        return None

    def _remove(self) -> None:
        """Let no job be held any more, and stop the manager."""
        if self._deployments.get(MANAGER, self.namespace) is not None:
            self.api.delete(admission.WEBHOOK_CONFIGURATION, admission.QUEUE_WEBHOOKS)
            self.api.delete(kinds.DEPLOYMENT, MANAGER, self.namespace)
        self._made = None

    def _make(self, resource: Object) -> None:
        for definition in DEFINITIONS:
            self.api.apply(kinds.CUSTOM_RESOURCE_DEFINITION, definition.manifest())
        certificate = Path(self.runtime.server.ca_file).read_bytes()
        asked = [(kind.group, kind.version, kind.plural) for kind in (each.kind for each in managed(resource))]
        hook = admission.queue_webhook(
            self.runtime.settings.admission_port, certificate, asked, named_only=_policy(resource) == "QueueName"
        )
        parts = [*operands(self.namespace, frameworks(resource)), (admission.WEBHOOK_CONFIGURATION, hook)]
        for kind, body in parts:
            # The webhook may not outlive the manager's maker: jobs would be held with nobody to let them go.
            body["metadata"]["ownerReferences"] = [owner_reference(resource)]
            self.api.apply(kind, body)

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
        if not same_status(resource, status):
            self.api.patch(kinds.KUEUE, NAME, {"status": status}, sub="status")


def frameworks(resource: Object) -> list[str]:
    """Return the kinds of jobs that a Kueue object manages."""
    config = (resource.get("spec") or {}).get("config") or {}
    return list((config.get("integrations") or {}).get("frameworks") or [])


def managed(resource: Object) -> list[Framework]:
    """Return those of them that are played."""
    return [FRAMEWORKS[name] for name in frameworks(resource) if name in FRAMEWORKS]


def _policy(resource: Object) -> str:
    config = (resource.get("spec") or {}).get("config") or {}
    return str((config.get("workloadManagement") or {}).get("labelPolicy") or "QueueName")


def operands(namespace: str, named: Iterable[str]) -> grants.Grant:
    """Return the manager with its account and rights."""
    labels = {"control-plane": "controller-manager", "app": MANAGER}
    container = {
        "name": "manager",
        "image": MANAGER_IMAGE,
        "command": ["/manager"],
        "args": [f"--frameworks={','.join(named)}"],
    }
    deployment = {
        "apiVersion": kinds.DEPLOYMENT.api_version,
        "kind": kinds.DEPLOYMENT.kind,
        "metadata": {"name": MANAGER, "namespace": namespace, "labels": labels, "annotations": played("Kueue")},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"serviceAccountName": MANAGER, "containers": [container]},
            },
        },
    }
    return [
        (kinds.SERVICE_ACCOUNT, rbac.service_account(namespace, MANAGER)),
        *grants.cluster_wide(MANAGER, namespace, MANAGER, MANAGER_RULES),
        (kinds.DEPLOYMENT, deployment),
    ]

"""Red Hat's operator for Kueue, simulated: what it makes for the object `cluster` is Kueue's own, of its Go module.

It asks cert-manager for the webhooks' certificate, and makes nothing before that is Ready (openshift/kueue-operator,
dc3b6577, pkg/operator/target_config_reconciler.go). The manager serves with one of its own: without, it would read that
of its metrics at a fixed path of its image.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from core.apis import kinds
from core.files import write_atomically
from toolkit.engine.tools.versions import KUEUE
from toolkit.simulator import pods
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import grants, job_manifests, kueue_settings
from toolkit.simulator.actors.api import SERVICE, Object, stated
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.actors.podactor import HERE, Operator
from toolkit.simulator.manifests import deployment, manifest, simulated_by
from toolkit.simulator.processes.ports import LOOPBACK

NAME = "cluster"
BY = "Kueue's operator"
PREFIX = "kueue-"
MANAGER = "kueue-controller-manager"
MANAGER_IMAGE = "registry.redhat.io/kueue/kueue-rhel9:v1.3.0"
CONFIG = "kueue-manager-config"
CONFIG_FILE = "controller_manager_config.yaml"
WEBHOOK_SERVICE = "kueue-webhook-service"
SECRET = "kueue-webhook-own-cert"  # noqa: S105 - its name
ISSUER, CERTIFICATE, ISSUED = "selfsigned", "webhook-cert", "kueue-webhook-server-cert"
CONVERTED = frozenset({"clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads"})
"""Kinds of which v1beta1 has other fields: config/components/crd/patches of Kueue; the manager puts its CA there."""
AGAIN_SECONDS = 1.0
GROUP = kinds.CLUSTER_QUEUE.group
_RBAC = (kinds.ROLE.group,)
OPERATOR_RULES = (
    *job_manifests.MAKING,
    Rule(("",), ("secrets",), OWN),
    Rule((kinds.CERTIFICATE.group,), (kinds.CERTIFICATE.plural, kinds.ISSUER.plural), OWN),
    # It gives the manager the rights that Kueue publishes, which are more than its own.
    Rule(_RBAC, ("clusterroles", "roles"), ("escalate", "bind")),
)
MOUNT_SECONDS = 0.2
GATES = "VisibilityOnDemand=false,MultiKueue=false"
"""The first starts an API server of its own on a fixed port; there is one cluster here."""


class KueueOperator(Operator):
    """For the Kueue `cluster`: definitions, webhooks and manager, once cert-manager and the kinds of jobs are there."""

    watched = ((kinds.KUEUE, None), (kinds.DEPLOYMENT, HERE))

    def reconcile(self) -> float | None:
        """Keep what is made for it, or remove that with it."""
        resource = self.caches[kinds.KUEUE].get(NAME)
        if resource is None or pods.deleting(resource):
            self._remove()
            return None
        if self._definition(job_manifests.ISSUERS) is None:
            self.log_line("E please make sure that cert-manager is installed")
            return AGAIN_SECONDS
        lost = [
            framework.integration for framework in kueue_settings.frameworks(resource) if not self._served(framework)
        ]
        if lost:
            self._set_status(resource, available=False, why=f"{lost[0]} of spec.config.integrations is not served")
            return AGAIN_SECONDS
        folder = self.runtime.settings.tools.get("kueue-manifests")
        if folder is None:
            self._set_status(resource, available=False, why="the simulated cluster was started without the kueue tool")
            return None
        if (why := self._uncertified(resource)) is not None:
            self.log_line(f"W Webhook certificate not ready yet: {why} - will retry on next reconciliation")
            self._set_status(resource, available=False, why=why)
            return AGAIN_SECONDS
        manager = self.own(kinds.DEPLOYMENT, MANAGER)
        self.settle(resource, lambda: self._made(resource, folder), missing=manager is None)
        available = manager is not None and pods.condition(manager, "Available")
        self._set_status(resource, available=available, why="")
        return None

    def _uncertified(self, resource: Object) -> str | None:
        """Return why the webhooks have no certificate yet, having asked for one; None when they have it."""
        found = self.api.find(kinds.CERTIFICATE, CERTIFICATE, self.namespace)
        if found is None:
            self.make(certificates(self.namespace), resource)
        elif pods.condition(found, "Ready"):
            return None
        said = ((found or {}).get("status") or {}).get("conditions") or []
        words = next((entry["message"] for entry in said if entry["type"] == "Ready"), "it has no conditions yet")
        return f"certificate {self.namespace}/{CERTIFICATE} is not ready: {words}"

    def _remove(self) -> None:
        """Let no job be held any more, and stop the manager."""
        if self.own(kinds.DEPLOYMENT, MANAGER) is not None:
            for kind in job_manifests.WEBHOOKS.values():
                self.api.delete(kind, PREFIX + job_manifests.CONFIGURATIONS[kind.kind])
            self.api.delete(kinds.DEPLOYMENT, MANAGER, self.namespace)
        self.installed = None

    def _made(self, resource: Object, folder: Path) -> grants.Grant:
        """Make Kueue's kinds, which stay when the object goes; return the rest, which goes with it.

        The webhooks may not outlive the manager's maker: jobs would be held, and nothing would admit them.
        """
        port = self.runtime.settings.ports["kueue"]
        for definition in definitions(folder, self.namespace, port):
            self.api.apply(kinds.CUSTOM_RESOURCE_DEFINITION, definition)
        return operands(resource, folder, self.namespace, port)

    def _definition(self, name: str) -> Object | None:
        return self.api.find(kinds.CUSTOM_RESOURCE_DEFINITION, name)

    def _served(self, framework: kueue_settings.Framework) -> bool:
        if framework.built_in:
            return True
        definition = self._definition(framework.definition)
        versions = definition["spec"]["versions"] if definition else []
        return any(version["name"] == framework.version and version["served"] for version in versions)

    def _set_status(self, resource: Object, *, available: bool, why: str) -> None:
        reason = "AsExpected" if available else "Progressing"
        conditions = {
            "Available": (str(available), reason, why),
            "Degraded": ("False", "AsExpected", ""),
            "Progressing": (str(not available), reason, why),
        }
        status = {"conditions": stated(resource, conditions), "readyReplicas": int(available)}
        self.api.set_status(kinds.KUEUE, resource, status)


def definitions(folder: Path, namespace: str, port: int) -> list[Object]:
    """Return Kueue's kinds, whose versions its manager converts."""
    client = {"service": {**_service(namespace, port), "path": "/convert"}}
    return [
        job_manifests.converted(definition, client)
        if definition["spec"]["names"]["plural"] in CONVERTED
        else definition
        for definition in job_manifests.definitions(folder)
    ]


def certificates(namespace: str) -> grants.Grant:
    """Return the issuer and the certificate of the webhooks; those of metrics and visibility serve nothing here."""
    name = f"{WEBHOOK_SERVICE}.{namespace}.svc"
    spec = {
        "dnsNames": [name, f"{name}.cluster.local"],
        "issuerRef": {"kind": kinds.ISSUER.kind, "name": ISSUER},
        "secretName": ISSUED,
    }
    return [
        (kinds.ISSUER, manifest(kinds.ISSUER, ISSUER, namespace, spec={"selfSigned": {}})),
        (kinds.CERTIFICATE, manifest(kinds.CERTIFICATE, CERTIFICATE, namespace, spec=spec)),
    ]


def operands(resource: Object, folder: Path, namespace: str, port: int) -> grants.Grant:
    """Return the manager with its account, rights, configuration and webhooks."""
    configuration = kueue_settings.configuration(resource, namespace, WEBHOOK_SERVICE, SECRET)
    text = json.dumps(configuration)
    chosen = kueue_settings.frameworks(resource)
    role = manifest(kinds.CLUSTER_ROLE, MANAGER, rules=job_manifests.rules(folder, PREFIX))
    secrets = (Rule(("",), (kinds.SECRET.plural,), (*READ, "update")),)
    # The API server reaches it by the name of a service, as on a real cluster, and so on loopback.
    service = {"type": "ExternalName", "externalName": LOOPBACK}
    return [
        *grants.account(namespace, MANAGER, secrets),
        (kinds.CLUSTER_ROLE, role),
        grants.cluster_wide(MANAGER, namespace, MANAGER, ())[1],
        (kinds.CONFIG_MAP, manifest(kinds.CONFIG_MAP, CONFIG, namespace, data={CONFIG_FILE: text})),
        (kinds.SECRET, manifest(kinds.SECRET, SECRET, namespace)),
        (SERVICE, manifest(SERVICE, WEBHOOK_SERVICE, namespace, spec=service)),
        _manager(namespace, text),
        *webhooks(folder, namespace, port, chosen),
    ]


def webhooks(folder: Path, namespace: str, port: int, chosen: Iterable[kueue_settings.Framework]) -> grants.Grant:
    """Return Kueue's webhooks for its own kinds, and for jobs of the chosen kinds where it manages namespaces."""
    jobs = {(framework.group, framework.plural) for framework in chosen}

    def fitted(webhook: Object) -> Object | None:
        resources = job_manifests.resources(webhook)
        own = {group for group, _ in resources} == {GROUP}
        if not own and not resources <= jobs:
            return None
        client = {"service": {**_service(namespace, port), "path": job_manifests.path(webhook)}}
        selected = {} if own else {"namespaceSelector": kueue_settings.SELECTOR}
        return {**webhook, "clientConfig": client, **selected}

    return job_manifests.webhooks(folder, PREFIX, fitted)


def _service(namespace: str, port: int) -> Object:
    return {"name": WEBHOOK_SERVICE, "namespace": namespace, "port": port}


def _manager(namespace: str, configuration: str) -> tuple[kinds.Kind, Object]:
    container = {
        "name": "manager",
        "image": MANAGER_IMAGE,
        "command": ["/manager"],
        "args": [f"--config=/{CONFIG_FILE}"],
        "volumeMounts": [{"name": "config", "mountPath": f"/{CONFIG_FILE}", "subPath": CONFIG_FILE}],
    }
    volumes = [{"name": "config", "configMap": {"name": CONFIG}}]
    pod = {"serviceAccountName": MANAGER, "containers": [container], "volumes": volumes}
    kind, body = deployment(namespace, MANAGER, pod, BY)
    # Another configuration is another pod, and not beside this one: there is one port.
    digest = hashlib.sha256(configuration.encode()).hexdigest()[:16]
    body["spec"]["template"]["metadata"]["annotations"] = {**simulated_by(BY), "kueue.openshift.io/config": digest}
    body["spec"]["strategy"] = {"type": "Recreate"}
    return kind, body


class KueueManager(Controller):
    """Runs `kueue` with what its ConfigMap says."""

    tool = "kueue"

    @property
    def port(self) -> int:
        """Where it serves webhooks."""
        return self.runtime.settings.ports["kueue"]

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments, with a configuration that listens on loopback alone."""
        self.log_line(f"real: Kueue {KUEUE} on a simulated cluster, in place of the image {MANAGER_IMAGE}")
        mounted = self.runtime.config_maps.get(CONFIG, self.namespace)
        document = ((mounted or {}).get("data") or {}).get(CONFIG_FILE, "{}")
        certificates = self.folder / "certificates"
        whole = kueue_settings.listening(json.loads(document), LOOPBACK, self.port, str(certificates))
        file = self.folder / "config.json"
        write_atomically(file, json.dumps(whole))
        return ["-kubeconfig", kubeconfig, "-config", file, "-feature-gates", GATES]

    def accompany(self) -> None:
        """Mount the certificate that the manager makes, as a kubelet does with a Secret."""
        folder = self.folder / "certificates"
        while not self.stopped.is_set():
            secret = self.api.get(kinds.SECRET, SECRET, self.namespace).get("data") or {}
            if "tls.crt" in secret:
                for name in ("tls.key", "tls.crt"):
                    write_atomically(folder / name, base64.b64decode(secret[name]))
                return
            self.stopped.wait(MOUNT_SECONDS)

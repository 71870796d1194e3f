"""Red Hat's JobSet operator; the controller that it starts is the real one."""

import json
from pathlib import Path

from core.apis import kinds, names
from core.apis.operators import JOB_SET_OPERATOR, OPERATORS
from core.files import write_atomically
from toolkit.engine.tools.versions import JOBSET
from toolkit.simulator import pods
from toolkit.simulator.access.rbac import Rule
from toolkit.simulator.actors import grants, images, job_manifests
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.actors.package import COMMON, Bundle, Definition, Package, exactly, operates, structure
from toolkit.simulator.actors.podactor import HERE, Operator
from toolkit.simulator.manifests import deployment, manifest
from toolkit.simulator.processes.ports import LOOPBACK

NAME = "cluster"
BY = "JobSet's operator"
PREFIX = "jobset-"
MANAGER = "jobset-controller-manager"
MANAGER_IMAGE = "registry.redhat.io/job-set/jobset-rhel9:v1.0.0"
AGAIN_SECONDS = 1.0
NO_TOOL = "the simulated cluster was started without the jobset tool"
OF_JOB_SET = {"matchExpressions": [{"key": names.JOBSET_NAME, "operator": "Exists"}]}
"""Pods that the webhooks look at: config/components/webhook/patches of JobSet."""
OPERATOR_RULES = (
    *job_manifests.MAKING,
    Rule((kinds.ROLE.group,), ("clusterroles",), ("escalate", "bind")),
)


class JobSetOperator(Operator):
    """For the JobSetOperator `cluster`: definition, webhooks and controller, once cert-manager is there."""

    watched = ((JOB_SET_OPERATOR, None), (kinds.DEPLOYMENT, HERE))

    def reconcile(self) -> float | None:
        """Keep what is made for it; all of that belongs to it, and goes with it."""
        resource = self.caches[JOB_SET_OPERATOR].get(NAME)
        if resource is None or pods.deleting(resource) or resource["spec"].get("managementState") != "Managed":
            return None
        if self.api.find(kinds.CUSTOM_RESOURCE_DEFINITION, job_manifests.ISSUERS) is None:
            self.log_line("E please make sure that cert-manager is installed on your cluster")
            return AGAIN_SECONDS
        folder = self.runtime.settings.tools.get("jobset-manifests")
        if folder is None:
            self._set_status(resource, available=False, why=NO_TOOL)
            return None
        manager = self.own(kinds.DEPLOYMENT, MANAGER)
        port, ca = self.runtime.settings.ports["jobset"], self.runtime.server.ca
        self.settle(resource, lambda: operands(folder, self.namespace, port, ca), missing=manager is None)
        self._set_status(resource, available=manager is not None and pods.condition(manager, "Available"), why="")
        return None

    def _set_status(self, resource: Object, *, available: bool, why: str) -> None:
        condition = (str(available), "AsExpected" if available else "Progressing", why)
        status: Object = {
            "conditions": stated(resource, {"Available": condition}),
            "observedGeneration": resource["metadata"]["generation"],
        }
        self.api.set_status(JOB_SET_OPERATOR, resource, status)


class JobSetManager(Controller):
    """Runs `jobset`."""

    tool = "jobset"

    @property
    def port(self) -> int:
        """Where it serves webhooks."""
        return self.runtime.settings.ports["jobset"]

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments, with a configuration that listens on loopback alone."""
        self.log_line(f"real: JobSet {JOBSET} on a simulated cluster, in place of the image {MANAGER_IMAGE}")
        file = self.folder / "config.json"
        write_atomically(file, json.dumps(configuration(self.port, self.certificates(self.folder))))
        return ["-kubeconfig", kubeconfig, "-config", file]


def operands(folder: Path, namespace: str, port: int, ca: str) -> grants.Grant:
    """Return the definition of JobSet, and the controller with its account, rights and webhooks."""

    def fitted(webhook: Object) -> Object:
        selected = {"objectSelector": OF_JOB_SET} if ("", "pods") in job_manifests.resources(webhook) else {}
        return job_manifests.serving_loopback(webhook, port, ca) | selected

    container = {"name": "manager", "image": MANAGER_IMAGE, "command": ["/manager"]}
    kind, body = deployment(namespace, MANAGER, {"serviceAccountName": MANAGER, "containers": [container]}, BY)
    body["spec"]["strategy"] = {"type": "Recreate"}  # there is one port
    role = manifest(kinds.CLUSTER_ROLE, MANAGER, rules=job_manifests.rules(folder, PREFIX))
    return [
        *((kinds.CUSTOM_RESOURCE_DEFINITION, definition) for definition in job_manifests.definitions(folder)),
        grants.service_account(namespace, MANAGER),
        (kinds.CLUSTER_ROLE, role),
        grants.cluster_wide(MANAGER, namespace, MANAGER, ())[1],
        (kind, body),
        *job_manifests.webhooks(folder, PREFIX, fitted),
    ]


def configuration(port: int, certificates: Path) -> Object:
    """Return the controller's configuration: one process, which has its certificate of the cluster."""
    return {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": LOOPBACK, "port": port, "certDir": str(certificates)},
    }


_LEVEL: Object = {"type": "string", "enum": ["", "Normal", "Debug", "Trace", "TraceAll"], "default": "Normal"}
_OVERRIDES: Object = structure() | {"nullable": True}
_SPEC = exactly(
    {
        "managementState": {"type": "string", "pattern": "^(Managed|Unmanaged|Force|Removed)$"},
        "logLevel": _LEVEL,
        "operatorLogLevel": _LEVEL,
        "observedConfig": _OVERRIDES,
        "unsupportedConfigOverrides": _OVERRIDES,
    }
)


def _bundle(version: str) -> Bundle:
    return Bundle(
        versions=(f"jobset-operator.v{version}",),
        definitions=(Definition(JOB_SET_OPERATOR, _SPEC),),
        account="jobset-operator",
        rules=(*COMMON, *operates(JOB_SET_OPERATOR), *OPERATOR_RULES),
        image=f"registry.redhat.io/job-set/jobset-rhel9-operator:v{version}",
        modes=frozenset({"OwnNamespace", "SingleNamespace"}),
    )


PACKAGES = (
    Package(
        name=OPERATORS["jobset"].package,
        title="Job Set Operator",
        sources=("redhat-operators",),
        channels={"stable-v1.0": _bundle("1.0.0"), "tech-preview-v0.1": _bundle("0.1.0")},
    ),
)
ACTORS = (
    (images.JOBSET_OPERATORS, "", JobSetOperator),
    (images.JOBSET_MANAGERS, "/manager", JobSetManager),
)

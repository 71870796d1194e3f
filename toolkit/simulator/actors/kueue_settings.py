"""What Red Hat's operator makes of a Kueue object: the kinds of jobs, and the manager's configuration. Pure functions.

Names of frameworks: openshift/kueue-operator; the configuration: sigs.k8s.io/kueue, apis/config/v1beta2.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.apis.names import KUEUE_MANAGED
from toolkit.simulator.actors.api import Object

SELECTOR = {"matchLabels": {KUEUE_MANAGED: "true"}}
"""Namespaces that it manages."""
READY_TIMEOUT = "5m"
_REQUEUING = {
    "retryLimit": "backoffLimitCount",
    "backoffBaseSeconds": "backoffBaseSeconds",
    "backoffMaxSeconds": "backoffMaxSeconds",
}
"""Fields of the operator's requeuing strategy -> Kueue's."""


@dataclass(frozen=True)
class Framework:
    """One kind of job: Kueue's own name for it, its group, version and plural."""

    integration: str
    group: str
    version: str
    plural: str
    built_in: bool = False
    """Whether the API server itself serves it."""

    @property
    def definition(self) -> str:
        """Name of its CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"


FRAMEWORKS: Mapping[str, Framework] = {
    "BatchJob": Framework("batch/job", "batch", "v1", "jobs", built_in=True),
    "MPIJob": Framework("kubeflow.org/mpijob", "kubeflow.org", "v2beta1", "mpijobs"),
    "PyTorchJob": Framework("kubeflow.org/pytorchjob", "kubeflow.org", "v1", "pytorchjobs"),
    "JobSet": Framework("jobset.x-k8s.io/jobset", "jobset.x-k8s.io", "v1alpha2", "jobsets"),
    "TrainJob": Framework("trainer.kubeflow.org/trainjob", "trainer.kubeflow.org", "v1alpha1", "trainjobs"),
    "Pod": Framework("pod", "", "v1", "pods", built_in=True),
    "Deployment": Framework("deployment", "apps", "v1", "deployments", built_in=True),
    "StatefulSet": Framework("statefulset", "apps", "v1", "statefulsets", built_in=True),
}
"""By the names that the Kueue object has for them."""


def frameworks(resource: Object) -> list[Framework]:
    """Return the kinds of jobs that a Kueue object manages."""
    named = (_config(resource).get("integrations") or {}).get("frameworks") or []
    return [FRAMEWORKS[name] for name in named if name in FRAMEWORKS]


def configuration(resource: Object, namespace: str, service: str, secret: str) -> Object:
    """Return the manager's configuration, but for where it listens."""
    config = _config(resource)
    gang = config.get("gangScheduling") or {}
    policy = (config.get("workloadManagement") or {}).get("labelPolicy") or "QueueName"
    document: Object = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": namespace,
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 300, "burst": 500},
        "integrations": {"frameworks": [framework.integration for framework in frameworks(resource)]},
        "manageJobsWithoutQueueName": policy == "None",
        "managedJobsNamespaceSelector": SELECTOR,
        "internalCertManagement": {"enable": True, "webhookServiceName": service, "webhookSecretName": secret},
    }
    if mappings := (config.get("resources") or {}).get("deviceClassMappings"):
        document["resources"] = {"deviceClassMappings": mappings}
    if gang.get("policy") == "ByWorkload":
        document["waitForPodsReady"] = _pods_ready(gang.get("byWorkload") or {})
    return document


def _pods_ready(declared: Object) -> Object:
    """Return `waitForPodsReady` as version 1.5 makes it (pkg/configmap/configmap.go), without times as 1.4."""
    seconds, recovery = declared.get("timeoutSeconds"), declared.get("recoveryTimeoutSeconds")
    requeuing = declared.get("requeuingStrategy") or {}
    strategy = {kueue: requeuing[name] for name, kueue in _REQUEUING.items() if name in requeuing}
    return {
        "timeout": f"{seconds}s" if seconds else READY_TIMEOUT,
        "blockAdmission": declared.get("admission") == "Sequential",
        **({} if recovery is None else {"recoveryTimeout": f"{recovery}s"}),
        **({"requeuingStrategy": strategy} if strategy else {}),
    }


def listening(configuration: Object, host: str, port: int, certificates: str) -> Object:
    """Return a configuration by which the webhooks are served there, and nothing else is."""
    return {
        **configuration,
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": host, "port": port, "certDir": certificates},
    }


def _config(resource: Object) -> Object:
    return (resource.get("spec") or {}).get("config") or {}

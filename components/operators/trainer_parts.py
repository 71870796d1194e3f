"""What Kubeflow Trainer's controller is made of: schemas of its kinds, rights, webhooks, configuration.

Rights are those of upstream's ClusterRole (kubeflow/trainer v2.2.1, manifests/base/rbac) without what certificates of
its own and other schedulers need; webhooks are those of manifests/base/webhook.
"""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from components.base.rights import Rule
from components.operators.mpi_operator_generations import OPEN, Schema
from core.apis.kinds import CLUSTER_TRAINING_RUNTIME, TRAIN_JOB, TRAINING_RUNTIME, Kind

_GROUP = TRAIN_JOB.group
KINDS = (CLUSTER_TRAINING_RUNTIME, TRAINING_RUNTIME, TRAIN_JOB)
RULES: tuple[Rule, ...] = (
    ("", ("configmaps", "secrets"), ("create", "get", "list", "patch", "update", "watch")),
    ("", ("limitranges",), ("get", "list", "watch")),
    ("", ("events",), ("create", "patch")),
    ("events.k8s.io", ("events",), ("create", "patch")),
    ("jobset.x-k8s.io", ("jobsets",), ("create", "delete", "get", "list", "patch", "update", "watch")),
    ("node.k8s.io", ("runtimeclasses",), ("get", "list", "watch")),
    (_GROUP, tuple(kind.plural for kind in KINDS), ("get", "list", "patch", "update", "watch")),
    # On OpenShift only accounts that may set an owner's finalizers may block its deletion.
    (_GROUP, tuple(f"{kind.plural}/finalizers" for kind in KINDS), ("get", "patch", "update")),
    (_GROUP, (f"{TRAIN_JOB.plural}/status",), ("get", "patch", "update")),
)
ELECTION: tuple[Rule, ...] = (("coordination.k8s.io", ("leases",), ("create", "get", "list", "update")),)
WEBHOOK_PORT, HEALTH_PORT = 9443, 8081
CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs"  # noqa: S108 - where the controller reads them
"""Folder of tls.crt and tls.key, which no setting moves."""
CONFIGURATION: Mapping[str, Any] = {
    "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
    "kind": "Configuration",
    "health": {"healthProbeBindAddress": f":{HEALTH_PORT}"},
    "metrics": {"bindAddress": "0"},
    "webhook": {"port": WEBHOOK_PORT},
    # The controller has no defaults of its own for an election, and ends at its start without these.
    "leaderElection": {
        "leaderElect": True,
        "resourceName": "trainer.kubeflow.org",
        "resourceLock": "leases",
        "leaseDuration": "15s",
        "renewDeadline": "10s",
        "retryPeriod": "2s",
    },
    # The certificates are OpenShift's.
    "certManagement": {"enable": False},
}
MUTATING, VALIDATING = "defaulter.trainer.kubeflow.org", "validator.trainer.kubeflow.org"
"""Names of the webhook configurations."""
_REPLICATED: Schema = {
    "type": "array",
    "items": {
        **OPEN,
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "replicas": {"type": "integer", "format": "int32", "default": 1},
            "groupName": {"type": "string", "default": "default"},
        },
    },
}
_MPI: Schema = {
    **OPEN,
    "properties": {
        "numProcPerNode": {"type": "integer", "format": "int32", "default": 1},
        "mpiImplementation": {"type": "string", "default": "OpenMPI"},
        "sshAuthMountPath": {"type": "string", "default": "/root/.ssh"},
        "runLauncherAsNode": {"type": "boolean", "default": False},
    },
}


def hooks() -> dict[str, tuple[tuple[str, Kind], ...]]:
    """Return the webhooks of each configuration: path at the controller, and kind."""
    path = f"{_GROUP.replace('.', '-')}-{TRAIN_JOB.version}"
    return {
        MUTATING: ((f"/mutate-{path}-{TRAIN_JOB.kind.lower()}", TRAIN_JOB),),
        VALIDATING: tuple((f"/validate-{path}-{kind.kind.lower()}", kind) for kind in KINDS),
    }


def schema(kind: Kind) -> Any:
    """Return the OpenAPI schema of a kind: upstream's defaults, and what names must be; pods may hold anything."""
    return _train_job() if kind is TRAIN_JOB else _runtime()


def _train_job() -> Schema:
    reference: Schema = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "apiGroup": {"type": "string", "default": _GROUP},
            "kind": {"type": "string", "default": CLUSTER_TRAINING_RUNTIME.kind},
        },
    }
    spec = {
        **OPEN,
        "required": ["runtimeRef"],
        "properties": {
            "runtimeRef": reference,
            "suspend": {"type": "boolean", "default": False},
            "managedBy": {"type": "string", "default": "trainer.kubeflow.org/trainjob-controller"},
        },
    }
    name = "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= 63"
    message = "metadata.name must be a DNS-1035 label of at most 63 characters"
    return {
        "type": "object",
        "required": ["spec"],
        "properties": {"spec": spec, "status": OPEN},
        "x-kubernetes-validations": [{"rule": name, "message": message}],
    }


def _runtime() -> Schema:
    jobs: Schema = {"type": "object", "properties": {"spec": {**OPEN, "properties": {"replicatedJobs": _REPLICATED}}}}
    spec = {
        **OPEN,
        "required": ["template"],
        "properties": {
            "template": {**OPEN, **jobs},
            "mlPolicy": {**OPEN, "properties": {"mpi": _MPI}},
        },
    }
    return {"type": "object", "required": ["spec"], "properties": {"spec": spec}}


def webhooks(
    name: str,
    metadata: "k8s.meta.v1.ObjectMetaArgs",
    of: str,
    service: "k8s.admissionregistration.v1.ServiceReferenceArgs",
    opts: pulumi.ResourceOptions,
) -> pulumi.CustomResource:
    """Declare one of the two configurations, `of` its name; the API server calls `service`."""
    api = k8s.admissionregistration.v1
    configured = [_hook(of, path, kind, service) for path, kind in hooks()[of]]
    if of == MUTATING:
        return api.MutatingWebhookConfiguration(
            name, metadata=metadata, webhooks=[api.MutatingWebhookArgs(**hook) for hook in configured], opts=opts
        )
    return api.ValidatingWebhookConfiguration(
        name, metadata=metadata, webhooks=[api.ValidatingWebhookArgs(**hook) for hook in configured], opts=opts
    )


def _hook(
    of: str, path: str, kind: Kind, service: "k8s.admissionregistration.v1.ServiceReferenceArgs"
) -> Mapping[str, Any]:
    api = k8s.admissionregistration.v1
    return {
        "name": f"{of.partition('.')[0]}.{kind.kind.lower()}.{TRAIN_JOB.group}",
        "admission_review_versions": ["v1"],
        "side_effects": "None",
        "failure_policy": "Fail",
        "client_config": api.WebhookClientConfigArgs(
            service=api.ServiceReferenceArgs(name=service.name, namespace=service.namespace, path=path)
        ),
        "rules": [
            api.RuleWithOperationsArgs(
                api_groups=[kind.group],
                api_versions=[kind.version],
                operations=["CREATE", "UPDATE"],
                resources=[kind.plural],
            )
        ],
    }

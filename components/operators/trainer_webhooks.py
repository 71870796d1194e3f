"""The webhooks of Kubeflow Trainer: what is wrong with a TrainJob or a runtime is refused when it is sent."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from components.operators import trainer_parts as parts
from core.apis.kinds import TRAIN_JOB, Kind


def webhooks(
    name: str,
    metadata: "k8s.meta.v1.ObjectMetaArgs",
    of: str,
    service: "k8s.admissionregistration.v1.ServiceReferenceArgs",
    opts: pulumi.ResourceOptions,
) -> pulumi.CustomResource:
    """Declare one of the two configurations, `of` its name; the API server calls `service`."""
    api = k8s.admissionregistration.v1
    hooks = [_hook(of, path, kind, service) for path, kind in parts.hooks()[of]]
    if of == parts.MUTATING:
        return api.MutatingWebhookConfiguration(
            name, metadata=metadata, webhooks=[api.MutatingWebhookArgs(**hook) for hook in hooks], opts=opts
        )
    return api.ValidatingWebhookConfiguration(
        name, metadata=metadata, webhooks=[api.ValidatingWebhookArgs(**hook) for hook in hooks], opts=opts
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

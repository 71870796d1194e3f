"""Kubeflow Trainer, v2.2 or later: its kinds, and the controller that makes JobSets of TrainJobs.

Certificates of its webhooks are OpenShift's own: one annotation gets a Service its pair, another gives the API server
the CA. The controller could make them itself, and would then need rights over all webhooks of the cluster.
"""

import hashlib
import json

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base import rights, waits
from components.base.component import Component, stateful
from components.base.model import DnsLabel, Image, Model, Seconds
from components.base.timeouts import DEFAULTS
from components.operators import trainer_parts as parts
from components.operators.trainer_parts import webhooks
from core.apis import kinds, names
from core.apis.names import labels

CONTROLLER = "trainer-controller-manager"
"""Name of the deployment, its account, its Service and its roles."""
NAMESPACE = "kubeflow-system"
_CERTIFICATES = "trainer-webhook-certificates"
_HAS_CA = waits.exists(".webhooks[0].clientConfig.caBundle")
_CONFIGURATION = "controller_manager_config.yaml"


class TrainerImages(Model):
    """Image of the controller, as settings and the component have it."""

    image: Image = Field(
        description="controller image, e.g. ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1; Kueue 0.17 "
        "and later needs 2.2"
    )


class TrainerArgs(TrainerImages):
    """Where the controller runs."""

    namespace: DnsLabel = Field(default=NAMESPACE, description="where it runs; the component creates it")
    ready_timeout: Seconds = Field(default=DEFAULTS.operator, description="seconds until its pod is ready")
    protect: bool = Field(default=False, description="refuse to delete the namespace and the kinds")


class Trainer(Component):
    """CustomResourceDefinitions, Namespace, account and roles, configuration, Service, Deployment and webhooks.

    Outputs: `ready`, the API version of its kinds, known when the controller is available and its webhooks are called.
    """

    ready: pulumi.Output[str]

    def __init__(self, name: str, args: TrainerArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainer:Trainer", name, args, opts)
        self._labels = labels(CONTROLLER, "trainer")
        definitions = [self._definition(name, kind, protect=args.protect) for kind in parts.KINDS]
        namespace = k8s.core.v1.Namespace(
            f"{name}-namespace", metadata=self._meta(args.namespace), opts=self.child(**stateful(protect=args.protect))
        )
        inside = namespace.metadata.name
        account = k8s.core.v1.ServiceAccount(
            f"{name}-account", metadata=self._meta(CONTROLLER, inside), opts=self.child()
        )
        meta = self._meta(CONTROLLER, inside)
        bindings = [
            rights.grant_everywhere(self, name, self._meta(CONTROLLER), rights.rules(parts.RULES), account),
            rights.grant(self, f"{name}-own", meta, rights.rules(parts.ELECTION), account),
        ]
        text = json.dumps(parts.CONFIGURATION, indent=2)
        configuration = k8s.core.v1.ConfigMap(
            f"{name}-configuration",
            metadata=self._meta(CONTROLLER, inside),
            data={_CONFIGURATION: text},
            opts=self.child(),
        )
        service = k8s.core.v1.Service(
            f"{name}-service",
            # Its endpoints come with the deployment, which waits for its certificates.
            metadata=self._meta(
                CONTROLLER,
                inside,
                {names.SERVING_CERTIFICATES: _CERTIFICATES, names.SKIP_AWAIT: "true"},
            ),
            spec=k8s.core.v1.ServiceSpecArgs(
                selector={"app": CONTROLLER},
                ports=[k8s.core.v1.ServicePortArgs(name="webhook", port=443, target_port=parts.WEBHOOK_PORT)],
            ),
            opts=self.child(),
        )
        deployment = k8s.apps.v1.Deployment(
            f"{name}-deployment",
            metadata=self._meta(CONTROLLER, inside, waits.at_most(args.ready_timeout)),
            spec=_deployment(args, hashlib.sha256(text.encode()).hexdigest(), self._labels),
            opts=self.child(*definitions, *bindings, configuration, service),
        )
        called = [
            webhooks(
                f"{name}-{purpose}",
                # Without the CA no call succeeds, so what the webhooks are for waits until it is there.
                self._meta(
                    of, annotations={names.INJECT_CA: "true", **waits.wait_for([_HAS_CA], timeout=args.ready_timeout)}
                ),
                of,
                k8s.admissionregistration.v1.ServiceReferenceArgs(name=CONTROLLER, namespace=args.namespace),
                self.child(deployment),
            )
            for purpose, of in (("defaulter", parts.MUTATING), ("validator", parts.VALIDATING))
        ]
        ready = pulumi.Output.all(deployment.id, *(webhook.id for webhook in called))
        self.outputs(ready=ready.apply(lambda _: kinds.TRAIN_JOB.api_version))

    def _meta(
        self, name: str, namespace: pulumi.Input[str] | None = None, annotations: dict[str, str] | None = None
    ) -> "k8s.meta.v1.ObjectMetaArgs":
        return k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=self._labels, annotations=annotations)

    def _definition(
        self, name: str, kind: kinds.Kind, *, protect: bool
    ) -> "k8s.apiextensions.v1.CustomResourceDefinition":
        api = k8s.apiextensions.v1
        status = api.CustomResourceSubresourcesArgs(status={}) if kind is kinds.TRAIN_JOB else None
        return api.CustomResourceDefinition(
            f"{name}-{kind.plural}",
            metadata=self._meta(f"{kind.plural}.{kind.group}"),
            spec=api.CustomResourceDefinitionSpecArgs(
                group=kind.group,
                scope=kind.scope,
                names=api.CustomResourceDefinitionNamesArgs(
                    kind=kind.kind, plural=kind.plural, singular=kind.kind.lower()
                ),
                versions=[
                    api.CustomResourceDefinitionVersionArgs(
                        name=kind.version,
                        served=True,
                        storage=True,
                        schema=api.CustomResourceValidationArgs(open_apiv3_schema=parts.schema(kind)),
                        subresources=status,
                    )
                ],
            ),
            opts=self.child(**stateful(protect=protect)),
        )


def _deployment(args: TrainerArgs, digest: str, own_labels: dict[str, str]) -> "k8s.apps.v1.DeploymentSpecArgs":
    core = k8s.core.v1
    selector = {"app": CONTROLLER}
    file = f"/etc/trainer/{_CONFIGURATION}"
    return k8s.apps.v1.DeploymentSpecArgs(
        replicas=1,
        selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector),
        template=core.PodTemplateSpecArgs(
            metadata=k8s.meta.v1.ObjectMetaArgs(
                labels={**selector, **own_labels}, annotations={names.CONFIG_DIGEST: digest}
            ),
            spec=core.PodSpecArgs(
                service_account_name=CONTROLLER,
                security_context=core.PodSecurityContextArgs(
                    run_as_non_root=True, seccomp_profile=core.SeccompProfileArgs(type="RuntimeDefault")
                ),
                containers=[
                    core.ContainerArgs(
                        name="manager",
                        image=args.image,
                        image_pull_policy="IfNotPresent",
                        args=[f"--config={file}"],
                        ports=[core.ContainerPortArgs(name="webhook", container_port=parts.WEBHOOK_PORT)],
                        readiness_probe=core.ProbeArgs(
                            http_get=core.HTTPGetActionArgs(path="/readyz", port=parts.HEALTH_PORT)
                        ),
                        security_context=core.SecurityContextArgs(
                            allow_privilege_escalation=False,
                            read_only_root_filesystem=True,
                            capabilities=core.CapabilitiesArgs(drop=["ALL"]),
                        ),
                        volume_mounts=[
                            core.VolumeMountArgs(name="configuration", mount_path="/etc/trainer", read_only=True),
                            core.VolumeMountArgs(name="certificates", mount_path=parts.CERTIFICATES, read_only=True),
                        ],
                    )
                ],
                volumes=[
                    core.VolumeArgs(name="configuration", config_map=core.ConfigMapVolumeSourceArgs(name=CONTROLLER)),
                    core.VolumeArgs(name="certificates", secret=core.SecretVolumeSourceArgs(secret_name=_CERTIFICATES)),
                ],
            ),
        ),
    )

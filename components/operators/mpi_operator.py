"""The MPI operator and its kind: of 2020 (v0.2.3, MPIJob v1alpha2), or of today (v0.8.2, v2beta1)."""

from typing import Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, model_validator

from components.base import rights, waits
from components.base.component import Component, stateful
from components.base.model import DnsLabel, Image, Installable, Seconds
from components.base.timeouts import DEFAULTS
from components.operators.mpi_operator_generations import GENERATIONS, Generation, schema_former
from core.apis.kinds import Kind
from core.apis.names import labels

OPERATOR = "mpi-operator"
"""Name of the deployment, the account and the roles."""
QPS, BURST = 50, 100
"""Requests a second of v0.8.2. With its own 5 a job of 16 workers held its GPUs minutes after its end (seen on the
simulated cluster): requests wait for their turn, and after each event in the meantime the job's queue waits longer."""


class MpiOperatorImages(Installable):
    """Images of the MPI operator, shared by settings and component."""

    image: Image = Field(description="operator image, of a version that serves the release's MPIJob")
    kubectl_delivery_image: Image | None = Field(
        default=None,
        description="init container that provides kubectl to a v1alpha2 launcher; other versions have none",
    )


class MpiOperatorArgs(MpiOperatorImages):
    """Which generation of the kind, and which images."""

    kind: Kind = Field(description="API generation, from the release; one cluster can serve only one")
    namespace: DnsLabel = Field(default=OPERATOR, description="where the operator runs; the component creates it")
    ready_timeout: Seconds = Field(default=DEFAULTS.operator, description="seconds until its pod is ready")
    protect: bool = Field(default=False, description="refuse to delete the namespace and the kind")

    @model_validator(mode="after")
    def _generation(self) -> Self:
        generation = GENERATIONS.get(self.kind.version)
        if generation is None:
            raise ValueError(
                f"kind: no operator of MPIJob {self.kind.version} is known; known: {', '.join(GENERATIONS)}"
            )
        if generation.delivers_kubectl and self.kubectl_delivery_image is None:
            raise ValueError(f"kubectl_delivery_image: launchers of {self.kind.version} need it; name the image")
        return self


class MpiOperator(Component):
    """CustomResourceDefinition, Namespace, ServiceAccount, ClusterRole and Binding, Deployment; today's also a Role.

    Outputs: `namespace`; `ready`, the kind's API version, known when the deployment is available.
    """

    namespace: pulumi.Output[str]
    ready: pulumi.Output[str]

    def __init__(self, name: str, args: MpiOperatorArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("mpi:MpiOperator", name, args, opts)
        self._labels = labels(OPERATOR, "mpi")
        kind = args.kind
        if args.installed:
            outputs = {"namespace": args.namespace, "ready": kind.api_version}
            self.outputs(**{key: pulumi.Output.from_input(text) for key, text in outputs.items()})
            return
        generation = GENERATIONS[kind.version]
        apiextensions = k8s.apiextensions.v1
        definition = apiextensions.CustomResourceDefinition(
            f"{name}-definition",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=f"{kind.plural}.{kind.group}", labels=self._labels),
            spec=apiextensions.CustomResourceDefinitionSpecArgs(
                group=kind.group,
                scope=kind.scope,
                names=apiextensions.CustomResourceDefinitionNamesArgs(
                    kind=kind.kind, plural=kind.plural, singular=kind.kind.lower(), short_names=["mj", "mpij"]
                ),
                versions=_versions(kind.version, generation),
            ),
            opts=self.child(**stateful(protect=args.protect)),
        )
        namespace = k8s.core.v1.Namespace(
            f"{name}-namespace",
            metadata=self._meta(args.namespace),
            opts=self.child(**stateful(protect=args.protect)),
        )
        inside = namespace.metadata.name
        account = k8s.core.v1.ServiceAccount(
            f"{name}-account", metadata=self._meta(OPERATOR, inside), opts=self.child()
        )
        permissions = rights.rules(generation.rules)
        bindings: list[pulumi.Resource] = [
            rights.grant_everywhere(self, name, self._meta(OPERATOR), permissions, account)
        ]
        if generation.own_rules:
            own = rights.rules(generation.own_rules)
            bindings.append(rights.grant(self, f"{name}-own", self._meta(OPERATOR, inside), own, account))
        deployment = k8s.apps.v1.Deployment(
            f"{name}-deployment",
            metadata=self._meta(OPERATOR, inside, waits.at_most(args.ready_timeout)),
            spec=self._deployment(args),
            opts=self.child(definition, *bindings),
        )
        self.outputs(namespace=inside, ready=deployment.id.apply(lambda _: kind.api_version))

    def _meta(
        self, name: str, namespace: pulumi.Input[str] | None = None, annotations: dict[str, str] | None = None
    ) -> "k8s.meta.v1.ObjectMetaArgs":
        return k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=self._labels, annotations=annotations)

    def _deployment(self, args: MpiOperatorArgs) -> "k8s.apps.v1.DeploymentSpecArgs":
        core = k8s.core.v1
        selector = {"app": OPERATOR}
        return k8s.apps.v1.DeploymentSpecArgs(
            replicas=1,
            selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector),
            template=core.PodTemplateSpecArgs(
                metadata=k8s.meta.v1.ObjectMetaArgs(labels={**selector, **self._labels}),
                spec=core.PodSpecArgs(
                    service_account_name=OPERATOR,
                    security_context=core.PodSecurityContextArgs(
                        run_as_non_root=True, seccomp_profile=core.SeccompProfileArgs(type="RuntimeDefault")
                    )
                    if GENERATIONS[args.kind.version].confined
                    else None,
                    containers=[
                        core.ContainerArgs(
                            name=OPERATOR,
                            image=args.image,
                            image_pull_policy="IfNotPresent",
                            args=_arguments(args),
                            security_context=core.SecurityContextArgs(
                                allow_privilege_escalation=False,
                                capabilities=core.CapabilitiesArgs(drop=["ALL"]),
                            ),
                        )
                    ],
                ),
            ),
        )


def _versions(version: str, generation: Generation) -> "list[k8s.apiextensions.v1.CustomResourceDefinitionVersionArgs]":
    apiextensions = k8s.apiextensions.v1
    schemas = {version: generation.schema(), **{former: schema_former(former) for former in generation.former}}
    return [
        apiextensions.CustomResourceDefinitionVersionArgs(
            name=name,
            served=True,
            storage=name == version,
            deprecated=True if name in generation.former else None,
            schema=apiextensions.CustomResourceValidationArgs(open_apiv3_schema=schema),
            subresources=apiextensions.CustomResourceSubresourcesArgs(status={}),
        )
        for name, schema in schemas.items()
    ]


def _arguments(args: MpiOperatorArgs) -> list[str]:
    if GENERATIONS[args.kind.version].delivers_kubectl and args.kubectl_delivery_image:
        return ["-alsologtostderr", "--kubectl-delivery-image", args.kubectl_delivery_image]
    return [
        "-alsologtostderr",
        "--lock-namespace",
        args.namespace,
        f"--kube-api-qps={QPS}",
        f"--kube-api-burst={BURST}",
    ]

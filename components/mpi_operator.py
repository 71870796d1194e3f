"""The MPI operator of 2020 (v0.2.3): kind MPIJob v1alpha2, whose launchers reach their workers by kubectl exec."""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from apis import kinds
from apis.kinds import Kind
from components.component import Component, stateful
from components.labels import labels
from components.model import DnsLabel, Image, Model

OPERATOR = "mpi-operator"
"""Name of the deployment, the account and the roles (R-3.4.4-1)."""


class MpiOperatorArgs(Model):
    """Which generation of the kind, and which images."""

    kind: Kind = Field(description="API generation, from the release; one cluster can serve only one")
    namespace: DnsLabel = OPERATOR
    image: Image
    kubectl_delivery_image: Image = Field(description="init container that gives the launcher its kubectl")
    protect: bool = Field(default=False, description="refuse to delete the namespace and the kind")


_RULES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("", ("configmaps", "serviceaccounts"), ("create", "list", "watch")),
    # The operator hands these two on to every launcher, so it must hold them itself.
    ("", ("pods",), ("get", "list", "watch")),
    ("", ("pods/exec",), ("create",)),
    ("", ("events",), ("create", "patch")),
    ("rbac.authorization.k8s.io", ("roles", "rolebindings"), ("create", "list", "watch")),
    ("apps", ("statefulsets",), ("create", "list", "update", "watch")),
    ("batch", ("jobs",), ("create", "list", "update", "watch")),
    ("kubeflow.org", ("mpijobs", "mpijobs/finalizers", "mpijobs/status"), ("get", "list", "watch", "update", "patch")),
)
"""What v0.2.3 does without leader election, gang scheduling and disruption budgets: group, resources, verbs."""


def schema() -> Any:
    """Return the OpenAPI schema of MPIJob v1alpha2: what upstream's v1beta1 definition checked, and no more (E-20)."""

    def replicas(**bounds: int) -> dict[str, Any]:
        return {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"replicas": {"type": "integer", **bounds}},
        }

    return {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "properties": {
                    "slotsPerWorker": {"type": "integer", "minimum": 1},
                    "mpiReplicaSpecs": {
                        "type": "object",
                        "properties": {"Launcher": replicas(minimum=1, maximum=1), "Worker": replicas(minimum=1)},
                    },
                },
            },
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }


class MpiOperator(Component):
    """CustomResourceDefinition, Namespace, ServiceAccount, ClusterRole and Binding, Deployment.

    Outputs: `namespace`; `ready`, the kind's API version, known when the deployment is available.
    """

    namespace: pulumi.Output[str]
    ready: pulumi.Output[str]

    def __init__(self, name: str, args: MpiOperatorArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("mpi:MpiOperator", name, args, opts)
        self._labels = labels(OPERATOR, "mpi")
        kind = args.kind
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
                versions=[
                    apiextensions.CustomResourceDefinitionVersionArgs(
                        name=kind.version,
                        served=True,
                        storage=True,
                        schema=apiextensions.CustomResourceValidationArgs(open_apiv3_schema=schema()),
                        subresources=apiextensions.CustomResourceSubresourcesArgs(status={}),
                    )
                ],
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
        role = k8s.rbac.v1.ClusterRole(
            f"{name}-role",
            metadata=self._meta(OPERATOR),
            rules=[
                k8s.rbac.v1.PolicyRuleArgs(api_groups=[group], resources=list(resources), verbs=list(verbs))
                for group, resources, verbs in _RULES
            ],
            opts=self.child(),
        )
        binding = k8s.rbac.v1.ClusterRoleBinding(
            f"{name}-binding",
            metadata=self._meta(OPERATOR),
            role_ref=k8s.rbac.v1.RoleRefArgs(
                api_group=kinds.CLUSTER_ROLE.group, kind=kinds.CLUSTER_ROLE.kind, name=role.metadata.name
            ),
            subjects=[k8s.rbac.v1.SubjectArgs(kind="ServiceAccount", name=account.metadata.name, namespace=inside)],
            opts=self.child(),
        )
        deployment = k8s.apps.v1.Deployment(
            f"{name}-deployment",
            metadata=self._meta(OPERATOR, inside),
            spec=self._deployment(args),
            opts=self.child(definition, binding),
        )
        self.outputs(namespace=inside, ready=deployment.id.apply(lambda _: kind.api_version))

    def _meta(self, name: str, namespace: pulumi.Input[str] | None = None) -> k8s.meta.v1.ObjectMetaArgs:
        return k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=self._labels)

    def _deployment(self, args: MpiOperatorArgs) -> k8s.apps.v1.DeploymentSpecArgs:
        core = k8s.core.v1
        selector = {"app": OPERATOR}
        return k8s.apps.v1.DeploymentSpecArgs(
            replicas=1,
            selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector),
            template=core.PodTemplateSpecArgs(
                metadata=k8s.meta.v1.ObjectMetaArgs(labels={**selector, **self._labels}),
                spec=core.PodSpecArgs(
                    service_account_name=OPERATOR,
                    containers=[
                        core.ContainerArgs(
                            name=OPERATOR,
                            image=args.image,
                            image_pull_policy="IfNotPresent",
                            args=["-alsologtostderr", "--kubectl-delivery-image", args.kubectl_delivery_image],
                            security_context=core.SecurityContextArgs(
                                allow_privilege_escalation=False,
                                capabilities=core.CapabilitiesArgs(drop=["ALL"]),
                            ),
                        )
                    ],
                ),
            ),
        )

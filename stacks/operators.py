"""The operator layer: node features and GPUs from OperatorHub, and the MPI operator."""

import pulumi

from components.mpi_operator import MpiOperator, MpiOperatorArgs
from components.node_feature_discovery import NodeFeatureDiscovery, NodeFeatureDiscoveryArgs
from components.olm_operator import OlmOperator, OlmOperatorArgs
from components.special_resource import SpecialResource, SpecialResourceArgs
from stacks.releases import RELEASES
from stacks.settings import Settings


def install(name: str, args: OlmOperatorArgs, settings: Settings, opts: pulumi.ResourceOptions) -> OlmOperator:
    """Subscribe to one operator, protected as the environment says."""
    return OlmOperator(name, args.model_copy(update={"protect": settings.protect}), opts=opts)


def after(component: pulumi.Resource, opts: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
    """Return `opts` for a custom resource whose kind exists only once the operator `component` is installed."""
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[component]))


def build(settings: Settings, opts: pulumi.ResourceOptions) -> list[pulumi.Output[str]]:
    """Declare NFD, the Special Resource Operator and the MPI operator; return the names of what they provide."""
    release = RELEASES[settings.release]
    operators = settings.operators
    nfd_operator = install("nfd-operator", operators.node_feature_discovery, settings, opts)
    nfd = NodeFeatureDiscovery(
        "node-features",
        NodeFeatureDiscoveryArgs(
            kind=release.node_feature_discovery,
            namespace=operators.node_feature_discovery.namespace,
            instance=release.node_feature_discovery_instance,
        ),
        opts=after(nfd_operator, opts),
    )
    gpu_operator = install("gpu-operator", operators.special_resource, settings, opts)
    gpus = SpecialResource(
        "gpus",
        SpecialResourceArgs(kind=release.special_resource, namespace=operators.special_resource.namespace),
        opts=after(gpu_operator, opts),
    )
    mpi = MpiOperator(
        "mpi-operator",
        MpiOperatorArgs(
            kind=release.mpi_job,
            image=settings.mpi_operator.image,
            kubectl_delivery_image=settings.mpi_operator.kubectl_delivery_image,
            protect=settings.protect,
        ),
        opts=opts,
    )
    return [nfd.instance, gpus.recipe, mpi.ready]

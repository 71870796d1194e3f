"""The operator layer: node features from OperatorHub, and the MPI operator."""

from typing import Any, NamedTuple

import pulumi

from components.mpi_operator import MpiOperator, MpiOperatorArgs
from components.node_feature_discovery import NodeFeatureDiscovery, NodeFeatureDiscoveryArgs
from components.olm_operator import OlmOperator, OlmOperatorArgs
from stacks.platform import Settings


class OfTenant(NamedTuple):
    """A name that is known when a part of a tenant stands: its own jobs wait for it, and those of others do not."""

    tenant: str
    part: pulumi.Output[Any]


def install(name: str, args: OlmOperatorArgs, settings: Settings, opts: pulumi.ResourceOptions) -> OlmOperator:
    """Subscribe to one operator, protected as the environment says."""
    return OlmOperator(name, args.model_copy(update={"protect": settings.protect}), opts=opts)


def after(opts: pulumi.ResourceOptions, *earlier: pulumi.Resource) -> pulumi.ResourceOptions:
    """Return `opts` for what can only be once `earlier` is: a custom resource whose operator brings its kind."""
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(earlier)))


def node_features(settings: Settings, opts: pulumi.ResourceOptions) -> list[NodeFeatureDiscovery]:
    """Declare node feature discovery where the environment has it."""
    operator, kind = settings.node_feature_discovery, settings.version.node_feature_discovery
    if operator is None or kind is None:
        return []
    installed = install("nfd-operator", operator, settings, opts)
    args = NodeFeatureDiscoveryArgs(
        kind=kind, namespace=operator.namespace, instance=settings.version.node_feature_discovery_instance
    )
    return [NodeFeatureDiscovery("node-features", args, opts=after(opts, installed))]


def mpi(settings: Settings, opts: pulumi.ResourceOptions) -> list[MpiOperator]:
    """Declare the MPI operator where the environment has it."""
    wanted, kind = settings.mpi_operator, settings.version.mpi_job
    if wanted is None or kind is None:
        return []
    args = MpiOperatorArgs(
        kind=kind,
        image=wanted.image,
        kubectl_delivery_image=wanted.kubectl_delivery_image,
        protect=settings.protect,
    )
    return [MpiOperator("mpi-operator", args, opts=opts)]

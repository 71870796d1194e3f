"""The operator layer: operators from OperatorHub, node features among them; the MPI operator, and the Trainer."""

from typing import Any, NamedTuple

import pulumi

from components.base.model import fields_of
from components.base.scheduling import bearing
from components.jobs.train_job import TrainingRuntime, TrainingRuntimeArgs
from components.nodes.node_feature_discovery import (
    ADAPTER_CLASSES,
    NodeFeatureDiscovery,
    NodeFeatureDiscoveryArgs,
    NodeFeatureWorker,
)
from components.operators.jobset_operator import JobSetOperator, JobSetOperatorArgs
from components.operators.mpi_operator import MpiOperator, MpiOperatorArgs, MpiOperatorImages
from components.operators.olm_operator import OlmOperator, OlmOperatorArgs, OlmSubscription
from components.operators.trainer import Trainer, TrainerArgs, TrainerImages
from core.apis.kinds import NODE_FEATURE_DISCOVERY_V1ALPHA1
from stacks.settings.operators import UpstreamTrainer, shares_namespace
from stacks.settings.platform import Settings


class OfTenant(NamedTuple):
    """A name that is known when a part of a tenant is ready; only the tenant's own jobs wait for it."""

    tenant: str
    part: pulumi.Output[Any]


class Added(NamedTuple):
    """What `operators` of the settings adds."""

    resources: list[pulumi.Resource]
    """Operators, and objects by which they start, that others come after."""
    ready: list[pulumi.Output[Any]]
    """Names that are known when jobs can use them."""


def install(
    name: str,
    subscription: OlmSubscription,
    settings: Settings,
    opts: pulumi.ResourceOptions,
    *,
    cluster_monitoring: bool = False,
    shared_namespace: bool = False,
) -> OlmOperator:
    """Subscribe to one operator, protected as the environment's objects are."""
    args = OlmOperatorArgs(
        **fields_of(OlmSubscription, subscription),
        cluster_monitoring=cluster_monitoring,
        install_timeout=settings.timeouts.operator,
        protect=settings.protect,
        shared_namespace=shared_namespace,
    )
    return OlmOperator(name, args, opts=opts)


def after(opts: pulumi.ResourceOptions, *earlier: pulumi.Resource) -> pulumi.ResourceOptions:
    """Return `opts` for what needs `earlier`: a custom resource whose operator defines its kind."""
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(earlier)))


def node_features(settings: Settings, opts: pulumi.ResourceOptions) -> list[NodeFeatureDiscovery]:
    """Declare node feature discovery where the environment has it."""
    operator, kind = settings.node_feature_discovery, settings.version.node_feature_discovery
    if operator is None or kind is None:
        return []
    installed = install("nfd-operator", operator, settings, opts)
    args = NodeFeatureDiscoveryArgs(
        installed=operator.installed,
        kind=kind,
        namespace=operator.namespace,
        instance=operator.instance or settings.version.node_feature_discovery_instance,
        worker=_node_feature_worker(settings),
        ready_timeout=settings.timeouts.operator,
    )
    return [NodeFeatureDiscovery("node-features", args, opts=after(opts, installed))]


def _node_feature_worker(settings: Settings) -> NodeFeatureWorker | None:
    """Return what workers label: what the operator's own do, and adapters in either mode; None for v1alpha1."""
    release = settings.version
    if release.node_feature_labels is None or release.node_feature_discovery == NODE_FEATURE_DISCOVERY_V1ALPHA1:
        return None
    classes = {*release.node_feature_labels.pci_classes, *ADAPTER_CLASSES.values()}
    # Workers tolerate every taint of another effect anyway.
    evicting = (taint for pool in settings.gpu_pools for taint in pool.taints if taint.effect == "NoExecute")
    return NodeFeatureWorker(pci_classes=tuple(sorted(classes)), tolerations=bearing(evicting))


def added(settings: Settings, opts: pulumi.ResourceOptions) -> Added:
    """Declare the operators that `operators` of the settings has; what has webhooks comes after cert-manager."""
    operators = Added([], [])
    if settings.operators.cert_manager:
        operators.resources.append(install("cert-manager", settings.operators.cert_manager, settings, opts))
    if settings.operators.jobset:
        installed = install("jobset-operator", settings.operators.jobset, settings, opts)
        args = JobSetOperatorArgs(
            installed=settings.operators.jobset.installed,
            ready_timeout=settings.timeouts.operator,
            protect=settings.protect,
        )
        jobset = JobSetOperator("jobset", args, opts=after(opts, installed, *operators.resources))
        operators.resources.append(jobset)
        operators.ready.append(jobset.instance)
    operators.resources.extend(_of_node_health(settings, opts))
    return operators


def _of_node_health(settings: Settings, opts: pulumi.ResourceOptions) -> list[pulumi.Resource]:
    """Declare the operators for lost nodes; the second comes after the first, whose namespace it may share."""
    first, second = settings.operators.node_health_check, settings.operators.self_node_remediation
    check = [install("node-health-check", first, settings, opts)] if first else []
    if second is None:
        return [*check]
    shared = first is not None and shares_namespace("self_node_remediation", settings.operators)
    remediation = install(
        "self-node-remediation", second, settings, after(opts, *check) if shared else opts, shared_namespace=shared
    )
    return [*check, remediation]


def mpi(settings: Settings, opts: pulumi.ResourceOptions) -> list[MpiOperator]:
    """Declare the MPI operator where the environment has it."""
    operator, kind = settings.mpi_operator, settings.version.mpi_job
    if operator is None or kind is None:
        return []
    args = MpiOperatorArgs(
        kind=kind,
        **fields_of(MpiOperatorImages, operator),
        ready_timeout=settings.timeouts.operator,
        protect=settings.protect,
    )
    return [MpiOperator("mpi-operator", args, opts=opts)]


def trainer(settings: Settings, added: Added, opts: pulumi.ResourceOptions) -> list[TrainingRuntime]:
    """Declare Kubeflow Trainer, where the stack installs it, and the runtime that TrainJobs name; after `added`."""
    if settings.trainer is None:
        return []
    installed: list[pulumi.Resource] = []
    if isinstance(settings.trainer, UpstreamTrainer):
        args = TrainerArgs(
            **fields_of(TrainerImages, settings.trainer),
            ready_timeout=settings.timeouts.operator,
            protect=settings.protect,
        )
        installed.append(Trainer("trainer", args, opts=after(opts, *added.resources)))
    runtime = TrainingRuntimeArgs(protect=settings.protect)
    return [TrainingRuntime("torch-runtime", runtime, opts=after(opts, *installed))]

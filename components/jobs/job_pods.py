"""The parts of pods that jobs of all kinds have in common, and the object that holds them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from components.base import scheduling
from components.base.component import Component, CustomObject
from components.base.scheduling import Toleration
from components.base.security_context import confined
from components.jobs import job_volumes, outcome, resilience
from components.jobs.job_args import JobArgs, SpanningJobArgs
from components.jobs.resilience import NOTHING, Resilience
from components.storage.data_set import proved_first
from core.apis import devices, kinds, names
from core.apis.kinds import Kind
from core.apis.names import labels

_OWN = ("spec", f'metadata.labels["{names.QUEUE_NAME}"]')
"""Fields of a job that cannot be changed in place."""


def declare(
    owner: Component,
    name: str,
    args: JobArgs,
    kind: Kind,
    spec: Mapping[str, Any],
    *,
    read_log: outcome.ReadLog,
    after: Sequence[pulumi.Resource | pulumi.Output[Any]],
    queue: str | None,
) -> pulumi.Output[str]:
    """Declare the object of a job as a child of `owner`, created after `after`; return its `finished`.

    It is replaced when its run number rises, when a release moves it to another version of its kind, whose spec is
    another, or, unless `on_change` is keep, when its spec or its queue changes. `queue` is a LocalQueue; Kueue refuses
    another one for a job that it has admitted.
    """
    replace = {"replace_on_changes": ["apiVersion", *_OWN]}
    if args.on_change == "keep":
        replace = {"replace_on_changes": ["apiVersion"], "ignore_changes": list(_OWN)}
    domain = _compute_domain(owner, name, args, after) if isinstance(args, SpanningJobArgs) else []
    job = CustomObject(
        f"{name}-job",
        kind,
        k8s.meta.v1.ObjectMetaArgs(
            name=args.job_name,
            namespace=args.namespace,
            labels=labels(args.job_name, "workload") | ({names.QUEUE_NAME: queue} if queue else {}),
            # None rather than {}: of a custom kind the provider compares that, and finds a change for ever.
            annotations=outcome.job_annotations(kind, args.wait, timeout=args.timeout) or None,
        ),
        {"spec": spec},
        owner.child(*after, *domain, replacement_trigger=args.run, delete_before_replace=True, **replace),
    )
    return outcome.gate(args.namespace, args.job_name, job.status, read_log)


def _compute_domain(
    owner: Component, name: str, args: SpanningJobArgs, after: Sequence[pulumi.Resource | pulumi.Output[Any]]
) -> list[CustomObject]:
    """Declare the ComputeDomain of a job, each run another: it lives no longer than the job's pods."""
    if not args.compute_domain:
        return []
    metadata = k8s.meta.v1.ObjectMetaArgs(
        name=args.job_name, namespace=args.namespace, labels=labels(args.job_name, "workload")
    )
    return [
        CustomObject(
            f"{name}-compute-domain",
            kinds.COMPUTE_DOMAIN,
            metadata,
            {"spec": compute_domain_spec(args)},
            owner.child(*after, replacement_trigger=args.run, delete_before_replace=True),
        )
    ]


def compute_domain_spec(args: SpanningJobArgs) -> dict[str, Any]:
    """Return the `spec` of a job's ComputeDomain: its nodes are those of the pods, however many."""
    template = {"name": devices.channel_template(args.job_name)}
    return {"numNodes": 0, "channel": {"allocationMode": "Single", "resourceClaimTemplate": template}}


def container(args: JobArgs) -> dict[str, Any]:
    """Return a container without its command."""
    return {
        "name": args.job_name,
        "image": args.image,
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def after_proof(args: JobArgs, words: Sequence[str], *, of_ranks: bool = False) -> list[str]:
    """Return the command line of a program, which starts once the pod has proved that it sees the data set, if any."""
    if args.data_set is None:
        return list(words)
    return proved_first(words, args.data_set.command("check"), of_ranks=of_ranks)


def pod(args: JobArgs) -> dict[str, Any]:
    """Return pull secrets and priority class of a job's pods."""
    secrets = [{"name": secret} for secret in args.pull_secrets]
    return {
        **({"imagePullSecrets": secrets} if secrets else {}),
        **({"priorityClassName": args.priority_class} if args.priority_class else {}),
    }


def with_gpus(args: SpanningJobArgs) -> dict[str, Any]:
    """Return what a container with GPUs of a job over several nodes has: its devices, IPC_LOCK for RDMA, its mounts.

    Amounts are text, as Kueue writes them back into a job that it admits: a number there would be drift.
    """
    return {
        "securityContext": confined(*((names.IPC_LOCK,) if args.rdma else ()), **ids(args)),
        "resources": {
            "limits": {
                "cpu": str(args.cpus),
                "memory": args.memory,
                **({} if args.gpu_claim else {names.GPU_RESOURCE: str(args.layout.gpus)}),
                **dict.fromkeys(args.rdma, "1"),
                **args.further,
            },
            **claimed(args),
        },
        "volumeMounts": mounts(args),
    }


def claims(args: JobArgs) -> dict[str, str]:
    """Return the claims of a pod with GPUs: what it calls each -> the ResourceClaimTemplate."""
    in_domain = isinstance(args, SpanningJobArgs) and args.compute_domain
    return {
        **({devices.GPUS: args.gpu_claim} if args.gpu_claim else {}),
        **({devices.CHANNEL: devices.channel_template(args.job_name)} if in_domain else {}),
    }


def claiming(templates: Mapping[str, str]) -> dict[str, Any]:
    """Return the claims of a pod, each from its ResourceClaimTemplate; nothing where it has none."""
    entries = [{"name": name, "resourceClaimTemplateName": template} for name, template in templates.items()]
    return {"resourceClaims": entries} if entries else {}


def claimed(args: JobArgs) -> dict[str, Any]:
    """Return the `claims` of the resources of a container with GPUs; nothing where its pod has none."""
    return {"claims": [{"name": name} for name in claims(args)]} if claims(args) else {}


def ports(args: JobArgs) -> list[dict[str, Any]]:
    """Return the ports on which the program of a container listens.

    They have the protocol, which Kueue otherwise adds, and then takes the job for a changed one.
    """
    return [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in args.ports.items()]


def annotations(args: SpanningJobArgs) -> dict[str, str]:
    """Return the annotations of a pod with GPUs: networks that it joins, and how close it runs to the job's others."""
    return networks(args.networks) | scheduling.annotations(args.required_topology, args.preferred_topology)


def networks(joined: Sequence[str]) -> dict[str, str]:
    """Return the annotation of a pod that joins secondary networks; nothing where it joins none."""
    return {names.NETWORKS: ",".join(joined)} if joined else {}


def template(pod: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return a pod template."""
    return {**({"metadata": {"annotations": annotations}} if annotations else {}), "spec": pod}


def placed(args: JobArgs) -> dict[str, Any]:
    """Return selector, affinity and tolerations of the pods with GPUs, and the claims by which they get devices."""
    fit = {"matchExpressions": [{"key": names.UNFIT, "operator": "DoesNotExist"}]} if args.fit_nodes else {}
    term = {**(_node_name_field(args.node) if args.node else {}), **fit}
    selector = {"nodeSelector": dict(args.node_labels)} if args.node_labels else {}
    return {
        **selector,
        **({"affinity": _required(term)} if term else {}),
        **tolerating(args.tolerations, args.resilience),
        **claiming(claims(args)),
    }


def tolerating(tolerations: Sequence[Toleration], own: Resilience = NOTHING) -> dict[str, Any]:
    """Return the tolerations of a pod: of its nodes' taints, and of a lost node for a while; nothing without any."""
    every = [*(toleration.manifest() for toleration in tolerations), *resilience.tolerations(own)]
    return {"tolerations": every} if every else {}


def only(node: str) -> dict[str, Any]:
    """Return the affinity of a pod that may run on `node` alone.

    Not nodeName, which would bypass the scheduler and with it the count of GPUs and rdma/*.
    """
    return _required(_node_name_field(node))


def _node_name_field(node: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}


def _required(term: Mapping[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def variables(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return a container's environment, if there is one."""
    return {"env": [{"name": key, "value": value} for key, value in environment.items()]} if environment else {}


def ids(args: JobArgs) -> dict[str, int]:
    """Return user and group, for a container's security context."""
    return {"runAsUser": args.run_as.uid, "runAsGroup": args.run_as.gid}


def mounts(args: JobArgs) -> list[dict[str, Any]]:
    """Return the mounts of a container with GPUs: its volumes, and shared memory for NCCL."""
    data = job_volumes.mounts(args.volumes, args.mounts)
    return [*data, {"name": "dshm", "mountPath": job_volumes.SHARED_MEMORY}]


def volumes(args: JobArgs) -> list[dict[str, Any]]:
    """Return the volumes behind `mounts`."""
    data = job_volumes.sources(args.volumes)
    return [*data, {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": args.shm}}]

"""What is wrong between MIG instances, the nodes that have them, and the jobs and tenants that ask for them."""

from collections.abc import Iterator

from stacks.resolved import instances
from stacks.resolved.jobs import ProgramJob
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from stacks.settings.workloads import IndexedWorkload, JobWorkload


def problems(settings: Settings) -> Iterator[str]:
    """Yield nodes that nothing divides, and quotas of instances that no node has."""
    strategy = settings.gpu.mig if isinstance(settings.gpu, GpuOperatorSettings) else None
    divided = next((node for node in settings.gpu_nodes if node.mig), None)
    if divided and strategy != "mixed":
        why = {
            None: "the GPU Operator divides GPUs, and gpu.enablement is another; use gpu-operator with gpu.mig mixed",
            "single": "instances would be nvidia.com/gpu, and jobs of whole GPUs start on them; set gpu.mig to mixed",
        }.get(strategy, "nothing would divide its GPUs; set gpu.mig to mixed")
        yield f"nodes: mig {divided.mig} of {divided.name}: {why}"
        return
    offered = instances.offered(settings.gpu_nodes)
    for tenant in settings.tenants:
        for size in tenant.instance_quota:
            if size not in offered:
                yield (
                    f"tenants: instance_quota {size} of {tenant.namespace}: no node has such instances; known: "
                    f"{', '.join(offered) or 'none'}; leave it out, or give nodes their `mig`"
                )
    for size, capacity in offered.items() if settings.queues else ():
        demand = sum(tenant.instance_quota.get(size, 0) for tenant in settings.everyone)
        if demand > capacity:
            yield (
                f"queues: the tenants' instance_quota of {size} add up to {demand}, and there are {capacity}: admitted "
                "jobs would wait for nodes; lower them"
            )


def of_job(job: ProgramJob, settings: Settings) -> Iterator[str]:
    """Yield why a job cannot have the instance that it asks for; the first reason hides the rest."""
    workload, program, size = job.workload, job.program, job.workload.instance
    if size is None:
        return
    nodes = instances.by_node(size, job.pool)
    if not isinstance(workload, JobWorkload | IndexedWorkload):
        yield (
            f"instance {size}: kind {workload.kind} joins processes by NCCL, and MIG instances have no path to each "
            "other; leave it out, or use kind job with a program of one GPU"
        )
    elif program.largest_mib is not None:
        yield f"instance {size}: program {workload.program} measures NCCL, which MIG instances cannot use; leave it out"
    elif program.rdma:
        yield f"instance {size}: program {workload.program} uses adapters beside whole GPUs; leave it out"
    elif workload.gpus != instances.OF_A_GPU:
        yield f"instance {size}: gpus {workload.gpus}, and a program sees one instance alone; give gpus 1"
    elif not nodes or (workload.node is not None and workload.node not in nodes):
        where = f"node {workload.node} has no" if nodes else "no node has"
        sizes = ", ".join(instances.offered(settings.gpu_nodes)) or "none"
        yield f"instance {size}: {where} such instances; known: {sizes}; give nodes their `mig`"
    elif not instances.limits(workload.tenant, settings)[size]:
        yield (
            f"instance {size}: tenant {workload.tenant} has no instance_quota of it; give the tenant one, or leave it "
            "out"
        )

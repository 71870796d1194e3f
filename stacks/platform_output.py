"""What the stacks of tenants depend on of their platform's stack: exported by the one, compared by the others.

Both sides derive it from the settings. The platform's stack exports it only when all of the platform is ready, so that
tenants detect a platform whose file has changed since its last update.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.tenants.mpi_scc import MpiSccArgs
from core.apis import names
from stacks.loading.settings import PROJECT
from stacks.settings.layers import TenantsLayer
from stacks.settings.platform import Settings

OUTPUT = "platform"
"""Output of a platform's stack with what its tenants depend on."""


class PlatformError(pulumi.RunError):
    """The stack of the platform does not have what the tenants' settings depend on."""


def dependencies(settings: Settings) -> dict[str, str | list[str]]:
    """Return what tenants depend on, as plain names: texts, which the engine returns unchanged."""
    storage, queues, kind = settings.storage, settings.queues, settings.version.mpi_job
    facts: dict[str, str | list[str]] = {
        "release": settings.release,
        "cluster": settings.cluster.identifier,
        "gpuNodes": [
            f"{node.name} ({node.gpus} of {pool.machine.name})" for pool in settings.gpu_pools for node in pool.nodes
        ],
        "rdmaResources": [names.RDMA_PREFIX + resource for resource in settings.rdma_resources],
        "scc": MpiSccArgs().scc_name if settings.uses_rdma else "",
        "mpiJob": kind.version if settings.mpi_operator and kind else "",
        "priorityClasses": [
            f"{priority_class.class_name} ({priority_class.value})" for priority_class in settings.priority_classes
        ],
        "storageClasses": [storage_class.class_name for storage_class in storage.classes] if storage else [],
        "fileSystem": f"{storage.own_cluster} {storage.file_system.uid}" if storage else "",
        "flavor": ", ".join(pool.name for pool in settings.gpu_pools) if queues else "",
        "cohort": (queues.cohort or "") if queues else "",
        # Only where there is one: platforms of before export no such name.
        **({"trainer": settings.trainer.kind} if settings.trainer else {}),
    }
    return facts


def outputs(settings: Settings, ready: Sequence[pulumi.Output[Any]]) -> Mapping[str, Any]:
    """Return what the stack of a platform exports for its tenants, known when all of `ready` is."""
    return {OUTPUT: pulumi.Output.all(*ready).apply(lambda _: dependencies(settings))}


def platform(settings: Settings) -> pulumi.Output[Any] | None:
    """Look up the stack of the tenants' platform; the result fails with PlatformError unless it has all.

    None for stacks that declare their platform themselves.
    """
    if not isinstance(settings, TenantsLayer):
        return None
    stack = settings.platform
    # The name is what the engine shows with `unknown stack`, where there is none.
    reference = pulumi.StackReference("platform", f"{pulumi.get_organization()}/{PROJECT}/{stack}")
    return reference.outputs.apply(lambda outputs: require(stack, outputs, dependencies(settings)))


def require(stack: str, outputs: Mapping[str, Any] | None, expected: Mapping[str, str | list[str]]) -> None:
    """Raise PlatformError unless the outputs of the stack of a platform match its file."""
    recorded = (outputs or {}).get(OUTPUT)
    if not isinstance(recorded, Mapping):
        raise PlatformError(
            f"stack {stack}, the platform of these tenants, is not up: it has no output {OUTPUT!r}\n"
            f"Run `./hpc up --stack {stack}` first; if it is up as a stack of its own tenants, write `layer: platform` "
            "into its file, as docs/guide/several-stacks.md describes."
        )
    # The engine keeps empty values, but an older version of this program may have exported fewer.
    lines = [
        f"  {name}: the stack has {_value_text(recorded.get(name))}, its file says {_value_text(value)}"
        for name, value in expected.items()
        if recorded.get(name) != value
    ]
    if lines:
        raise PlatformError(
            "\n".join(
                [
                    f"stack {stack}, the platform of these tenants, was not updated since its file changed:",
                    *lines,
                    f"Run `./hpc up --stack {stack}` first, or take the change of its file back.",
                ]
            )
        )


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value else "none"

"""The seam between the stack of a platform and those of its tenants: what these rest on, told and compared.

Both sides derive it from the settings. The platform's stack tells it only when all of it stands, so that tenants find
out that the platform's file has changed and nobody has updated its stack since.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from apis import names
from components.mpi_scc import MpiSccArgs
from stacks.layer_settings import TenantsLayer
from stacks.platform import Settings
from stacks.settings import PROJECT

OUTPUT = "platform"
"""Output of a platform's stack that holds what its tenants rest on."""


class PlatformError(pulumi.RunError):
    """The stack of the platform does not offer what the tenants' settings rest on."""


def rests(settings: Settings) -> dict[str, str | list[str]]:
    """Return what tenants rest on, as plain names: texts, which come back from the engine as they went."""
    storage, queues, kind = settings.storage, settings.queues, settings.version.mpi_job
    found: dict[str, str | list[str]] = {
        "release": settings.release,
        "cluster": settings.cluster.identifier,
        "gpuNodes": [f"{node.name} ({node.gpus} of {settings.profile.name})" for node in settings.gpu_nodes],
        "rdmaResources": [names.RDMA_PREFIX + resource for resource in settings.rdma_resources],
        "scc": MpiSccArgs().scc_name if settings.uses_rdma else "",
        "mpiJob": kind.version if settings.mpi_operator and kind else "",
        "priorityClasses": [f"{each.class_name} ({each.value})" for each in settings.priority_classes],
        "storageClasses": [each.class_name for each in storage.classes] if storage else [],
        "fileSystem": f"{storage.own_cluster} {storage.file_system.uid}" if storage else "",
        "flavor": settings.profile.name if queues else "",
        "cohort": (queues.cohort or "") if queues else "",
    }
    return found


def outputs(settings: Settings, ready: Sequence[pulumi.Output[Any]]) -> Mapping[str, Any]:
    """Return what the stack of a platform tells its tenants, known when all of `ready` is."""
    return {OUTPUT: pulumi.Output.all(*ready).apply(lambda _: rests(settings))}


def platform(settings: Settings) -> pulumi.Output[Any] | None:
    """Look up the stack of the tenants' platform; return what fails with PlatformError unless all is there.

    None for stacks that declare their platform themselves.
    """
    if not isinstance(settings, TenantsLayer):
        return None
    stack = settings.platform
    # The name is what the engine shows with `unknown stack`, where there is none.
    there = pulumi.StackReference("platform", f"{pulumi.get_organization()}/{PROJECT}/{stack}")
    return there.outputs.apply(lambda told: require(stack, told, rests(settings)))


def require(stack: str, told: Mapping[str, Any] | None, wanted: Mapping[str, str | list[str]]) -> None:
    """Raise PlatformError unless the outputs of the stack of a platform say what its file says."""
    found = (told or {}).get(OUTPUT)
    if not isinstance(found, Mapping):
        raise PlatformError(
            f"stack {stack}, the platform of these tenants, is not up: it has no output {OUTPUT!r}\n"
            f"Run `./hpc up --stack {stack}` first; if it is up as a stack of its own tenants, write `layer: platform` "
            "into its file, as docs/layers.md says."
        )
    # The engine leaves nothing out that is empty, but an older program of ours may know less.
    lines = [
        f"  {name}: the stack has {_shown(found.get(name))}, its file says {_shown(value)}"
        for name, value in wanted.items()
        if found.get(name) != value
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


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value else "none"

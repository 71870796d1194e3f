"""The example whose settings stand for what cannot be read from a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from core.yaml import text as yaml_text
from stacks.loading import settings as stack_settings
from stacks.releases import Release
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.layers import PlatformLayer, TenantsLayer
from stacks.settings.platform import Settings
from toolkit.cli.hardware.known_machines import catalogue
from toolkit.cli.init.machine_kinds import machine_kinds, with_gpus
from toolkit.cli.init.machines import Group
from toolkit.cli.shared.errors import Problem

LAYERS = {"Ethernet": ("roce", "ethernet"), "InfiniBand": ("infiniband",)}
"""What ports are -> the kinds of fabric that use them."""


@dataclass(frozen=True)
class Example:
    """One file of `stacks/examples`."""

    name: str
    text: str
    settings: Settings

    @property
    def own(self) -> dict[str, Any]:
        """What its file has, as it is written."""
        content: dict[str, Any] = yaml_text.read(self.text)
        platform: dict[str, Any] = content["config"][f"{stack_settings.PROJECT}:{stack_settings.KEY}"]
        return platform

    @property
    def effective(self) -> dict[str, Any]:
        """A copy of all that is set for it, wherever it is written."""
        return self.settings.model_dump(mode="json", exclude_unset=True)


def names(root: Path) -> list[str]:
    """Return the names of all examples."""
    return sorted(path.stem for path in stack_settings.examples(root).glob("*.yaml"))


def read(name: str, root: Path) -> Example:
    """Return an example; raise Problem for a name that none has."""
    if name not in names(root):
        raise Problem(f"there is no example {name!r}", f"Name one of stacks/examples: {', '.join(names(root))}.")
    path = stack_settings.examples(root) / f"{name}.yaml"
    return _read(name, root, path.read_text())


@cache
def _read(name: str, root: Path, text: str) -> Example:
    return Example(name, text, stack_settings.load(name, root))


def whole(example: Example) -> bool:
    """Whether an example has all of an environment, platform and tenants."""
    return not isinstance(example.settings, PlatformLayer | TenantsLayer)


def chosen(groups: Sequence[Group], release: Release, root: Path) -> Example:
    """Return the example that is nearest to a cluster: by machine, pools, GPU, ports, release and RDMA, then by name.

    One with pools is for machines of several kinds alone. Raises Problem where none has the API generations of the
    release.
    """
    several = len(machine_kinds(with_gpus(groups))) > 1
    whole_ones = [example for example in (read(name, root) for name in names(root)) if whole(example)]
    fitting = [example for example in whole_ones if several or not example.settings.pools]
    candidates = [example for example in fitting if supported(example, release)]
    if not candidates:
        raise Problem(
            f"no example of stacks/examples is for the APIs of OpenShift {release.name}",
            "Name the one to begin with by --template.",
        )
    return max(candidates, key=lambda example: _nearness(example, groups, release))


def supported(example: Example, release: Release) -> bool:
    """Whether a release has the API generations of an example, and its way to GPUs."""
    theirs, choices = example.settings.version, release.choices.get("gpu.enablement", ())
    same = (theirs.mpi_job, theirs.scale_csi) == (release.mpi_job, release.scale_csi)
    claims = by_claims(example) and "gpu.compute_domains" in release.lacks
    return same and not claims and (not choices or example.settings.gpu.enablement in choices)


def by_claims(example: Example) -> bool:
    """Whether pods of an example claim devices: GPUs, or what joins those of several nodes."""
    gpu = example.settings.gpu
    return isinstance(gpu, GpuOperatorSettings) and (gpu.allocation == "dra" or gpu.compute_domains is not None)


def _nearness(example: Example, groups: Sequence[Group], release: Release) -> tuple[bool, ...]:
    machines = {node.hardware.name for node in example.settings.gpu_nodes}
    possible = {name for group in groups for name in (*group.candidates, *group.families)}
    gpus = {machine.gpu.architecture for machine in catalogue() if machine.gpu and machine.name in possible}
    kinds = {kind for group in groups if group.traits.link_layer for kind in LAYERS[group.traits.link_layer]}
    return (
        any(group.machine in machines for group in groups),
        bool(machines & possible),
        bool(example.settings.pools),
        any(pool.machine.gpu.architecture in gpus for pool in example.settings.gpu_pools),
        any(pool.fabric.kind in kinds for pool in example.settings.gpu_pools),
        # Unless the machine is theirs alone: where the cluster has a GPUCluster, the setting follows it anyway.
        not by_claims(example),
        example.settings.release == release.name,
        example.settings.uses_rdma,
    )

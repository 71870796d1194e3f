"""What GPU feature discovery finds on a machine: pure functions."""

from core.hardware.gpus import ARCHITECTURES, Gpu
from core.hardware.profiles import Profile
from toolkit.simulator.actors import mig

PREFIX = "feature.node.kubernetes.io/"
"""Of labels of Node Feature Discovery."""
GPU_PREFIX = "nvidia.com/"


def product(gpu: Gpu) -> str:
    """Return a GPU's name as today's driver gives it, with hyphens for blanks."""
    brand = ARCHITECTURES[gpu.architecture].brand
    name = gpu.model.replace(" ", "-")
    return name if name.startswith(f"{brand}-") else f"{brand}-{name}"


def gpu_labels(
    profile: Profile | None, strategy: str, layout: mig.Layout | None, clique: str | None = None
) -> dict[str, str]:
    """Return the labels of GPU feature discovery; `layout` is how the GPUs are divided, None when they are not.

    `clique` is that of GPUs with NVLink to those of other nodes.
    """
    if profile is None or not profile.gpus:
        return {}
    gpu, name, count = profile.gpu, product(profile.gpu), profile.gpus
    major, minor = (gpu.compute_capability or ARCHITECTURES[gpu.architecture].compute_capability).split(".")
    memory = gpu.memory_mib or gpu.memory_gb * 1024
    labels = {
        "gpu.family": gpu.architecture,
        "gpu.compute.major": major,
        "gpu.compute.minor": minor,
        "gpu.product": name,
        "gpu.count": str(count),
        "gpu.memory": str(memory),
        "mig.capable": str(bool(gpu.mig_instances)).lower(),
    }
    if clique:
        labels["gpu.clique"] = clique
    if gpu.mig_instances:
        labels["mig.strategy"] = strategy
    if layout and strategy == "single" and len(layout) == 1:
        ((size, slices),) = layout.items()
        labels |= {"gpu.product": f"{name}-MIG-{size}", "gpu.count": str(slices * count)}
        del labels["gpu.memory"]  # of a slice; the documents give the whole GPU's only
    if layout and strategy == "mixed":
        for size, slices in layout.items():
            labels |= {f"mig-{size}.count": str(slices * count), f"mig-{size}.product": f"{name}-MIG-{size}"}
    return {GPU_PREFIX + key: value for key, value in labels.items()}

"""The objects of the chart of NVIDIA's driver for dynamic resource allocation, for GPUs, ComputeDomains or both."""

from pathlib import Path
from typing import Any

from core.apis import kinds
from core.yaml import text as yaml_text

NAMESPACE = "dra-driver-nvidia-gpu"
_GPU_CLASSES = ("gpu.nvidia.com", "mig.nvidia.com")
_CONTROLLER = "controller"


_KINDS = {(kind.api_version, kind.kind): kind for kind in vars(kinds).values() if isinstance(kind, kinds.Kind)}


def kind_of(obj: dict[str, Any]) -> kinds.Kind:
    """Return the kind of an object; raise KeyError for one that nothing here names."""
    return _KINDS[obj["apiVersion"], obj["kind"]]


def objects(*, gpus: bool = True, domains: bool = True) -> list[dict[str, Any]]:
    """Return the objects in the order in which they can be applied."""
    made = list(yaml_text.read_all(Path(__file__).with_suffix(".yaml").read_text()))
    kept = []
    for obj in made:
        name = obj["metadata"]["name"]
        if obj["kind"] == "DeviceClass" and not (gpus if name in _GPU_CLASSES else domains):
            continue
        if obj["kind"] == "Deployment" and not domains:
            continue
        if obj["kind"] == "DaemonSet":
            pod = obj["spec"]["template"]["spec"]
            names = {*(["gpus"] if gpus else []), *(["compute-domains"] if domains else [])}
            pod["containers"] = [container for container in pod["containers"] if container["name"] in names]
        kept.append(obj)
    return kept

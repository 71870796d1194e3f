"""Environment variables of containers, and those by which NVIDIA's runtime gives devices that nobody has requested.

What selects nothing is the empty text, `void` and `none`. A variable that is not set selects nothing either, except in
an image that the runtime takes for one of before 2017: CUDA_VERSION is set, and NVIDIA_REQUIRE_CUDA is not.
Source: NVIDIA/nvidia-container-toolkit, internal/config/image/cuda_image.go and internal/modifier/{cdi,gated}.go.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from policies.manifests.objects import Obj
from policies.manifests.part import Part
from policies.manifests.pod_specs import NO_PODS, is_object
from policies.manifests.pods import Container
from policies.manifests.values import Path, Unknown, brief, is_mapping
from policies.views.devices import gpus


class Variable(NamedTuple):
    """One variable with a value of its own; `place` is the value's, relative to the container."""

    name: str
    value: str
    place: Path


def variables(container: Container, selects: Callable[[str], Any]) -> Iterator[Variable]:
    """Yield the variables whose names fit `selects` and whose values are written down as text."""
    for index, name in container.once(_named_variables):
        if selects(name):
            value = container.read("env", index, "value")
            if value is not None and not isinstance(value, Unknown):
                yield Variable(name, value if isinstance(value, str) else brief(value), ("env", index, "value"))


def _named_variables(container: Container) -> list[tuple[int, str]]:
    entries = container.tree.get("env")
    if isinstance(entries, Unknown):
        container.read("env")
    names: list[tuple[int, str]] = []
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if not is_mapping(entry):
            container.read("env", index)
        elif isinstance(name := entry.get("name"), str):
            names.append((index, name))
    return names


VISIBLE = "NVIDIA_VISIBLE_DEVICES"
VOID = "void"
NOTHING = frozenset({"", VOID, "none"})
_LISTS = frozenset({VISIBLE, "NVIDIA_MIG_CONFIG_DEVICES", "NVIDIA_MIG_MONITOR_DEVICES", "NVIDIA_IMEX_CHANNELS"})
_ALWAYS = frozenset({"NVIDIA_MOFED", "NVIDIA_NVSWITCH"})
_WITHOUT_GPU = frozenset({"NVIDIA_GDS", "NVIDIA_GDRCOPY"})
_SWITCHES = _ALWAYS | _WITHOUT_GPU
_CUDA_VERSION, _REQUIRE_CUDA = "CUDA_VERSION", "NVIDIA_REQUIRE_CUDA"
DEVICE_VARIABLES = _LISTS | _SWITCHES
READ = DEVICE_VARIABLES | {_CUDA_VERSION, _REQUIRE_CUDA}
ENV = "env"
_DEEPEST = 64
_MOST = 1000


def selects_devices(name: str, value: str, container: Container | None) -> bool:
    """Return whether a variable with this value gives a container devices beside those that it requests."""
    if name in _LISTS:
        return value not in NOTHING
    if name in _SWITCHES and (value == "enabled" or "$(" in value):
        return name in _ALWAYS or container is None or not gpus(container)
    return False


def is_legacy_image(values: dict[str, str], container: Container) -> bool:
    """Return whether a container's variables make the runtime take its image for an old one, which sees all GPUs."""
    old = bool(values.get(_CUDA_VERSION)) and not values.get(_REQUIRE_CUDA)
    return old and VISIBLE not in values and not gpus(container)


def loose_variables(subject: Obj) -> Iterator[tuple[Part, str, str]]:
    """Yield such variables in an object of an unknown kind that belong to none of its containers.

    Its controller hands them on: `spec.trainer.env` of a TrainJob, `driver.envVars` of a SparkApplication, which is a
    mapping. Each comes with the part that has it, the variable, and the field of the part with its value.
    """
    environments = {(*container.path, ENV) for container in subject.containers}
    waiting: list[tuple[Path, object]] = [((), subject.tree)]
    count = 0
    while waiting and count < _MOST:
        path, value = waiting.pop()
        if isinstance(value, dict):
            if path and is_object(value):
                continue
            for key in DEVICE_VARIABLES.intersection(value):
                yield Part(subject, path, value), key, key
            for key, below in value.items():
                place = (*path, key)
                if key in NO_PODS or below.__class__ not in (dict, list) or len(place) > _DEEPEST:
                    continue
                if key == ENV and below.__class__ is list and place not in environments:
                    count += len(below)
                    for entry in subject.parts(*place):
                        yield entry, entry.text("name"), "value"
                waiting.append((place, below))
        elif isinstance(value, list):
            waiting.extend(
                ((*path, index), below) for index, below in enumerate(value) if below.__class__ in (dict, list)
            )

"""What a container's environment takes from elsewhere gives it no GPUs."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping

from core.apis.kinds import CONFIG_MAP, SECRET, Kind
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Tree, Unknown, read
from policies.rule import Rule, Severity
from policies.views.environment import DEVICE_VARIABLES, ENV, VISIBLE, VOID, selects_devices
from policies.views.tenants import TENANTS, Tenancy

_ENV_FROM = "envFrom"
_KEYS: Mapping[str, Kind] = {"configMapKeyRef": CONFIG_MAP, "secretKeyRef": SECRET}
_WHOLE: Mapping[str, Kind] = {"configMapRef": CONFIG_MAP, "secretRef": SECRET}
_ANNOTATION = re.compile(r"metadata\.(annotations|labels)\['([^']{1,317})'\]")


def _examine(subject: Obj, inventory: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    for pod in subject.pods:
        for container in pod.containers:
            if _has_sources(container) and not parameters.excepts(subject):
                yield from _container(pod, container, inventory)


def _has_sources(container: Container) -> bool:
    if _ENV_FROM in container.tree or container.object.unknown:
        return True
    entries = container.tree.get(ENV)
    return isinstance(entries, list) and any(read(entry, "valueFrom") is not None for entry in entries)


def _container(pod: Pod, container: Container, inventory: Inventory) -> Iterator[Violation]:
    names = set()
    for entry in container.parts(ENV):
        name = entry.text("name")
        names.add(name)
        if name in DEVICE_VARIABLES and entry.tree.get("valueFrom") is not None:
            yield from _value(pod, container, entry, name, inventory)
    for entry in container.parts(_ENV_FROM):
        yield from _env_from(container, entry, names, inventory)


def _value(pod: Pod, container: Container, entry: Part, name: str, inventory: Inventory) -> Iterator[Violation]:
    for field, kind in _KEYS.items():
        if field in entry.mapping("valueFrom"):
            source, key = entry.text("valueFrom", field, "name"), entry.text("valueFrom", field, "key")
            data = _data(inventory, kind, source, container.object.namespace)
            place = ("valueFrom", field)
            if data is None:
                yield entry.unverified(f"{name} is in {kind.kind} {source}, which is not among the objects", *place)
            elif isinstance(value := data.get(key, ""), Unknown):
                yield entry.unverified(f"{name} in {kind.kind} {source} is unknown until the update", *place)
            elif selects_devices(name, value, container):
                yield entry.violation(f"sets {name} by {kind.kind} {source}", *place)
            return
    annotation = _ANNOTATION.fullmatch(entry.text("valueFrom", "fieldRef", "fieldPath"))
    value = pod.metadata.read(annotation[1], annotation[2]) if annotation else VISIBLE
    if not isinstance(value, Unknown) and selects_devices(name, value if isinstance(value, str) else "", container):
        yield entry.violation(f"sets {name} by a field of its pod", "valueFrom")


def _env_from(container: Container, entry: Part, names: set[str], inventory: Inventory) -> Iterator[Violation]:
    prefix = entry.text("prefix")
    possible = {name for name in DEVICE_VARIABLES - names if name.startswith(prefix)}
    for field, kind in _WHOLE.items():
        if field not in entry.tree or not possible:
            continue
        source = entry.text(field, "name")
        data = _data(inventory, kind, source, container.object.namespace)
        if data is None:
            if VISIBLE in possible:
                yield entry.unverified(f"{kind.kind} {source} is not among the objects and may set {VISIBLE}", field)
            continue
        for name in sorted(possible):
            value = data.get(name.removeprefix(prefix), "")
            if isinstance(value, Unknown):
                yield entry.unverified(f"{name} in {kind.kind} {source} is unknown until the update", field)
            elif selects_devices(name, value, container):
                yield entry.violation(f"sets {name} by {kind.kind} {source}", field)


def _data(inventory: Inventory, kind: Kind, name: str, namespace: str) -> Mapping[str, str | Unknown] | None:
    """Return what a ConfigMap or Secret holds, None where it is not among the objects or not known as a whole."""
    source = inventory.get(kind, name, namespace)
    if source is None or isinstance(source.tree.get("data"), Unknown):
        return None
    plain = {**source.mapping("data"), **source.mapping("stringData")} if kind is SECRET else source.mapping("data")
    encoded = kind is SECRET and source.mapping("data").keys() - source.mapping("stringData").keys()
    return {str(key): _text(value, encoded and key in encoded) for key, value in plain.items()}


def _text(value: Tree, encoded: object) -> str | Unknown:
    if isinstance(value, Unknown):
        return value
    text = value if isinstance(value, str) else ""
    if not encoded:
        return text
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return text


GPU_VARIABLE_SOURCES = Rule(
    name="gpu-variable-sources",
    what=f"No container takes {VISIBLE}, or another variable that makes NVIDIA's container runtime give it devices, "
    "from a ConfigMap, a Secret or a field of its pod. A source that is not among the objects is undetermined.",
    why="envFrom sets every key of a ConfigMap, with an optional prefix, so the variable's name may appear nowhere in "
    "the pod (prefix NVIDIA_, key VISIBLE_DEVICES). The runtime then gives GPUs that no request or quota counts.",
    remedy=f"Delete the key, or set {VISIBLE} to {VOID} under env, which overrides envFrom; {TENANTS}",
    source="P-13, platform-facts 1.1; NVIDIA/nvidia-container-toolkit, internal/config/image",
    severity=Severity.MANDATORY,
    parameters=Tenancy,
    examine=_examine,
    links=True,
)

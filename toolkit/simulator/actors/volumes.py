"""What a pod mounts, and what of it is not there yet."""

from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.simulator.actors import scale_handles
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.runtime import Runtime


@dataclass(frozen=True)
class Source:
    """One object that a volume needs; `keys` must be in it; an optional one may be missing."""

    kind: str
    name: str
    keys: tuple[str, ...] = ()
    optional: bool = False


def sources(volume: Object) -> Iterator[Source]:
    """Yield what one volume of a pod needs; kinds that need nothing yield nothing."""
    if config_map := volume.get("configMap"):
        yield _file_source("configmap", config_map, config_map.get("name", ""))
    if secret := volume.get("secret"):
        yield _file_source("secret", secret, secret.get("secretName", ""))
    for part in (volume.get("projected") or {}).get("sources") or []:
        for field, kind in (("configMap", "configmap"), ("secret", "secret")):
            if inner := part.get(field):
                yield _file_source(kind, inner, inner.get("name", ""))
    if claim := volume.get("persistentVolumeClaim"):
        yield Source("persistentvolumeclaim", claim["claimName"])


def _file_source(kind: str, source: Object, name: str) -> Source:
    keys = tuple(item["key"] for item in source.get("items") or [])
    return Source(kind, name, keys, bool(source.get("optional")))


def missing(pod: Object, runtime: Runtime) -> list[str]:
    """Return, as the kubelet words it, why the pod's volumes cannot be mounted; empty when they can."""
    spec = pod["spec"]
    namespace, node = pod["metadata"]["namespace"], spec["nodeName"]
    return [
        f'MountVolume.SetUp failed for volume "{volume["name"]}" : {why}'
        for volume in spec.get("volumes") or []
        for source in sources(volume)
        if (why := _mount_fault(source, namespace, node, runtime))
    ]


def _mount_fault(source: Source, namespace: str, node: str, runtime: Runtime) -> str | None:
    if source.kind == "persistentvolumeclaim":
        return _claim_trouble(source.name, namespace, node, runtime)
    cache = runtime.config_maps if source.kind == "configmap" else runtime.secrets
    obj = cache.get(source.name, namespace)
    if obj is None:
        return None if source.optional else f'{source.kind} "{source.name}" not found'
    keys = {*(obj.get("data") or {}), *(obj.get("binaryData") or {})}
    absent = [key for key in source.keys if key not in keys]
    if absent and not source.optional:
        return f'{source.kind} "{source.name}" references non-existent key: {absent[0]}'
    return None


def _claim_trouble(name: str, namespace: str, node: str, runtime: Runtime) -> str | None:
    claim = runtime.claims.get(name, namespace)
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if (claim.get("status") or {}).get("phase") != "Bound":
        return f'persistentvolumeclaim "{name}" is not bound'
    volume = runtime.volumes.get(claim["spec"].get("volumeName", ""))
    if volume is None:
        return f'persistentvolume of claim "{name}" not found'
    source = volume["spec"].get("csi")
    if not source:
        return None
    drivers = runtime.drivers(source["driver"], node)
    if not drivers:
        return f"driver name {source['driver']} not found in the list of registered CSI drivers"
    return next((scale_handles.trouble(source, pod) for pod in drivers), None)

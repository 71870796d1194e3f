"""What a pod mounts: what of it is missing, what a Storage Scale driver makes of a handle, and what files have."""

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.apis import kinds
from core.apis import names as platform
from policies.views import volumes
from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.runtime import Runtime

SHORT, LONG = (3, 4), (3, 4, 7)
"""Parts between semicolons that a driver of 2.0 reads, and one of 2.5 and later."""


def driver_annotations(clusters: Iterable[str], parts: Iterable[int], local: str | None) -> dict[str, str]:
    """Return the annotation of the driver's pods from which the simulated kubelet reads what they were started with.

    `local` is the cluster whose file systems volumes are made on when a StorageClass names none.
    """
    document = {"clusters": sorted(clusters), "parts": list(parts), "local": local}
    return {names.SCALE_CLUSTERS: json.dumps(document, sort_keys=True)}


def started_with(pod: Object) -> Object | None:
    """Return what a driver's pod was started with, None where no annotation says so."""
    text = pods.annotations(pod).get(names.SCALE_CLUSTERS)
    document: Object | None = json.loads(text) if text else None
    return document


def mount_trouble(source: Object, pod: Object) -> str | None:
    """Return why the driver's `pod` does not mount a volume with this CSI `source`; None if it does.

    File systems are known to the GUI of their cluster alone: the UID must have its form, and is taken for one of them.
    """
    driver = started_with(pod)
    if source.get("driver") != platform.SCALE_CSI_DRIVER or driver is None:
        return None
    text = str(source.get("volumeHandle"))
    handle = volumes.parse(text)
    faults = list(handle.faults)
    if text.count(";") + 1 not in driver["parts"]:
        faults.append(f"has {text.count(';') + 1} parts, which this version of the driver does not read")
    if faults:
        return f"rpc error: code = Internal desc = invalid volume id {text}: {faults[0]}"
    if handle.cluster not in driver["clusters"]:
        clusters = ", ".join(driver["clusters"])
        return (
            f"rpc error: code = Internal desc = unable to find cluster [{handle.cluster}] details in custom resource,"
            f" which has {clusters}"
        )
    return None


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
    return next((mount_trouble(source, pod) for pod in drivers), None)


def read_mounted(runtime: Runtime, pod: Object, path: str) -> bytes | None:
    """Return the content of a file, None where no mounted ConfigMap or Secret has it; keys have the files' names."""
    file, namespace = PurePosixPath(path), pod["metadata"]["namespace"]
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    for mount in pod["spec"]["containers"][0].get("volumeMounts") or []:
        part = mount.get("subPath")
        if (file if part else file.parent) != PurePosixPath(mount["mountPath"]):
            continue
        volume, key = volumes[mount["name"]], part or file.name
        if "configMap" in volume:
            config_map = runtime.config_maps.get(volume["configMap"]["name"], namespace) or {}
            text = (config_map.get("data") or {}).get(key)
            return None if text is None else str(text).encode()
        if "secret" in volume:
            # The cache has no values of Secrets.
            secret = runtime.kubelet.find(kinds.SECRET, volume["secret"]["secretName"], namespace) or {}
            encoded = (secret.get("data") or {}).get(key)
            return None if encoded is None else base64.b64decode(encoded)
    return None

"""What a pod's first container reads in the files of its ConfigMaps and Secrets."""

import base64
from pathlib import PurePosixPath

from core.apis import kinds
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.runtime import Runtime


def read(runtime: Runtime, pod: Object, path: str) -> bytes | None:
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

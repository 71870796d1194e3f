"""Caches that the Spectrum Scale driver makes at the GUI of their storage cluster, with the calls of the real one.

The driver gets the home of a claim's cache from a Secret: a bucket with its keys, or an export of NFS.
"""

import base64
import binascii
from collections.abc import Mapping
from urllib.parse import urlsplit

from toolkit.simulator.actors.api import Object
from toolkit.simulator.scale_management.client import Gui
from toolkit.simulator.scale_management.filesets import EXISTS

_SECRET = "csi.storage.k8s.io/provisioner-secret"  # noqa: S105 - prefix of two parameters' names
BUCKET, EXPORT = ("endpoint", "bucket", "accesskey", "secretkey"), ("nfsServers", "nfsPath")
"""Keys of a Secret that names a bucket, and of one that names an export."""
_PORTS = {"http": 80, "https": 443}
MODES = {"readonly": "ro", "parallel": "iw", "exclusive": "sw", "detached": "lu"}


def is_cache(storage_class: Object) -> bool:
    """Return whether the volumes of a class are caches."""
    return bool((storage_class.get("parameters") or {}).get("volumeType") == "cache")


def secret_of(claim: Object, storage_class: Object) -> tuple[str, str]:
    """Return namespace and name of the Secret that names the home of a claim's cache."""
    parameters, meta = storage_class.get("parameters") or {}, claim["metadata"]
    templates = [str(parameters.get(f"{_SECRET}-{part}", "")) for part in ("namespace", "name")]
    for word in ("name", "namespace"):
        templates = [template.replace(f"${{pvc.{word}}}", meta[word]) for template in templates]
    return templates[0], templates[1]


def home_of(secret: Object) -> dict[str, str]:
    """Return the texts of a Secret; raise ValueError for one that names neither a bucket nor an export."""
    try:
        data = {key: base64.b64decode(text).decode() for key, text in (secret.get("data") or {}).items()}
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError("the secret of the cache has a value that is not text") from None
    if not any(all(data.get(key) for key in keys) for keys in (BUCKET, EXPORT)):
        raise ValueError(f"the secret of the cache has neither {', '.join(BUCKET)} nor {', '.join(EXPORT)}")
    return data


def mode_of(claim: Object, storage_class: Object) -> str:
    """Return AFM's mode of a claim's cache: the class's, else read-only for claims that only read, else writing."""
    mode = (storage_class.get("parameters") or {}).get("cacheMode", "").lower()
    return MODES.get(mode) or ("ro" if claim["spec"]["accessModes"] == ["ReadOnlyMany"] else "iw")


def make(gui: Gui, volume: str, file_system: str, home: Mapping[str, str], *, mode: str, size: int) -> None:
    """Make a cache with its quota, in bytes; what is there already stays. Raises GuiError."""
    exported = f"{volume}-exportmap"
    gateways = [node["adminNodename"] for node in gui.get("nodes")["nodes"] if node["roles"]["gatewayNode"]]
    if not gateways:
        raise ValueError("Failed to the create a cache volume as there in no gateway node in the cluster")
    of_bucket = "bucket" in home
    server = urlsplit(home["endpoint"]).hostname or home["endpoint"] if of_bucket else home["nfsServers"]
    body = {"mapName": exported, "exportMap": [f"{server}/{gateways[0]}"], "noServerResolution": True}
    gui.job("POST", "nodes/afm/mapping", body, done=(EXISTS,))
    place = f"filesystems/{file_system}"
    if of_bucket:
        keys = {"bucket": home["bucket"], "accessKey": home["accesskey"], "secretKey": home["secretkey"]}
        gui.job("PUT", "bucket/keys", {**keys, "server": exported})
        parts = urlsplit(home["endpoint"])
        port = parts.port or _PORTS.get(parts.scheme, 443)
        fileset = {
            "filesetName": volume,
            "mode": mode,
            "endpoint": f"{parts.scheme or 'https'}://{exported}:{port}",
            "useObjectFs": True,
            "bucket": home["bucket"],
            "verifyKeys": True,
        }
        gui.job("POST", f"{place}/filesets/cos", fileset, done=(EXISTS,))
    else:
        target = f"nfs://{exported}/{home['nfsPath'].strip('/')}"
        path = f"/{file_system}/{volume}"
        fileset = {"filesetName": volume, "path": path, "inodeSpace": "new", "afmMode": mode, "afmTarget": target}
        gui.job("POST", f"{place}/filesets", fileset, done=(EXISTS,))
    limits = dict.fromkeys(("blockSoftLimit", "blockHardLimit"), str(size))
    quota = {"operationType": "setQuota", "quotaType": "fileset", "objectName": volume, **limits}
    gui.job("POST", f"{place}/quotas", quota)


def remove(gui: Gui, volume: str, file_system_uid: str) -> None:
    """Remove a cache with its map, as far as they are there. Raises GuiError."""
    for system in gui.get("filesystems", filter=f"uuid={file_system_uid}")["filesystems"]:
        place = f"filesystems/{system['name']}/filesets"
        if gui.get(place, filter=f"filesetName={volume}")["filesets"]:
            gui.job("DELETE", f"{place}/{volume}", force_unlink="true")
            gui.job("DELETE", f"nodes/afm/mapping/{volume}-exportmap")

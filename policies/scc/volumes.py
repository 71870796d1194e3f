"""The types of a pod's volumes, under the names that an SCC knows them by."""

from collections.abc import Mapping
from dataclasses import dataclass

from policies.scc.reading import Object, mapping, objects, text

EMPTY_DIR, FLEX_VOLUME, HOST_PATH, PROJECTED, SECRET = "emptyDir", "flexVolume", "hostPath", "projected", "secret"
ALL, NONE = "*", "none"

# Keys of a volume in the order in which the plugin looks for them; the first that is set counts.
SOURCES: Mapping[str, str] = {
    **{
        key: key
        for key in (
            *(HOST_PATH, EMPTY_DIR, "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", SECRET, "nfs", "iscsi"),
            *("glusterfs", "persistentVolumeClaim", "rbd", FLEX_VOLUME, "cinder"),
        )
    },
    "cephfs": "cephFS",
    **{key: key for key in ("flocker", "downwardAPI", "fc", "azureFile", "configMap")},
    "vsphereVolume": "vsphere",
    **{key: key for key in ("quobyte", "azureDisk", "photonPersistentDisk", PROJECTED, "portworxVolume", "scaleIO")},
    "storageos": "storageOS",
    **{key: key for key in ("csi", "ephemeral", "image")},
}

# What the service account controller mounts: ConfigMap -> the only item of it.
_INJECTED = {"kube-root-ca.crt": "ca.crt", "openshift-service-ca.crt": "service-ca.crt"}


@dataclass(frozen=True)
class Volume:
    """One volume: its type, the driver of a flexVolume, and whether it is the mount that every service account gets."""

    type: str
    driver: str | None
    only_token: bool


def volume(manifest: Object, path: str) -> Volume:
    """Read one volume; one without a source is an emptyDir, which is the API's default."""
    key = next((key for key in SOURCES if manifest.get(key) is not None), EMPTY_DIR)
    flex = mapping(manifest, FLEX_VOLUME, path)
    return Volume(
        type=SOURCES[key],
        driver=None if flex is None else text(flex, "driver", f"{path}{FLEX_VOLUME}."),
        only_token=key == PROJECTED and _only_token(mapping(manifest, PROJECTED, path) or {}, f"{path}{PROJECTED}."),
    )


def _only_token(projected: Object, path: str) -> bool:
    return all(_injected(source, f"{path}sources[].") for source in objects(projected, "sources", path))


def _injected(source: Object, path: str) -> bool:
    token, bundle, downward = (
        mapping(source, key, path) for key in ("serviceAccountToken", "configMap", "downwardAPI")
    )
    if token is None and bundle is None and downward is None:
        return False
    return (
        (token is None or (token.get("path"), token.get("audience") or "") == ("token", ""))
        and (bundle is None or _bundle(bundle, path))
        and (downward is None or all(_own_namespace(item) for item in objects(downward, "items", path)))
    )


def _bundle(config_map: Object, path: str) -> bool:
    item = _INJECTED.get(text(config_map, "name", path))
    items = objects(config_map, "items", path)
    return item is not None and [(entry.get("key"), entry.get("path")) for entry in items] == [(item, item)]


def _own_namespace(item: Object) -> bool:
    reference = item.get("fieldRef")
    return (
        item.get("path") == "namespace"
        and isinstance(reference, Mapping)
        and (reference.get("apiVersion") or "v1") == "v1"
        and reference.get("fieldPath") == "metadata.namespace"
    )

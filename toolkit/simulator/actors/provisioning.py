"""Volumes that are created for claims: what an external provisioner does with a StorageClass."""

import logging
from collections.abc import Callable

from core.apis import kinds
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Api, ApiError, Object
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.manifests import manifest, simulated_by
from toolkit.simulator.names import FILES_PROVISIONER

log = logging.getLogger(__name__)

PROVISIONER_ANNOTATIONS = ("volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner")
"""By these annotations of a claim the controller-manager asks a provisioner for a volume."""
BY = "pv.kubernetes.io/provisioned-by"
NOWHERE = "192.0.2.1"
"""Server of the volumes: an address for documentation."""


def asked_of(claim: Object) -> str | None:
    """Return the provisioner that a claim without a volume waits for, None if it waits for none."""
    if claim["spec"].get("volumeName") or pods.deleting(claim):
        return None
    have = pods.annotations(claim)
    return next((have[name] for name in PROVISIONER_ANNOTATIONS if name in have), None)


def volume_name(claim: Object) -> str:
    """Return the name of the volume that is made for a claim."""
    return f"pvc-{claim['metadata']['uid']}"


def persistent_volume(claim: Object, storage_class: Object, provisioner: str, source: Object) -> Object:
    """Return the volume for a claim; `source` says where its files are."""
    meta = claim["metadata"]
    spec = {
        "accessModes": claim["spec"]["accessModes"],
        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
        "storageClassName": storage_class["metadata"]["name"],
        "claimRef": {
            "apiVersion": "v1",
            "kind": kinds.PERSISTENT_VOLUME_CLAIM.kind,
            "name": meta["name"],
            "namespace": meta["namespace"],
            "uid": meta["uid"],
        },
        **source,
    }
    marks = {BY: provisioner, **simulated_by("provisioner")}
    return manifest(kinds.PERSISTENT_VOLUME, volume_name(claim), annotations=marks, spec=spec)


def provision(api: Api, claim: Object, provisioner: str, source: Callable[[Object, Object], Object]) -> None:
    """Make the volume of a claim that asks `provisioner` for one; `source` gets the claim and its class."""
    if asked_of(claim) != provisioner:
        return
    storage_class = api.get(kinds.STORAGE_CLASS, claim["spec"]["storageClassName"])
    body = persistent_volume(claim, storage_class, provisioner, source(claim, storage_class))
    try:
        api.create(kinds.PERSISTENT_VOLUME, body)
    except ApiError as error:
        if not error.conflict:
            raise
    else:
        log.info("%s for %s/%s", volume_name(claim), claim["metadata"]["namespace"], claim["metadata"]["name"])


def reclaim(api: Api, volume: Object, provisioner: str) -> bool:
    """Delete a volume that `provisioner` made, and whose claim is gone, where its class says so; return whether."""
    made = pods.annotations(volume).get(BY) == provisioner
    if made and pods.phase(volume) == "Released" and volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete":
        api.delete(kinds.PERSISTENT_VOLUME, volume["metadata"]["name"])
        return True
    return False


class SimFiles:
    """Makes volumes for claims of the class, and deletes them with their claims."""

    def __init__(self, runtime: Runtime) -> None:
        self._api = runtime.identity("sim-files")
        self._made, self._gone = Loop("sim-files", self._provision), Loop("sim-files, released", self._reclaim)
        self._claims = Informer(self._api, kinds.PERSISTENT_VOLUME_CLAIM, lambda key, *_: self._made.add(key))
        self._volumes = Informer(self._api, kinds.PERSISTENT_VOLUME, lambda key, *_: self._gone.add(key))

    def start(self) -> None:
        """Start."""
        for part in (self._claims, self._volumes, self._made, self._gone):
            part.start()

    def _provision(self, key: Key) -> None:
        claim = self._claims.get(key[1], key[0])
        if claim is not None:
            provision(self._api, claim, FILES_PROVISIONER, source)

    def _reclaim(self, key: Key) -> None:
        volume = self._volumes.get(key[1])
        if volume is not None:
            reclaim(self._api, volume, FILES_PROVISIONER)


def source(claim: Object, _storage_class: Object) -> Object:
    """Return where the files of a claim's volume are: nowhere, as no pod runs."""
    return {"nfs": {"server": NOWHERE, "path": f"/sim-files/{volume_name(claim)}"}}

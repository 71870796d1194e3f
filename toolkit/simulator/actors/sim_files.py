"""The class `sim-files` of every simulated cluster: simulated shared files for platforms without Spectrum Scale."""

from core.apis import kinds
from toolkit.simulator.actors import provisioning
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.names import FILES_PROVISIONER

NOWHERE = "192.0.2.1"
"""Server of the volumes: an address for documentation."""


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
            provisioning.provision(self._api, claim, FILES_PROVISIONER, source)

    def _reclaim(self, key: Key) -> None:
        volume = self._volumes.get(key[1])
        if volume is not None:
            provisioning.reclaim(self._api, volume, FILES_PROVISIONER)


def source(claim: Object, _storage_class: Object) -> Object:
    """Return where the files of a claim's volume are: nowhere, as no pod runs."""
    return {"nfs": {"server": NOWHERE, "path": f"/sim-files/{provisioning.volume_name(claim)}"}}

"""OLM's package server: what the catalogues of the cluster offer, as PackageManifests.

OpenShift computes them when they are read; here they are kept, and follow the CatalogSources. A package that several
catalogues have is listed once, from the first of them that is there.
"""

import logging

from core.apis import kinds
from toolkit.simulator import pods
from toolkit.simulator.actors import catalogue
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Informer, Key, Loop
from toolkit.simulator.actors.package import Bundle, Package
from toolkit.simulator.actors.packages import packages
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.actors.versions import install_modes
from toolkit.simulator.manifests import manifest, simulated_by

log = logging.getLogger(__name__)

BY = "package server"


class PackageServer:
    """Lists every package of the simulated catalogue in the namespace of its CatalogSource."""

    def __init__(self, runtime: Runtime) -> None:
        self._api = runtime.identity("package-server")
        self._loop = Loop("package server", self._list)
        self._sources = Informer(self._api, kinds.CATALOG_SOURCE, self._changed, listed=self._wake)

    def start(self) -> None:
        """Start."""
        self._sources.start()
        self._loop.start()

    def _wake(self) -> None:
        for name in packages():
            self._loop.add(("", name))

    def _changed(self, _key: Key, _old: Object | None, _source: Object | None) -> None:
        self._wake()

    def _list(self, key: Key) -> None:
        if not self._sources.synced:
            return  # the first list wakes it
        package = packages()[key[1]]
        sources = sorted(
            self._sources.items(), key=lambda source: catalogue.content(source) != source["metadata"]["name"]
        )
        source_of_content: dict[str, Object] = {}
        for source in sources:
            if not pods.deleting(source):
                source_of_content.setdefault(catalogue.content(source), source)
        offering = [source_of_content[name] for name in package.sources if name in source_of_content]
        if offering:
            self._api.apply(kinds.PACKAGE_MANIFEST, package_manifest(package, offering[0]))
            return
        for listed in self._api.list(kinds.PACKAGE_MANIFEST)["items"]:
            if listed["metadata"]["name"] == package.name:
                self._api.delete(kinds.PACKAGE_MANIFEST, package.name, listed["metadata"]["namespace"])


def package_manifest(package: Package, source: Object) -> Object:
    """Return what a catalogue says of a package, in the form of `oc get packagemanifest`."""
    where = source["metadata"]
    status = {
        "catalogSource": where["name"],
        "catalogSourceNamespace": where["namespace"],
        "catalogSourceDisplayName": source["spec"].get("displayName", where["name"]),
        "packageName": package.name,
        "defaultChannel": next(iter(package.channels)),
        "channels": [_channel(name, bundle, package.title) for name, bundle in package.channels.items()],
    }
    labels = {"catalog": where["name"], "catalog-namespace": where["namespace"]}
    marks = simulated_by(BY)
    return manifest(
        kinds.PACKAGE_MANIFEST, package.name, where["namespace"], labels=labels, annotations=marks, status=status
    )


def _channel(name: str, bundle: Bundle, title: str) -> Object:
    return {
        "name": name,
        "currentCSV": bundle.versions[-1],
        "currentCSVDesc": {"displayName": title, "installModes": install_modes(bundle)},
        "entries": [{"name": version} for version in reversed(bundle.versions)],
    }

"""The simulated catalogues of operators, as their registry pods serve them to OLM (operator-registry, pkg/api).

A channel is a chain: each version replaces the one before. Its head also replaces whatever is earlier than the channel
(`skipRange`), so that a Subscription can change to a later channel; OLM goes back to none.
"""

import json
from collections.abc import Collection, Mapping

from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.package import Bundle, Package
from toolkit.simulator.actors.packages import packages
from toolkit.simulator.actors.versions import cluster_service_version, number

EMPTY = ""
"""The catalogue of images that nothing is known of: they serve it, and offer nothing."""
_INDEXES = {f"{owner}-operator-index": f"{owner}-operators" for owner in ("certified", "community", "redhat")}
"""Images of the catalogues, by the last part of their names -> the catalogue as OpenShift names it."""


def content(source: Object) -> str:
    """Return which catalogue a CatalogSource has: one that mirrors an index image has what that has."""
    image = source["spec"].get("image")
    return of_images([image]) if image else str(source["metadata"]["name"])


def of_images(images: Collection[str]) -> str:
    """Return which catalogue one of the images of a registry pod has; EMPTY where none is of a known index."""
    indexes = (_INDEXES.get(pods.basename(image)) for image in images)
    return next((index for index in indexes if index), EMPTY)


def served(ports: Mapping[str, int], tools: Collection[str]) -> dict[str, Object]:
    """Return what `operator-catalogues` serves at each port, by the catalogue's name.

    A bundle whose definitions are those of a tool is left out where the cluster was started without it.
    """
    return {name: {"port": port, **_catalogue(name, tools)} for name, port in ports.items()}


def _catalogue(name: str, tools: Collection[str]) -> Object:
    offered = [package for package in packages().values() if name in package.sources]
    channels = {
        package.name: {
            channel: bundle
            for channel, bundle in package.channels.items()
            if all(tool in tools for definition in bundle.definitions for tool in definition.tools)
        }
        for package in offered
    }
    return {
        "packages": [_package(package, channels[package.name]) for package in offered],
        "bundles": [
            entry
            for package in offered
            for channel, bundle in channels[package.name].items()
            for entry in bundles(package, channel, bundle)
        ],
    }


def _package(package: Package, channels: Mapping[str, Bundle]) -> Object:
    return {
        "name": package.name,
        "channels": [{"name": name, "csvName": bundle.versions[-1]} for name, bundle in channels.items()],
        "defaultChannelName": next(iter(channels)),
    }


def bundles(package: Package, channel: str, bundle: Bundle) -> list[Object]:
    """Return the bundles of one channel, oldest first, with their manifests inline."""
    first, head = number(bundle.versions[0]), bundle.versions[-1]
    former = ("", *bundle.versions)
    definitions = [json.dumps(definition.manifest()) for definition in bundle.definitions]
    kinds = [
        {"group": definition.kind.group, "version": definition.kind.version, "kind": definition.kind.kind}
        for definition in bundle.definitions
    ]
    plurals = [definition.kind.plural for definition in bundle.definitions]
    return [
        {
            "csvName": version,
            "packageName": package.name,
            "channelName": channel,
            "version": number(version),
            "replaces": replaced,
            "skipRange": f"<{first}" if version == head else "",
            "csvJson": (csv := json.dumps(cluster_service_version(package, version, replaces=replaced))),
            "object": [csv, *definitions],
            "providedApis": [{**kind, "plural": plural} for kind, plural in zip(kinds, plurals, strict=True)],
            "properties": [
                {
                    "type": "olm.package",
                    "value": json.dumps({"packageName": package.name, "version": number(version)}),
                },
                *({"type": "olm.gvk", "value": json.dumps(kind)} for kind in kinds),
            ],
        }
        for version, replaced in zip(bundle.versions, former, strict=False)
    ]

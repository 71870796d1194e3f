"""The simulated catalogue: which version of which operator a Subscription gets."""

from core.apis.operators import is_later
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.packages import packages

_INDEXES = {f"{owner}-operator-index": f"{owner}-operators" for owner in ("certified", "community", "redhat")}
"""Images of the catalogues, by the last part of their names -> the catalogue as OpenShift names it."""


def content(source: Object) -> str:
    """Return which catalogue a CatalogSource has: one that mirrors an index image has what that has."""
    return _INDEXES.get(pods.basename(source["spec"].get("image") or ""), str(source["metadata"]["name"]))


class NotInCatalogueError(ValueError):
    """A subscription asks for what the catalogue does not have; the text is as OLM words it."""


def next_version(spec: Object, installed: str | None, catalogue: str = "") -> str | None:
    """Return the version that a Subscription with this `spec` installs next, None when it has the channel's last.

    `catalogue` is what its source has; empty: it has the source's name.

    The first one is `startingCSV`, or the channel's last. What is later than all of the channel stays: OLM never goes
    back. Raise NotInCatalogueError for an unknown package, source, channel or version.
    """
    name, source = spec["name"], catalogue or spec["source"]
    package = packages().get(name)
    if package is None or source not in package.sources:
        offered = sorted(other.name for other in packages().values() if source in other.sources)
        raise NotInCatalogueError(
            f"constraints not satisfiable: no operators found in package {name} in the catalog referenced by"
            f" subscription; catalog {source} of the simulated cluster has {', '.join(offered) or 'nothing'}"
        )
    channel = spec.get("channel") or next(iter(package.channels))
    bundle = package.channels.get(channel)
    if bundle is None:
        raise NotInCatalogueError(
            f"constraints not satisfiable: no operators found in channel {channel} of package {name};"
            f" known: {', '.join(package.channels)}"
        )
    versions = bundle.versions
    if installed in versions:
        later = versions[versions.index(installed) + 1 :]
        return later[0] if later else None
    if installed is not None and is_later(installed, versions[-1]):
        return None
    # What was installed once goes on from there, whatever the subscription says of its start.
    starting: str = (spec.get("startingCSV") if installed is None else None) or versions[-1]
    if starting not in versions:
        raise NotInCatalogueError(
            f"constraints not satisfiable: no operators found with name {starting} in channel {channel} of package"
            f" {name}; known: {', '.join(versions)}"
        )
    return starting

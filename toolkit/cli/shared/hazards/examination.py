"""Find the hazards of a site, by every module of `signs/`."""

from collections.abc import Iterable, Iterator

from stacks.settings.platform import Settings
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.hazards.hazard import NOT_CHECKED, Hazard
from toolkit.cli.shared.hazards.live import Live, LiveCluster, UnreadError
from toolkit.cli.shared.hazards.signs import SIGNS
from toolkit.review.sentences import quoted


def examine(settings: Settings, cluster: Cluster) -> list[Hazard]:
    """Return the hazards of a stack's site; none for tenants on the platform of another stack.

    What could not be checked is the last one, `undetermined`, with the reasons. Raises Problem where the cluster cannot
    be reached.
    """
    return [*of_live(settings, LiveCluster(cluster))] if settings.has_platform else []


def of_live(settings: Settings, live: Live) -> Iterator[Hazard]:
    """Yield the hazards that live objects show, by the names of their modules, and what could not be checked."""
    unread: dict[str, list[str]] = {}
    for name, sign in SIGNS.items():
        try:
            yield from sign(settings, live)
        except UnreadError as error:
            unread.setdefault(quoted(str(error), 200), []).append(name)
    if unread:
        reasons = "; ".join(f"{', '.join(names)} ({why})" for why, names in unread.items())
        yield Hazard(NOT_CHECKED, "", reasons)


def sentences(hazards: Iterable[Hazard]) -> Iterator[str]:
    """Yield a sentence for each hazard that was found, for a review."""
    return (quoted(hazard.text) for hazard in hazards if not hazard.undetermined)


def unchecked(hazards: Iterable[Hazard]) -> str:
    """Return one line of what could not be checked; empty where all could."""
    return next((f"hazards not checked: {hazard.cause}" for hazard in hazards if hazard.undetermined), "")

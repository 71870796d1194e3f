"""The states of a cache that AFM names, and what each means for those who read from it.

Names are those of IBM's documentation of 5.0 to 6.0 ("Monitoring fileset states", "mmafmctl"). What Dropped and Stopped
mean for readers it does not say: they are taken for not healthy.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Meaning(NamedTuple):
    """What a state means, and whether data can be had and changes reach the home."""

    text: str
    healthy: bool = True


STATES: Mapping[str, Meaning] = {
    "Inactive": Meaning("not used since it was linked: the first access makes it Active"),
    "Active": Meaning("connected to its home"),
    "Dirty": Meaning("has changes that are not at home yet; reading is not affected"),
    "FlushOnly": Meaning("has operations in its queue that it has not begun to send"),
    "QueueOnly": Meaning("collects operations in its queue, and sends none until a recovery or resync is done"),
    "Recovery": Meaning("a gateway node takes it over from another one"),
    "Disconnected": Meaning(
        "its gateway node does not reach the home: what is not cached cannot be read", healthy=False
    ),
    "Unmounted": Meaning("its gateway node has not mounted the home: what is not cached cannot be read", healthy=False),
    "NeedsResync": Meaning("cache and home may differ: `mmafmctl FS resync -j FILESET` repairs it", healthy=False),
    "Expired": Meaning("the home was away for too long: nothing can be read until it is back", healthy=False),
    "Dropped": Meaning("its queue was dropped: operations may be missing at home", healthy=False),
    "Stopped": Meaning("an administrator has stopped it: nothing is fetched", healthy=False),
}


def meaning(state: str) -> Meaning:
    """Return what a state means; one that is not known is not healthy."""
    return STATES.get(state, Meaning("not a state that hpc knows; see `mmafmctl FS getstate`", healthy=False))

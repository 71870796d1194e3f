"""What a rule reports about one object."""

from typing import NamedTuple

from policies.values import Path


class Violation(NamedTuple):  # made several times as fast as a frozen dataclass
    """One violation of a rule: the message, and the path of the field that it is about.

    `container` is the name of the container, empty when it is about the pod or the object as a whole. Two kinds are
    undetermined: with `link` the other end of a link is not among the objects, with `unknown` it is there and unknown
    until the update. `remedy` is an imperative sentence without final period; empty means the rule's.
    """

    message: str
    path: Path = ()
    container: str = ""
    link: bool = False
    unknown: bool = False
    remedy: str = ""

    def with_remedy(self, remedy: str) -> "Violation":
        """Return the violation with a remedy of its own."""
        return self._replace(remedy=remedy)

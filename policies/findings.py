"""What the rules report."""

from enum import StrEnum
from typing import Any, NamedTuple

from policies.pod_specs import role_of
from policies.values import Path, show


class Severity(StrEnum):
    """What a finding does: a mandatory one ends the update, an advisory one is shown."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"


class Undetermined(StrEnum):
    """Why a finding is undetermined; each reason has a severity of its own."""

    VALUE = "unverified-value"
    """A value is unknown until the update."""
    LINK = "unverified-link"
    """The object at the other end of a link is not among the given ones."""


class Finding(NamedTuple):
    """One violation of a rule by one object, or an undetermined one.

    `path` is where the offending field is in the object, or would be; `container` is empty when it is not about
    a container; `origin` is what the caller gave with the object to find it again: a URN, a place in a file.
    """

    rule: str
    severity: Severity
    object: str
    message: str
    remedy: str
    path: Path = ()
    container: str = ""
    undetermined: Undetermined | None = None
    origin: Any = None

    @property
    def place(self) -> str:
        """Where it is: object, container and field."""
        parts = (self.object, f"container {self.container}" if self.container else "", show(self.path))
        return ", ".join(part for part in parts if part)

    @property
    def subject(self) -> str:
        """What it is about, in short: `MPIJob adas/train, Worker, nccl`, the latter two only where there are any."""
        return ", ".join(part for part in (self.object, role_of(self.path), self.container) if part)

    def __str__(self) -> str:
        """Return the finding on one line: rule, where, what is wrong, what to do."""
        return f"{self.rule}: {self.place}: {self.message}. {self.remedy}"

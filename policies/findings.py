"""What a rule has to say about one object."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is to ignore a finding; every rule is mandatory all the same."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True)
class Finding:
    """One fault of one object; `container` is empty when it is the pod or the object as a whole."""

    rule: str
    severity: Severity
    object: str
    container: str
    message: str
    remedy: str

    def __str__(self) -> str:
        """Return the finding on one line: rule, where, what is wrong, what to do."""
        where = f"{self.object}, container {self.container}" if self.container else self.object
        return f"{self.rule}: {where}: {self.message}. {self.remedy}"

"""ConfigMaps say whose they are: a rule of one's own, as a user's folder has it."""

from collections.abc import Iterator

from core.apis.kinds import CONFIG_MAP
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule, Severity


class TeamLabel(Parameters):
    """The label."""

    label: str = "team"


def _examine(subject: Obj, _: Inventory, parameters: TeamLabel) -> Iterator[Violation]:
    if not subject.text("metadata", "labels", parameters.label):
        yield subject.violation(f"has no label {parameters.label}", "metadata")


TEAM_LABEL = Rule(
    name="team-label",
    what="A ConfigMap has the label of its team.",
    why="Nobody knows whom to ask otherwise.",
    remedy="Add the label",
    source="our handbook",
    severity=Severity.MANDATORY,
    parameters=TeamLabel,
    examine=_examine,
    kinds=(CONFIG_MAP,),
)

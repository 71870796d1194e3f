"""What is compared with the cluster before an update, and before what shows one: `diff`, `up` and `pulumi preview`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from core.wording import some
from policies import exceptions
from policies.check import Checker
from policies.configuration import Configuration, divide
from policies.findings import Severity
from policies.rules import RULES
from policies.rules.apis.known_fields import KNOWN_FIELDS
from stacks.layers import own_objects
from stacks.resolved.placements import Placement, placements
from stacks.settings.platform import Settings
from toolkit.cli.check.examination import Located, examine
from toolkit.cli.check.sources import Source
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_warning, show_rows
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.policy_configuration import configuration
from toolkit.cli.shared.preflight import operand_states, operator_channels, reached_nodes
from toolkit.cli.shared.preflight.operator_channels import Examined
from toolkit.cli.shared.stack import Stack
from toolkit.review.sentences import bare


def require_own_manifests(stack: Stack) -> None:
    """Raise Problem for fields that the API does not know, unless the stack's settings make the rule advisory.

    The provider drops them from objects of Kubernetes' own kinds before any policy of the engine sees them: a misspelt
    selector of a Service would be applied without one.
    """
    files = own_objects.files(stack.settings.objects, ROOT)
    if not files:
        return
    content, general = divide(configuration(stack.settings))
    checker = Checker((KNOWN_FIELDS,), Configuration(content, (*RULES, *general.own)))
    exempt = [entry for entry in exceptions.load() if entry.rule == KNOWN_FIELDS.name]
    written = (Source(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in files)
    result = examine(written, checker, exempt=exempt, today=date.today())
    refused = [located for located in result.findings if located.finding.severity is Severity.MANDATORY]
    if refused:
        raise Problem(
            "\n".join(map(_line, refused)), "Correct the manifests; `./hpc check` shows all that is wrong with them."
        )


def _line(located: Located) -> str:
    remedy = f"; {located.finding.remedy}" if located.finding.remedy else ""
    where = f"{located.file}:{located.line}:{located.column}"
    return f"{where}: {located.finding.place}: {located.finding.message}{remedy}"


@dataclass(frozen=True)
class Checked:
    """A stack that its cluster does not contradict."""

    operators: Sequence[Examined]
    sentences: tuple[str, ...]
    """What to know of the cluster first."""

    def show(self) -> None:
        """Print what to know."""
        show(self.sentences)


def show(sentences: Iterable[str]) -> None:
    """Print sentences about the cluster as it is."""
    for sentence in sentences:
        print_warning(bare(sentence))


def require(stack: Stack, cluster: Cluster) -> Checked:
    """Return what is known of a stack on its cluster.

    Raises Problem where OLM cannot install an operator, the stack would configure nodes that are not its own, or a
    manifest of its own has fields that the cluster would drop.
    """
    require_own_manifests(stack)
    operators = operator_channels.require(stack, cluster)
    reached = reached_nodes.require(stack, cluster)
    return Checked(operators, (*operand_states.sentences(cluster.list), *reached))


def show_placements(settings: Settings) -> None:
    """Print where the jobs of each stage fit; those of one wave all at the same time."""
    for stage, rows in groupby(placements(settings), key=lambda row: row.stage):
        show_rows(f"Placement, stage {stage}", ("wave", "job", "layout", "GPUs", "fits on"), map(_row, rows))


def _row(row: Placement) -> tuple[str, ...]:
    on = some([f"{node.split('.')[0]}: {pods}" for node, pods in row.on])
    layout = str(row.layout) if row.layout else ""
    layout += f" {row.instance}" if row.instance else ""
    otherwise = "what is free once others have ended" if row.layout else "any node that has its volume"
    return (str(row.wave), row.job, layout, str(row.gpus or ""), on or otherwise)

"""What is compared with the cluster before an update, and before what shows one: `diff`, `up` and `pulumi preview`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.operators import OPERATORS
from core.wording import some
from policies import exceptions
from policies.check import Checker
from policies.configuration import Configuration, divide
from policies.manifests.values import entries, is_mapping, read
from policies.rule import Severity
from policies.rules import RULES
from policies.rules.apis.known_fields import KNOWN_FIELDS
from stacks.layers import own_objects
from stacks.resolved.placements import Placement, placements
from stacks.settings.platform import Settings
from toolkit.cli.check.examination import Located, examine
from toolkit.cli.check.sources import Source
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.console import print_warning, show_rows
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.policy_configuration import configuration
from toolkit.cli.shared.preflight import operator_channels, reached_nodes, transitions
from toolkit.cli.shared.preflight.operator_channels import Examined
from toolkit.cli.shared.stack import Stack
from toolkit.review.sentences import bare, name, quoted

Object = Mapping[str, Any]
Look = Callable[[Kind], Sequence[Object]]
"""List a kind."""
_STATED = (
    *(kinds.CLUSTER_POLICY, kinds.GPU_CLUSTER, kinds.NVIDIA_DRIVER),
    *(kinds.NIC_CLUSTER_POLICY, kinds.NIC_NODE_POLICY),
)
"""Kinds with one word in `status.state`, and the condition Ready."""
_CONDITIONS = {
    kinds.NODE_FEATURE_DISCOVERY_V1: "Available",
    kinds.NMSTATE: "Available",
    **{instance.kind: instance.condition for operator in OPERATORS.values() if (instance := operator.instance)},
}
"""Kinds with conditions: that which is True when all is well."""
_FAULTS = frozenset({"Degraded", "Error", "Failed", "ReconcileFailed"})
"""Conditions that are True when something is wrong."""


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

    Raises Problem where OLM cannot install an operator, a vendor does not support the step to a version, the stack
    would configure nodes that are not its own, or a manifest of its own has fields that the cluster would drop.
    """
    require_own_manifests(stack)
    operators = operator_channels.require(stack, cluster)
    steps = transitions.require(stack, cluster)
    reached = reached_nodes.require(stack, cluster)
    return Checked(operators, (*steps, *unready_operands(cluster.list), *reached))


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


def unready_operands(look: Look) -> Iterator[str]:
    """Yield a sentence for each object that is not ready, with its state and what its operator reports."""
    for kind in (*_STATED, *_CONDITIONS):
        try:
            objects = look(kind)
        except RefusedError as error:
            yield f"Whether a {kind.kind} is ready could not be determined: {quoted(error.reason)}"
            continue
        for obj in objects:
            if why := _stated(obj) if kind in _STATED else "; ".join(_messages(obj, _CONDITIONS[kind])):
                where = f"{kind.kind} {name(metadata.path(obj))}"
                yield f"{where} is not ready already, before this stack changes anything: {quoted(why)}"


def _stated(obj: Object) -> str:
    state = read(obj, "status", "state")
    if state == "ready":
        return ""
    reason = str(read(obj, "status", "reason") or "").strip()
    parts = [
        f"{part.get('name')} is {part.get('state')}"
        for part in _maps(obj, "appliedStates")
        if part.get("state") in ("notReady", "error")
    ]
    word = f"state {state}" if state else "its operator has reported no state"
    return "; ".join([word, *filter(None, [reason]), *_messages(obj, "Ready"), *parts])


def _messages(obj: Object, good: str) -> list[str]:
    """Return the conditions by which an object is not well, those with a message first; none where it has none."""
    wrong = [
        condition
        for condition in _maps(obj, "conditions")
        if (condition.get("type"), condition.get("status")) == (good, "False")
        or (condition.get("type") in _FAULTS and condition.get("status") == "True")
    ]
    return [
        _condition_text(condition) for condition in sorted(wrong, key=lambda condition: not condition.get("message"))
    ]


def _condition_text(condition: Object) -> str:
    why = ": ".join(text for key in ("reason", "message") if (text := str(condition.get(key) or "").strip()))
    return f"{condition.get('type')} is {condition.get('status')}" + (f" ({why})" if why else "")


def _maps(obj: Object, field: str) -> list[Object]:
    return [entry for entry in entries(obj, "status", field) if is_mapping(entry)]

"""From the engine's events of a preview to a review: one change for each resource, whatever steps the engine takes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.pulumi_values import REDACTED
from policies.rules import RULES
from toolkit.review import event_properties, paths
from toolkit.review.model import CHANGED, Change, Finding, Op, Resource, Review
from toolkit.review.sentences import short_title

CUT = "the engine stopped before it had processed the whole stack"
_OPS = {
    "create": Op.CREATE,
    "update": Op.UPDATE,
    "delete": Op.DELETE,
    "discard": Op.FORGET,
    "import": Op.ADOPT,
    "same": Op.SAME,
    "read": Op.SAME,
    "refresh": Op.SAME,
    "replace": Op.REPLACE,
    "create-replacement": Op.REPLACE,
    "delete-replaced": Op.REPLACE,
    "discard-replaced": Op.REPLACE,
    "import-replacement": Op.REPLACE,
    "read-replacement": Op.REPLACE,
    "remove-pending-replace": Op.REPLACE,
}
_REPLACING = ("replace", "create-replacement")
_WEIGHT = {op: weight for weight, op in enumerate((Op.SAME, Op.DELETE, Op.FORGET, Op.UPDATE, Op.CREATE, Op.ADOPT))}
_WEIGHT[Op.REPLACE] = len(_WEIGHT)
"""Of several steps of one resource the one with the highest weight decides."""
_COLOUR = re.compile(r"<\{%.*?%\}>")
PLUGIN = re.compile(r"using pulumi-\S+ from \$PATH")
_UNREACHABLE = re.compile(
    "PULUMI_K8S_DELETE_UNREACHABLE|unreachable cluster|cluster is unreachable|API server cannot be reached"
)
UNREACHABLE = "the API server does not answer\nSee whether the cluster runs and can be reached from here."
_SUMMARIES = ("preview failed", "update failed", "refresh failed")
_REMEDIES = {rule.name: rule.remedy for rule in RULES}


def read(events: Iterable[Mapping[str, Any]], stack: str, *, trouble: str = "") -> Review:
    """Return the review of a preview.

    `trouble` is what else is known of a preview that failed, e.g. the end of what the engine printed: it is used only
    where the events do not show why.
    """
    steps: dict[str, list[Mapping[str, Any]]] = {}
    messages = _Messages()
    for event in events:
        for key in ("resourcePreEvent", "resOutputsEvent"):
            if key in event:
                metadata = event[key]["metadata"]
                steps.setdefault(metadata["urn"], []).append(metadata)
        messages.add(event)
    changes = (_change(metadata) for _, metadata in sorted(steps.items()))
    return Review(
        stack=stack,
        changes=tuple(change for change in changes if change is not None),
        findings=messages.findings(),
        leftovers=tuple(_leftovers(steps)),
        warnings=tuple(sorted(messages.warnings)),
        failed=messages.failed(trouble),
    )


def op_of(steps: Iterable[Mapping[str, Any]]) -> Op:
    """Return what becomes of a resource by all steps that the engine takes with it."""
    return max((_op(step) for step in steps), key=_WEIGHT.__getitem__)


def counted(steps: Mapping[str, Sequence[Mapping[str, Any]]]) -> Counter[Op]:
    """Count what becomes of the objects of the cluster, by all steps that the engine takes with each resource."""
    objects = (own for urn, own in steps.items() if Resource(urn, str(own[0]["type"]), {}).is_object)
    return Counter(op_of(_own(own)) for own in objects)


def _op(step: Mapping[str, Any]) -> Op:
    op = _OPS.get(str(step.get("op")), Op.SAME)
    if op is Op.REPLACE and is_of_leftover(step):
        op = Op.DELETE  # its successor exists: the engine calls this delete-replaced, too
    return Op.FORGET if op is Op.DELETE and (step.get("old") or {}).get("retainOnDelete") else op


def is_of_leftover(step: Mapping[str, Any]) -> bool:
    """Whether a step is of what a replacement has marked for deletion: the resource itself has steps of its own."""
    return bool((step.get("old") or {}).get("delete")) and step.get("op") not in _REPLACING


def _leftovers(steps: Mapping[str, list[Mapping[str, Any]]]) -> Iterator[Resource]:
    """Yield what interrupted replacements left, and is deleted beside the resource itself, each once.

    A replacement of this update marks what it replaces in the same way.
    """
    for _, own in sorted(steps.items()):
        replaced = {step["old"].get("id") for step in own if step.get("op") in _REPLACING and step.get("old")}
        leftovers = {
            step["old"].get("id"): event_properties.resource(step["old"])
            for step in own
            if is_of_leftover(step) and _op(step) is Op.DELETE and step["old"].get("id") not in replaced
        }
        if not all(map(is_of_leftover, own)):
            yield from (resource for resource in leftovers.values() if resource.is_object)


def _own(steps: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the steps of a resource itself; those of a leftover where it has no others."""
    return [step for step in steps if not is_of_leftover(step)] or steps


def _change(steps: Sequence[Mapping[str, Any]]) -> Change | None:
    steps = _own(steps)
    op = op_of(steps)
    own = [step for step in steps if _op(step) is op]
    before = next((step["old"] for step in own if step.get("old")), None)
    after = None if op in (Op.DELETE, Op.FORGET) else next((step["new"] for step in own if step.get("new")), None)
    if op in (Op.CREATE, Op.ADOPT):
        # The engine gives an import what is on the cluster as its old state.
        before = before if op is Op.ADOPT else None
    if before is None and after is None:
        return None
    old = event_properties.resource(before) if before else None
    new = event_properties.resource(after, live=_outputs(own)) if after else None
    if old and new and op in (Op.UPDATE, Op.REPLACE):
        new = marked(old, new, differences(own))
    return Change(op, old, new, _replaced_for(own) if op is Op.REPLACE else ())


def differences(steps: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the paths that differ according to the engine, with the kind (`update`, `add-replace`, ...)."""
    kinds: dict[str, str] = {}
    for step in steps:
        kinds.update(dict.fromkeys(step.get("diffs") or (), "update"))
        for path, detail in (step.get("detailedDiff") or {}).items():
            kinds[path] = str((detail or {}).get("diffKind") or (detail or {}).get("kind") or "update")
    return kinds


def marked(old: Resource, new: Resource, changed: Iterable[str]) -> Resource:
    """Return `new` with CHANGED for secrets that differ: neither value is known, only that there are two."""
    inputs = new.inputs
    for text in changed:
        path = paths.read(text)
        if paths.value(old.inputs, path) == paths.value(inputs, path) == REDACTED:
            inputs = paths.put(inputs, path, CHANGED)
        elif REDACTED in (paths.value(inputs, path[:-1]), paths.value(inputs, path[:1])):
            whole = path[:-1] if paths.value(inputs, path[:-1]) == REDACTED else path[:1]
            inputs = paths.put(inputs, whole, CHANGED)
        elif _is_secret(texts := paths.value(inputs, path)):
            inputs = paths.put(inputs, path, dict.fromkeys(texts, CHANGED))
    return new if inputs is new.inputs else replace(new, inputs=inputs)


def _is_secret(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(text == REDACTED for text in value.values())


def _replaced_for(steps: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    steps = list(steps)
    forced = {path for path, how in differences(steps).items() if how.endswith("-replace")}
    return tuple(sorted(forced or {key for step in steps for key in step.get("keys") or ()}))


def _outputs(steps: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the last outputs of the steps: those of a dry run come after the step began."""
    outputs: Mapping[str, Any] = {}
    for step in steps:
        outputs = (step.get("new") or {}).get("outputs") or outputs
    return outputs


class _Messages:
    """Messages of engine, plugins, program and policies."""

    def __init__(self) -> None:
        self.warnings: set[str] = set()
        self._errors: dict[str, None] = {}
        self._findings: set[Finding] = set()
        self._ended = False

    def add(self, event: Mapping[str, Any]) -> None:
        """Add an event of the engine."""
        if "diagnosticEvent" in event:
            self._diagnostic(event["diagnosticEvent"])
        elif "policyEvent" in event:
            self._findings.add(finding(event["policyEvent"]))
        self._ended |= "summaryEvent" in event

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings of the policies: those that end the update first."""
        return tuple(sorted(self._findings, key=order))

    def failed(self, trouble: str) -> str:
        """Return why there is no whole answer."""
        if self._errors:
            return "\n".join(self._errors)
        if any(finding.mandatory for finding in self._findings):
            return ""  # the findings explain it
        return "" if self._ended and not trouble else trouble or CUT

    def _diagnostic(self, event: Mapping[str, Any]) -> None:
        text = _COLOUR.sub("", str(event.get("message") or "")).strip()
        severity = str(event.get("severity") or "")
        if not text or event.get("ephemeral") or PLUGIN.match(text) or text in _SUMMARIES:
            return
        where = f"{short_title(str(event['urn']))}: " if event.get("urn") else ""
        if severity.startswith("error") and _UNREACHABLE.search(text):
            self._errors[UNREACHABLE] = None  # each object reports it, and advises to forget it
        elif severity.startswith("error"):
            self._errors[where + text] = None
        elif severity.startswith("warning"):
            self.warnings.add(where + text)


def order(finding: Finding) -> tuple[bool, str, str]:
    """Return the sort key of findings: those that end the update first."""
    return not finding.mandatory, finding.policy, finding.message


def finding(event: Mapping[str, Any]) -> Finding:
    """Return a policy's finding; the pack's text begins with the policy's name and ends with its remedy."""
    policy = str(event.get("policyName") or "")
    text = _COLOUR.sub("", str(event.get("message") or "")).strip().removeprefix(f"{policy}: ")
    remedy = _REMEDIES.get(policy, "")
    if remedy and text.endswith(remedy):
        text = text.removesuffix(remedy).rstrip().removesuffix(".")
    else:
        remedy = ""
    return Finding(policy, event.get("enforcementLevel") == "mandatory", text, remedy)

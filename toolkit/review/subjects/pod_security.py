"""What namespaces demand of pods by Pod Security labels, and whether SCCs count in them at all."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from core.apis.kinds import NAMESPACE
from core.apis.names import POD_SECURITY, POD_SECURITY_SYNC, RUN_LEVEL
from policies.manifests.values import mapping
from policies.views.accounts import without_scc
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, names

_MODES = ("enforce", "audit", "warn")
_STRICT = ("privileged", "baseline", "restricted")
"""From the widest to the narrowest."""


def find(indexed: IndexedReview) -> Section | None:
    """Report which namespaces demand more or less of pods."""
    groups: dict[tuple[bool, tuple[str, ...], bool], list[str]] = defaultdict(list)
    for change in indexed.changed(NAMESPACE):
        if change.after is None:
            continue
        before, after = (_labels(resource) if resource else {} for resource in (change.before, change.after))
        new = change.before is None
        demands = tuple(_new(after) if new else _level_changes(before, after))
        space = change.after.object_name
        exempt = without_scc(space, after) and not (change.before and without_scc(space, before))
        if exempt:
            demands = (*demands, "admits pods without asking any SCC")
        ranks = [_rank(labels.get(f"{POD_SECURITY}enforce")) for labels in (before, after)]
        wider = exempt or (not new and ranks[1] < ranks[0])
        if demands:
            groups[new, demands, wider].append(space)
    lines = [
        Line(f"{'new ' if new else ''}namespace {names(sorted(spaces))}: {'; '.join(demands)}", alarm=wider)
        for (new, demands, wider), spaces in sorted(groups.items(), key=lambda item: (sorted(item[1]), item[0]))
    ]
    return section("Pod Security", lines, vital=True)


def _new(labels: Mapping[str, str]) -> Iterator[str]:
    level = labels.get(f"{POD_SECURITY}enforce")
    if level is not None:
        besides = {labels.get(f"{POD_SECURITY}{mode}") for mode in _MODES[1:]} - {None, level}
        warned = f" (audits and warns at {names(sorted(map(str, besides)))})" if besides else ""
        yield f"enforces {name(level)}{warned}"


def _level_changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for mode in _MODES:
        old, new = before.get(f"{POD_SECURITY}{mode}"), after.get(f"{POD_SECURITY}{mode}")
        if old != new:
            yield f"{mode}s {_level(new)} (was {_level(old)})"
    if before.get(POD_SECURITY_SYNC) != after.get(POD_SECURITY_SYNC):
        off = after.get(POD_SECURITY_SYNC) == "false"
        yield f"{'no longer lets' if off else 'lets'} OpenShift set these labels by the SCCs of its accounts"
    if before.get(RUN_LEVEL) != after.get(RUN_LEVEL):
        yield f"has run level {_level(after.get(RUN_LEVEL))}"


def _level(value: str | None) -> str:
    return "nothing" if value is None else name(value)


def _rank(level: str | None) -> int:
    return _STRICT.index(level) if level in _STRICT else 0


def _labels(resource: Resource) -> Mapping[str, str]:
    return {str(key): str(value) for key, value in mapping(resource.inputs, "metadata", "labels").items()}

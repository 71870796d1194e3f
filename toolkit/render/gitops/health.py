"""When an object of a wave is healthy: the program's own waits, for each kind, in Lua and in CEL (pure)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from components.base import waits
from components.jobs.outcome import FAILURE
from core.apis import kinds
from toolkit.render.gitops.expressions import parse
from toolkit.render.gitops.languages import LUA_PRELUDE, cel, lua
from toolkit.render.gitops.waves import Member

Expressions = tuple[str, ...]
FINISHED: Expressions = (waits.any_condition("Complete", FAILURE),)
"""A Job that has ended."""
ELSEWHERE: Mapping[str, Expressions] = {
    kinds.JOB.kind: FINISHED,
    kinds.PERSISTENT_VOLUME_CLAIM.kind: (waits.equals(".status.phase", "Bound"),),
}
"""Kinds that Argo CD judges itself, and by a rule that holds up some of the stack's objects; that of all others."""
_JOBS = (kinds.JOB.kind, kinds.MPI_JOB_V2BETA1.kind, kinds.TRAIN_JOB.kind)
_WORKLOADS = (
    kinds.DEPLOYMENT.kind,
    kinds.DAEMON_SET.kind,
    kinds.STATEFUL_SET.kind,
    kinds.CUSTOM_RESOURCE_DEFINITION.kind,
)


@dataclass(frozen=True)
class KindHealth:
    """How objects of a kind are judged."""

    api_version: str
    kind: str
    rules: Mapping[Expressions, tuple[str, ...]]
    """Rule -> `namespace/name` of the stack's objects that it judges; for a cluster's objects `/name`."""

    @property
    def group(self) -> str:
        """API group; empty for the core's."""
        return self.api_version.rpartition("/")[0]

    @property
    def others(self) -> Expressions:
        """The rule for objects that are not the stack's: what all of the stack's have in common."""
        common = [rule for rule in next(iter(self.rules)) if all(rule in other for other in self.rules)]
        return ELSEWHERE.get(self.kind, tuple(common))

    @property
    def failure(self) -> str | None:
        """The expression that holds once an object has failed for good."""
        return waits.any_condition(FAILURE) if self.kind in _JOBS else None


def by_kind(members: Iterable[Member]) -> list[KindHealth]:
    """Return the rules of the kinds that the members belong to, of those that need rules of their own."""
    rules: dict[tuple[str, str], dict[Expressions, list[str]]] = {}
    for member in members:
        kind, namespace, name = member.identity
        kind_rules = rules.setdefault((member.manifest["apiVersion"], kind), {})
        kind_rules.setdefault(member.waits, []).append(f"{namespace}/{name}")
    return [
        KindHealth(api_version, kind, {rule: tuple(sorted(objects)) for rule, objects in sorted(kind_rules.items())})
        for (api_version, kind), kind_rules in sorted(rules.items())
        if any(kind_rules) or kind in ELSEWHERE
    ]


def lua_script(health: KindHealth) -> str:
    """Return Argo CD's health check of a kind."""
    own = {rule: _listed(objects) for rule, objects in health.rules.items() if rule != health.others}
    lines = [LUA_PRELUDE.rstrip()]
    if own:
        lines.append('local object = (obj.metadata.namespace or "") .. "/" .. obj.metadata.name')
    if () in own:
        # Neither their end nor their failure is waited for.
        lines.append(f'if ({own.pop(())})[object] then return {{status = "Healthy"}} end')
    if health.failure:
        lines.append(f'if {lua(parse(health.failure))} then return {{status = "Degraded"}} end')
    lines += [
        f"local message = {_message(health.others)}",
        f"local healthy = function() {_lua_rule(health.others)} end",
    ]
    for rule, listed in own.items():
        lines += [
            f"if ({listed})[object] then",
            f"  message = {_message(rule)}",
            f"  healthy = function() {_lua_rule(rule)} end",
            "end",
        ]
    lines += [
        'if (get(obj.status, "observedGeneration") or generation) >= generation and healthy() then',
        '  return {status = "Healthy"}',
        "end",
        'return {status = "Progressing", message = message}',
    ]
    return "\n".join(lines) + "\n"


def _listed(objects: Sequence[str]) -> str:
    return "{" + ", ".join(f"[{json.dumps(name)}] = true" for name in objects) + "}"


def _lua_rule(rule: Expressions) -> str:
    return "return " + ("\n    and ".join(lua(parse(expression)) for expression in rule) or "true")


def _message(rule: Expressions) -> str:
    return json.dumps("waits until " + " and ".join(map(in_words, rule)) if rule else "")


def cel_expression(health: KindHealth, root: str = "") -> str:
    """Return Flux's expression for healthy objects of a kind; `root` is a variable that has the object."""
    if len(health.rules) == 1:
        return _cel_rule(next(iter(health.rules)), root)
    metadata = f"{root}.metadata" if root else "metadata"
    name = f'{metadata}.?namespace.orValue("") + "/" + {metadata}.name'
    return " ||\n".join(
        f"{name} in {json.dumps([*objects])} && ({_cel_rule(rule, root)})" for rule, objects in health.rules.items()
    )


def cel_failure(health: KindHealth) -> str | None:
    """Return Flux's expression for objects of a kind that have failed."""
    return cel(parse(health.failure)) if health.failure else None


def flux_checks(member: Member) -> bool:
    """Return whether Flux is to wait for an object: what the program waits for, and nothing else.

    It judges Jobs by its own rule, their end, so a Job that is only started is not waited for.
    """
    kind = member.manifest["kind"]
    return kind in _WORKLOADS or (bool(member.waits) and (kind != kinds.JOB.kind or member.waits == FINISHED))


def in_words(expression: str) -> str:
    """Return a wait expression for a page."""
    if expression.startswith("condition="):
        return f"condition {expression.removeprefix('condition=')} is True"
    path, _, value = expression.removeprefix("jsonpath={").rpartition("}")
    return f"`{path}` is {value.removeprefix('=')}" if value else f"`{path}` selects something"


def _cel_rule(rule: Expressions, root: str) -> str:
    return " &&\n".join(cel(parse(expression), root) for expression in rule) or "true"

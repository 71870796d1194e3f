"""Operators' custom objects that are not ready before an update touches them: a fact to know first. It only reads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.operators import OPERATORS
from policies.manifests.values import entries, is_mapping, read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.review.sentences import name, quoted

Object = Mapping[str, Any]
Look = Callable[[Kind], Sequence[Object]]
"""List a kind."""
_STATED = (kinds.CLUSTER_POLICY, kinds.NVIDIA_DRIVER, kinds.NIC_CLUSTER_POLICY, kinds.NIC_NODE_POLICY)
"""Kinds with one word in `status.state`, and the condition Ready."""
_CONDITIONS = {
    kinds.NODE_FEATURE_DISCOVERY_V1: "Available",
    kinds.NMSTATE: "Available",
    **{instance.kind: instance.condition for operator in OPERATORS.values() if (instance := operator.instance)},
}
"""Kinds with conditions: that which is True when all is well."""
_FAULTS = frozenset({"Degraded", "Error", "Failed", "ReconcileFailed"})
"""Conditions that are True when something is wrong."""


def sentences(look: Look) -> Iterator[str]:
    """Yield a sentence for each object that is not ready, with its state and what its operator reports."""
    for kind in (*_STATED, *_CONDITIONS):
        try:
            objects = look(kind)
        except RefusedError as error:
            yield f"Whether a {kind.kind} is ready could not be determined: {quoted(error.reason)}"
            continue
        for obj in objects:
            if why := _state(obj) if kind in _STATED else "; ".join(_messages(obj, _CONDITIONS[kind])):
                where = f"{kind.kind} {name(metadata.path(obj))}"
                yield f"{where} is not ready already, before this stack changes anything: {quoted(why)}"


def _state(obj: Object) -> str:
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
    return [_text(condition) for condition in sorted(wrong, key=lambda condition: not condition.get("message"))]


def _text(condition: Object) -> str:
    why = ": ".join(text for key in ("reason", "message") if (text := str(condition.get(key) or "").strip()))
    return f"{condition.get('type')} is {condition.get('status')}" + (f" ({why})" if why else "")


def _maps(obj: Object, field: str) -> list[Object]:
    return [entry for entry in entries(obj, "status", field) if is_mapping(entry)]

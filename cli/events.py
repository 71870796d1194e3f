"""The engine's own account of an update: one JSON object a line, read into what a person wants to know."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

VERBS = {
    "create": "created",
    "update": "updated",
    "delete": "deleted",
    "replace": "replaced",
    "create-replacement": "created anew",
    "delete-replaced": "deleted for its replacement",
    "discard-replaced": "forgotten for its replacement",
    "read": "read",
    "refresh": "read again",
    "import": "imported",
}
_DELETES = ("delete", "delete-replaced")
_KEPT = "left on the cluster"
_QUIET = {"same", "read", "refresh", "replace"}


@dataclass(frozen=True)
class Operation:
    """One operation of the engine on one resource, begun or ended; `seconds` is how long it took."""

    verb: str
    name: str
    seconds: float | None = None
    failed: bool = False


@dataclass(frozen=True)
class Message:
    """A remark of the engine, a plugin, the program or a policy; `severity` is error, warning or info."""

    severity: str
    text: str
    name: str = ""
    policy: str = ""


@dataclass
class Account:
    """What has happened so far in one run of the engine."""

    planned: int = 0
    done: int = 0
    preview: bool = True
    changes: dict[str, int] = field(default_factory=dict)
    running: dict[str, str] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    _begun: dict[str, float] = field(default_factory=dict)

    def take(self, event: dict[str, Any]) -> Iterator[Operation | Message]:
        """Take one event in, and yield what is worth a line."""
        for key, handle in _HANDLERS.items():
            if key in event:
                yield from handle(self, event[key], float(event.get("timestamp") or 0))

    def changed(self) -> str:
        """Say what the run changed, e.g. `2 created, 67 unchanged`."""
        counts = {
            "unchanged" if kind == "same" else VERBS.get(kind, kind): number for kind, number in self.changes.items()
        }
        return ", ".join(f"{number} {verb}" for verb, number in sorted(counts.items())) or "nothing to do"


def short(urn: str) -> str:
    """Name a resource for people: `Job mofed-test-job` of `urn:pulumi:dev::hpc::a$kubernetes:batch/v1:Job::x`."""
    *_, types, name = urn.split("::")
    return f"{types.rsplit('$', 1)[-1].rsplit(':', 1)[-1]} {name}"


def parse(line: str) -> dict[str, Any]:
    """Read one line; an unfinished or foreign one is an empty event."""
    try:
        event = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return event if isinstance(event, dict) else {}


def _begin(account: Account, event: dict[str, Any], when: float) -> Iterator[Operation | Message]:
    metadata = event["metadata"]
    # One resource may be under way twice, as a replacement is: the operation is part of the key.
    if event.get("planning"):
        account.planned += metadata["op"] not in _QUIET
    elif metadata["op"] not in _QUIET:
        account._begun[_key(metadata)] = when
        account.running[_key(metadata)] = short(metadata["urn"])
    yield from ()


def _end(account: Account, event: dict[str, Any], when: float) -> Iterator[Operation | Message]:
    metadata = event["metadata"]
    if event.get("planning") or metadata["op"] in _QUIET:
        return
    yield _ended(account, metadata, when, failed=False)


def _fail(account: Account, event: dict[str, Any], when: float) -> Iterator[Operation | Message]:
    metadata = event["metadata"]
    account.failed.append(short(metadata["urn"]))
    yield _ended(account, metadata, when, failed=True)


def _ended(account: Account, metadata: dict[str, Any], when: float, *, failed: bool) -> Operation:
    account.done += 1
    name = account.running.pop(_key(metadata), short(metadata["urn"]))
    seconds = when - account._begun.pop(_key(metadata), when)
    # The log's clock has whole seconds; so has this.
    account.durations[metadata["urn"]] = account.durations.get(metadata["urn"], 0) + seconds
    return Operation(_verb(metadata), name, seconds, failed)


def _verb(metadata: dict[str, Any]) -> str:
    """Return what happened; what is deleted with retain_on_delete only leaves the state."""
    op = metadata["op"]
    kept = op in _DELETES and (metadata.get("old") or {}).get("retainOnDelete")
    return _KEPT if kept else VERBS.get(op, op)


def _summary(account: Account, event: dict[str, Any], _: float) -> Iterator[Operation | Message]:
    account.changes = dict(event.get("resourceChanges") or {})
    account.preview = bool(event.get("isPreview"))
    yield from ()


def _diagnostic(account: Account, event: dict[str, Any], _: float) -> Iterator[Operation | Message]:
    severity = event.get("severity", "info")
    text = event.get("message", "")
    if event.get("ephemeral") or severity == "debug" or _about_plugins(text) or _cut_off(text):
        return
    yield from _say(account, severity, text, event.get("urn"))


def _about_plugins(text: str) -> bool:
    """Whether the engine says that a plugin comes from PATH: `./hpc` has said which ones are in use."""
    return text.startswith("using pulumi-") and "from $PATH" in text


def _cut_off(text: str) -> bool:
    """Whether the engine says only that something else's failure cut this off."""
    return _plain(text).strip().endswith("context canceled")


def _policy(account: Account, event: dict[str, Any], _: float) -> Iterator[Operation | Message]:
    mandatory = event.get("enforcementLevel") == "mandatory"
    policy = str(event.get("policyName", ""))
    # Without the resource: the pack's messages name their object.
    text = f"policy {policy}: {_plain(event.get('message', '')).strip()}"
    yield from _say(account, "error" if mandatory else "warning", text, None, policy)


def _say(account: Account, severity: str, text: str, urn: str | None, policy: str = "") -> Iterator[Message]:
    clean = _plain(text).strip()
    message = Message(severity.removesuffix("#err"), clean, short(urn) if urn else "", policy)
    # The update repeats what its preview said.
    if clean and message not in account.messages:
        account.messages.append(message)
        yield message


def _key(metadata: dict[str, Any]) -> str:
    return f"{metadata['op']} {metadata['urn']}"


def _plain(text: str) -> str:
    """Remove the engine's colour marks, `<{%red%}>` and the like."""
    while (begin := text.find("<{%")) >= 0 and (end := text.find("%}>", begin)) >= 0:
        text = text[:begin] + text[end + 3 :]
    return text


_HANDLERS = {
    "resourcePreEvent": _begin,
    "resOutputsEvent": _end,
    "resOpFailedEvent": _fail,
    "summaryEvent": _summary,
    "diagnosticEvent": _diagnostic,
    "policyEvent": _policy,
}

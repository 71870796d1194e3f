"""The engine's own account of an update: one JSON object a line, read into what a user wants to know."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from policies.rule import Undetermined
from toolkit.review.sentences import short_title

VERBS = {
    "create": "created",
    "update": "updated",
    "delete": "deleted",
    "replace": "replaced",
    "create-replacement": "recreated",
    "delete-replaced": "deleted for its replacement",
    "discard-replaced": "forgotten for its replacement",
    "read": "read",
    "refresh": "read again",
    "import": "imported",
}
_DELETES = ("delete", "delete-replaced")
_KEPT = "left on the cluster"
_STANDARD_ERROR = "info#err"
_ENDED = "an unhandled error occurred: program exited with non-zero exit code"
_PAGE = f"docs/reference/policies/README.md, {Undetermined.VALUE}"
_QUIET = {"same", "read", "refresh", "replace"}
_TRACEBACK = "Traceback (most recent call last):"
_BETWEEN = "During handling of the above exception, another exception occurred:"
_NEVER_AWAITED = "RuntimeWarning: coroutine 'RPCManager."
_ADVICE = "RuntimeWarning: Enable tracemalloc"


class HostOutput:
    """Standard error of the program, line by line, without the tracebacks of an interruption.

    The engine interrupts a program that still waits when an update ends early, and the official language host (3.250)
    lets Python print its KeyboardInterrupt: some 20 lines between the error and the verdict. A traceback is held until
    its last line shows what it is.
    """

    def __init__(self) -> None:
        self._held: list[str] = []
        self._interrupted = False
        self._warned = False

    def take(self, line: str) -> list[str]:
        """Return the lines that can be shown now."""
        text = line.rstrip("\n")
        if self._held:
            self._held.append(text)
            return [] if text[:1] in ("", " ", "\t") else self._ended(text)
        if text.startswith(_TRACEBACK):
            self._held = [text]
            return []
        if _NEVER_AWAITED in text:
            self._warned = True
            return []
        if self._warned and text[:1] in (" ", "\t"):
            return []
        if self._warned and text.startswith(_ADVICE):
            self._warned = False
            return []
        return [] if self._interrupted and text.startswith(_BETWEEN) else [text]

    def rest(self) -> list[str]:
        """Return what is still held: a traceback that was interrupted."""
        held, self._held = self._held, []
        return held

    def _ended(self, last: str) -> list[str]:
        held = self.rest()
        if last.startswith("KeyboardInterrupt"):
            self._interrupted = True
            return []
        return held


@dataclass(frozen=True)
class Operation:
    """One operation of the engine on one resource, started or ended; `seconds` is how long it took."""

    verb: str
    name: str
    seconds: float | None = None
    failed: bool = False


@dataclass(frozen=True)
class Message:
    """A message of the engine, a plugin, the program or a policy; `severity` is error, warning or info."""

    severity: str
    text: str
    name: str = ""
    policy: str = ""


@dataclass
class Account:
    """What has happened so far in one run of the engine."""

    planned: int = 0
    done: int = 0
    steps: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """What the engine did with each resource, by URN: op and type, and whether an existing object was retained."""
    running: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    ended: str | None = None
    """Why we have interrupted the engine; what it prints after that is about the interruption."""
    _unverified: set[str] = field(default_factory=set)
    _started: dict[str, float] = field(default_factory=dict)
    _host: HostOutput = field(default_factory=HostOutput)

    def take(self, event: dict[str, Any]) -> Iterator[Operation | Message]:
        """Take one event in, and yield what is worth a line."""
        for key, handle in _HANDLERS.items():
            if key in event:
                yield from handle(self, event[key], float(event.get("timestamp") or 0))

    def end(self, failure: str) -> None:
        """Note that the engine is interrupted for a failure that was read on the cluster."""
        self.ended = failure
        self.messages.append(Message("error", failure))

    def finish(self) -> Iterator[Message]:
        """Yield what was held back in case more came."""
        for line in self._host.rest():
            yield from _report(self, "info", line, None)
        if number := len(self._unverified):
            what = "1 value was" if number == 1 else f"{number} values were"
            again = "the update checks the objects again, with the values"
            yield from _report(
                self, "info", f"{what} unknown to the policies before the update; {again}: {_PAGE}", None
            )


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
    else:
        account.steps.setdefault(metadata["urn"], []).append(_step(metadata))
        if metadata["op"] not in _QUIET:
            account._started[_key(metadata)] = when
            account.running[_key(metadata)] = short_title(metadata["urn"])
    yield from ()


def _end(account: Account, event: dict[str, Any], when: float) -> Iterator[Operation | Message]:
    metadata = event["metadata"]
    if event.get("planning") or metadata["op"] in _QUIET:
        return
    yield _ended(account, metadata, when, failed=False)


def _fail(account: Account, event: dict[str, Any], when: float) -> Iterator[Operation | Message]:
    metadata = event["metadata"]
    account.failed.append(short_title(metadata["urn"]))
    yield _ended(account, metadata, when, failed=True)


def _ended(account: Account, metadata: dict[str, Any], when: float, *, failed: bool) -> Operation:
    account.done += 1
    name = account.running.pop(_key(metadata), short_title(metadata["urn"]))
    # The log's clock has whole seconds.
    seconds = when - account._started.pop(_key(metadata), when)
    return Operation(_verb(metadata), name, seconds, failed)


def _verb(metadata: dict[str, Any]) -> str:
    """Return what happened; what is deleted with retain_on_delete only leaves the state."""
    op = metadata["op"]
    kept = op in _DELETES and (metadata.get("old") or {}).get("retainOnDelete")
    return _KEPT if kept else VERBS.get(op, op)


def _step(metadata: dict[str, Any]) -> dict[str, Any]:
    old = metadata.get("old") or {}
    kept = {key: old[key] for key in ("retainOnDelete", "delete") if key in old}
    return {"op": metadata["op"], "type": metadata.get("type") or "", "old": kept}


def _diagnostic(account: Account, event: dict[str, Any], _: float) -> Iterator[Operation | Message]:
    severity = event.get("severity", "info")
    text = event.get("message", "")
    if event.get("ephemeral") or severity == "debug" or _about_plugins(text) or _cut_off(text):
        return
    if account.ended is not None or _reports_exit(account, text):
        return
    for line in account._host.take(_plain(text)) if severity == _STANDARD_ERROR else [text]:
        yield from _report(account, severity, line, event.get("urn"))


def _about_plugins(text: str) -> bool:
    """Whether the engine reports that a plugin comes from PATH: `./hpc` has printed which ones are in use."""
    return text.startswith("using pulumi-") and "from $PATH" in text


def _reports_exit(account: Account, text: str) -> bool:
    """Whether the engine reports only that the program has exited, which has printed why."""
    return _ENDED in text and any(message.severity == "error" for message in account.messages)


def _cut_off(text: str) -> bool:
    """Whether the engine reports only that something else's failure cut this off."""
    return _plain(text).strip().endswith("context canceled")


def _policy(account: Account, event: dict[str, Any], _: float) -> Iterator[Operation | Message]:
    mandatory = event.get("enforcementLevel") == "mandatory"
    policy = str(event.get("policyName", ""))
    if policy == Undetermined.VALUE and not mandatory:
        account._unverified.add(_plain(event.get("message", "")))
        return
    # Without the resource: the pack's messages name their object.
    text = f"policy {policy}: {_plain(event.get('message', '')).strip()}"
    yield from _report(account, "error" if mandatory else "warning", text, None, policy)


def _report(account: Account, severity: str, text: str, urn: str | None, policy: str = "") -> Iterator[Message]:
    clean = _plain(text).strip()
    message = Message(severity.removesuffix("#err"), clean, short_title(urn) if urn else "", policy)
    # The update repeats the messages of its preview.
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
    "diagnosticEvent": _diagnostic,
    "policyEvent": _policy,
}

"""The engine's event log, read."""

import json
from typing import Any

import pytest

from toolkit.cli.shared.events import Account, HostOutput, Message, Operation, parse
from toolkit.review.sentences import short_title

URN = "urn:pulumi:dev::hpc::hpc:workloads:MpiJob$kubernetes:kubeflow.org/v1alpha2:MPIJob::adas-nccl"


def _event(kind: str, op: str = "create", when: int = 0, **more: Any) -> dict[str, Any]:
    return {"timestamp": when, kind: {"metadata": {"op": op, "urn": URN}, **more}}


def _take(account: Account, *events: dict[str, Any]) -> list[Operation | Message]:
    return [item for event in events for item in account.take(event)]


def test_a_create_is_shown_once_with_its_time() -> None:
    """A create is shown once with its duration, and none of the preview."""
    account = Account()
    planned = _take(account, _event("resourcePreEvent", planning=True), _event("resOutputsEvent", planning=True))
    assert (planned, account.planned) == ([], 1)
    assert _take(account, _event("resourcePreEvent", when=10)) == []
    assert list(account.running.values()) == ["MPIJob adas-nccl"]
    assert _take(account, _event("resOutputsEvent", when=17)) == [Operation("created", "MPIJob adas-nccl", 7.0)]
    assert (account.running, account.done) == ({}, 1)


def test_a_replacement_is_two_operations() -> None:
    """A replacement is shown as a create and a delete, and the step `replace` is not shown."""
    account = Account()
    events = [
        _event(kind, op)
        for op in ("delete-replaced", "replace", "create-replacement")
        for kind in ("resourcePreEvent", "resOutputsEvent")
    ]
    shown = [item.verb for item in _take(account, *events) if isinstance(item, Operation)]
    assert shown == ["deleted for its replacement", "recreated"]


def test_what_only_leaves_the_state_is_not_called_deleted() -> None:
    """An object that only leaves the state is shown as retained, not as deleted."""
    event = _event("resOutputsEvent", "delete")
    assert [item.verb for item in _take(Account(), event) if isinstance(item, Operation)] == ["deleted"]
    event["resOutputsEvent"]["metadata"]["old"] = {"retainOnDelete": True}
    assert [item.verb for item in _take(Account(), event) if isinstance(item, Operation)] == ["left on the cluster"]


def test_unchanged_resources_are_not_shown() -> None:
    """Unchanged resources are not shown."""
    account = Account()
    assert _take(account, _event("resourcePreEvent", "same"), _event("resOutputsEvent", "same")) == []
    assert [each["op"] for each in account.steps[URN]] == ["same"]


def test_a_failure_names_its_resource() -> None:
    """A failed update names the object that failed."""
    account = Account()
    (ended,) = _take(account, _event("resOpFailedEvent", when=3))
    assert isinstance(ended, Operation)
    assert ended.failed
    assert account.failed == ["MPIJob adas-nccl"]


def test_messages_are_printed_once_and_plainly() -> None:
    """Messages are shown once, without colour codes, debugging output and repetitions of the preview."""
    account = Account()
    error = {"severity": "error", "message": "<{%fg 1%}>update failed<{%reset%}>\n", "urn": URN}
    debug = {"severity": "debug", "message": "registering resource"}
    path = {"severity": "warning", "message": "using pulumi-language-python from $PATH at /somewhere\n"}
    cut_off = {"severity": "error", "message": "failed to run remediation: context canceled", "urn": URN}
    events = [{"diagnosticEvent": event} for event in (cut_off, error, debug, path, error)]
    assert _take(account, *events) == [Message("error", "update failed", "MPIJob adas-nccl")]


def test_a_mandatory_policy_is_an_error() -> None:
    """A mandatory violation is an error with the name of its policy."""
    account = Account()
    message = "<{%fg 13%}>MPIJob adas/nccl: no<{%reset%}>\n"
    event = {"enforcementLevel": "mandatory", "policyName": "image-pinned", "message": message, "resourceUrn": URN}
    (said,) = _take(account, {"policyEvent": event}, {"policyEvent": event})
    assert said == Message("error", "policy image-pinned: MPIJob adas/nccl: no", policy="image-pinned")


def test_values_that_are_unknown_before_an_update_are_one_line() -> None:
    """Advisories about values that only the update brings are counted, each once, with the page that explains them."""
    account = Account()
    unverified = {"enforcementLevel": "advisory", "policyName": "unverified-value"}
    events = [{"policyEvent": {**unverified, "message": text}} for text in ("a", "b", "b")]
    assert _take(account, *events) == []
    (found,) = account.finish()
    assert found.severity == "info"
    assert found.text.startswith("2 values were unknown")
    assert "docs/reference/policies/README.md" in found.text
    (refused,) = _take(Account(), {"policyEvent": {**events[0]["policyEvent"], "enforcementLevel": "mandatory"}})
    assert isinstance(refused, Message)
    assert refused.severity == "error"


def test_unfinished_lines_are_passed_over() -> None:
    """An incomplete line, or one that is not an event, is skipped."""
    assert parse('{"sequence": 1, "diagn') == {}
    assert parse(json.dumps(["no event"])) == {}
    assert list(Account().take(parse(""))) == []


def test_short_names() -> None:
    """A short name is that of the object, not of its component."""
    assert short_title(URN) == "MPIJob adas-nccl"
    assert short_title("urn:pulumi:dev::hpc::pulumi:pulumi:Stack::hpc-dev") == "Stack hpc-dev"


def test_what_the_engine_prints_of_its_interruption_is_no_error_of_its_own() -> None:
    """After an interruption only the failure that caused it is an error."""
    account = Account()
    account.end("Subscription ns/nfd: no such channel")
    late = {"diagnosticEvent": {"severity": "error", "message": "resource is not ready, cancelled", "urn": URN}}
    assert _take(account, late) == []
    assert [message.text for message in account.messages] == ["Subscription ns/nfd: no such channel"]


def test_the_end_of_the_program_is_no_second_error() -> None:
    """The exit status of a program that has reported its error is not a second one; without a report it is."""
    ended = "an unhandled error occurred: program exited with non-zero exit code: 1"
    reason = "gpu_quota 24 exceeds the 16 GPUs"
    events = [{"diagnosticEvent": {"severity": "error", "message": text}} for text in (reason, ended)]
    reporting, silent = Account(), Account()
    assert [item for event in events for item in reporting.take(event)] == [Message("error", reason)]
    assert list(silent.take(events[1])) == [Message("error", ended)]


FRAMES = [
    '  File "/usr/lib/python3.11/asyncio/base_events.py", line 640, in run_until_complete',
    "    self.run_forever()",
]
TRACEBACK = "Traceback (most recent call last):"
BETWEEN = "During handling of the above exception, another exception occurred:"


def shown(*lines: str) -> list[str]:
    """Return what is shown of lines, at last."""
    output = HostOutput()
    return [found for line in lines for found in output.take(f"{line}\n")] + output.rest()


@pytest.mark.parametrize(
    "lines",
    [
        [TRACEBACK, *FRAMES, "KeyboardInterrupt"],
        [TRACEBACK, *FRAMES, "KeyboardInterrupt", BETWEEN, TRACEBACK, *FRAMES, "KeyboardInterrupt: "],
        [
            "/usr/lib/python3.11/asyncio/base_events.py:678: RuntimeWarning: coroutine "
            "'RPCManager.do_rpc.<locals>.rpc_wrapper' was never awaited",
            "  self._ready.clear()",
            "RuntimeWarning: Enable tracemalloc to get the object allocation traceback",
            TRACEBACK,
            *FRAMES,
            "KeyboardInterrupt",
        ],
    ],
    ids=["once", "twice", "with-warnings"],
)
def test_an_interruption_is_not_shown(lines: list[str]) -> None:
    """Between the error and the verdict there is nothing about the host; what comes before and after is shown."""
    assert shown("before", *lines, "after") == ["before", "after"]


def test_other_tracebacks_are_shown_whole() -> None:
    """The program's own errors, causes and warnings keep every line, and so does a traceback that was cut off."""
    lines = [TRACEBACK, *FRAMES, "ValueError: no nodes", BETWEEN, TRACEBACK, *FRAMES, "KeyError: 'node'"]
    assert shown(*lines) == lines
    assert shown("  indented", "RuntimeWarning: coroutine 'mine' was never awaited") == [
        "  indented",
        "RuntimeWarning: coroutine 'mine' was never awaited",
    ]
    assert shown(TRACEBACK, *FRAMES) == [TRACEBACK, *FRAMES]

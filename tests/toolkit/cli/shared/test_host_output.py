"""What of a program's standard error is shown."""

import pytest

from toolkit.cli.shared.host_output import HostOutput

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

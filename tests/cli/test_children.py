"""What becomes of the engine when ./hpc is ended: it is asked to end, and waited for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.children import TERMINATED
from tests.support.recorded import ROOT

ENGINE = """#!{python}
import os, pathlib, signal, sys, time
asked = []
signal.signal(signal.SIGINT, lambda *_: asked.append("SIGINT"))
here = pathlib.Path({here!r})
{says}
(here / "made").write_text(str(os.getpid()))
(here / "made").rename(here / "pid")
while not asked:
    time.sleep(0.01)
until = time.monotonic() + {linger}
while len(asked) < 2 and time.monotonic() < until:
    time.sleep(0.01)
(here / "end").write_text(" ".join(asked))
"""
CALLS = {
    "call": "call('stack')",
    "attended": "attended('up')",
    "watched": "watched('up', Path({log!r}), 'up')",
    "told": "told('preview', 'preview')",
}


def _ended(folder: Path, call: str, says: str = "") -> tuple[int, str, bool]:
    """Terminate a ./hpc that runs an engine; return its status, what the engine got, and whether the engine lives."""
    engine = folder / "pulumi"
    engine.write_text(ENGINE.format(python=sys.executable, here=str(folder), says=says, linger=0.8 if says else 0))
    engine.chmod(0o700)
    program = (
        "from pathlib import Path; import os; from cli.engine import Engine; "
        f"Engine(Path({str(engine)!r}), 'dev', dict(os.environ)).{CALLS[call].format(log=str(folder / 'log'))}"
    )
    ours = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 30
        while not (folder / "pid").exists():
            assert ours.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        pid = int((folder / "pid").read_text())
        ours.send_signal(signal.SIGTERM)
        if says:
            os.kill(pid, signal.SIGINT)
        status = ours.wait(timeout=30)
    finally:
        ours.kill()
        ours.wait()
    end = folder / "end"
    return status, end.read_text() if end.exists() else "", (Path("/proc") / str(pid)).exists()


@pytest.mark.parametrize("call", CALLS)
def test_a_termination_is_passed_on_and_the_engine_waited_for(tmp_path: Path, call: str) -> None:
    """Prevents a cancelled CI job from leaving an engine that nobody sees, and that holds the lock of the state."""
    assert _ended(tmp_path, call) == (TERMINATED, "SIGINT", False)


def test_an_engine_that_has_the_signal_gets_no_second_one(tmp_path: Path) -> None:
    """Prevents a termination of all processes of a job from being taken as the wish to drop what is under way."""
    assert _ended(tmp_path, "watched", 'print("SIGTERM received; cancelling.", flush=True)') == (
        TERMINATED,
        "SIGINT",
        False,
    )

"""The engine when ./hpc is terminated: it gets the signal, and is waited for."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.recorded import ROOT
from toolkit.cli.shared.engine import TERMINATED, Engine

pytestmark = pytest.mark.engine  # a program in the place of the engine: processes, too slow for the unit layer

ENGINE = """#!{python} -S
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
    "run_interactively": "run_interactively('up')",
    "run_update": "run_update('up', Path({log!r}), 'up')",
    "run_preview": "run_preview('preview', 'preview')",
}


def _ended(folder: Path, call: str, says: str = "") -> tuple[int, str, bool]:
    """Terminate a ./hpc that runs an engine; return its status, what the engine got, and whether the engine lives."""
    engine = folder / "pulumi"
    engine.write_text(ENGINE.format(python=sys.executable, here=str(folder), says=says, linger=0.8 if says else 0))
    engine.chmod(0o700)
    program = (
        "from pathlib import Path; import os; from toolkit.cli.shared.engine import Engine; "
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
    """A termination is passed on to the engine, and ./hpc exits after it."""
    assert _ended(tmp_path, call) == (TERMINATED, "SIGINT", False)


def test_an_engine_that_has_the_signal_gets_no_second_one(tmp_path: Path) -> None:
    """An engine that has received the signal itself gets no second one, which would stop it at once."""
    assert _ended(tmp_path, "run_update", 'print("SIGTERM received; cancelling.", flush=True)') == (
        TERMINATED,
        "SIGINT",
        False,
    )


class _Observer:
    """Finds a failure as soon as the engine runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def failure(self) -> str | None:
        """Return the failure."""
        return "Subscription ns/nfd: no such channel" if (self._folder / "pid").exists() else None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take no event."""

    def notes(self) -> list[str]:
        """Return no notes."""
        return []


def test_a_failure_beside_the_engine_interrupts_it_once(tmp_path: Path) -> None:
    """A failure interrupts the engine once, as twice would drop what is under way, and is the update's first error."""
    engine = tmp_path / "pulumi"
    engine.write_text(ENGINE.format(python=sys.executable, here=str(tmp_path), says="", linger=0.8))
    engine.chmod(0o700)
    status, account = Engine(engine, "dev", dict(os.environ)).run_update(
        "up", tmp_path / "log", "up", observer=_Observer(tmp_path)
    )
    assert (tmp_path / "end").read_text() == "SIGINT"
    assert status == 0
    assert [message.text for message in account.messages] == ["Subscription ns/nfd: no such channel"]
    assert account.ended == "Subscription ns/nfd: no such channel"

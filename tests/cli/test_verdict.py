"""The last message of an update that failed."""

from pathlib import Path

import pytest

from cli.commands.up import verdict
from cli.events import Account, Message
from cli.stack import read


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path))


def test_violations_are_not_said_again() -> None:
    """Every violation printed twice, and a count of those left out that counts `preview failed`."""
    said = [Message("error", f"policy image-pinned: Pod a/{number}: no", policy="image-pinned") for number in range(9)]
    said += [
        Message("error", "policy valid-names: Pod a/x: no", policy="valid-names"),
        Message("error", "preview failed"),
    ]
    lines = verdict(read("dev", "x"), Account(messages=said), []).splitlines()
    assert lines[1] == "mandatory policies, 10 violations, all above: image-pinned (9), valid-names (1)"
    assert lines[2] == "`./hpc status --stack dev --name x` shows what is on the cluster."


def test_other_errors_name_their_object() -> None:
    """A server's refusal without the object that it refused, or a list that fills the screen."""
    said = [Message("error", f"no {number}", "Job x") for number in range(8)]
    lines = verdict(read("dev"), Account(messages=[*said, Message("error", "update failed")]), []).splitlines()
    assert lines[1] == "Job x: no 0"
    assert lines[7] == "... and 2 more, above"
    assert lines[8] == "`./hpc status --stack dev` shows what is on the cluster."


def test_what_is_there_already_has_a_way_into_the_state() -> None:
    """AlreadyExists after a lost connection, each time, with no word of the command that ends it."""
    said = [Message("error", 'configmaps "a" already exists', "ConfigMap a")]
    assert "`./hpc state repair --stack dev`" in verdict(read("dev"), Account(messages=said), [])

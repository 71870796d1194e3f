"""The last message of an update that failed."""

import pytest

from cli.shared.events import Account, Message
from cli.shared.stack import read
from cli.up.command import verdict

pytestmark = pytest.mark.usefixtures("sim_home")


def test_violations_are_not_said_again() -> None:
    """Violations are counted by policy, and not printed again."""
    said = [Message("error", f"policy image-pinned: Pod a/{number}: no", policy="image-pinned") for number in range(9)]
    said += [
        Message("error", "policy valid-names: Pod a/x: no", policy="valid-names"),
        Message("error", "preview failed"),
    ]
    lines = verdict(read("dev", "x"), Account(messages=said), []).splitlines()
    assert lines[1] == "mandatory policies, 10 violations, all above: image-pinned (9), valid-names (1)"
    assert lines[2] == "`./hpc status --stack dev --name x` shows what is on the cluster."


def test_other_errors_name_their_object() -> None:
    """Other errors name their object; the first ones are shown, and the rest counted."""
    said = [Message("error", f"no {number}", "Job x") for number in range(8)]
    lines = verdict(read("dev"), Account(messages=[*said, Message("error", "update failed")]), []).splitlines()
    assert lines[1] == "Job x: no 0"
    assert lines[7] == "... and 2 more, above"
    assert lines[8] == "`./hpc status --stack dev` shows what is on the cluster."


def test_what_is_there_already_has_a_way_into_the_state() -> None:
    """After AlreadyExists the command that repairs the state is named."""
    said = [Message("error", 'configmaps "a" already exists', "ConfigMap a")]
    assert "`./hpc state repair --stack dev`" in verdict(read("dev"), Account(messages=said), [])

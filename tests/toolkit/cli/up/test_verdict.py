"""The last message of an update that failed."""

import pytest

from tests.support.messages import has
from toolkit.cli.shared.events import Account, Message
from toolkit.cli.shared.stack import read
from toolkit.cli.up.command import verdict

pytestmark = pytest.mark.usefixtures("sim_home")


def test_violations_are_not_repeated() -> None:
    """Violations are counted by policy, and not printed again."""
    messages = [
        Message("error", f"policy image-pinned: Pod a/{number}: no", policy="image-pinned") for number in range(9)
    ]
    messages += [
        Message("error", "policy valid-names: Pod a/x: no", policy="valid-names"),
        Message("error", "preview failed"),
    ]
    lines = verdict(read("dev", "x"), Account(messages=messages), []).splitlines()
    assert has(lines[1], "10 violations", "image-pinned (9)", "valid-names (1)")
    assert "`./hpc status --stack dev --name x`" in lines[2]


def test_other_errors_name_their_object() -> None:
    """Other errors name their object; the first ones are shown, and the rest counted."""
    messages = [Message("error", f"no {number}", "Job x") for number in range(8)]
    lines = verdict(read("dev"), Account(messages=[*messages, Message("error", "update failed")]), []).splitlines()
    assert lines[1] == "Job x: no 0"
    assert "2 more" in lines[7]
    assert "`./hpc status --stack dev`" in lines[8]


def test_what_is_there_already_has_a_way_into_the_state() -> None:
    """After AlreadyExists the command that repairs the state is named."""
    messages = [Message("error", 'configmaps "a" already exists', "ConfigMap a")]
    assert "`./hpc state repair --stack dev`" in verdict(read("dev"), Account(messages=messages), [])

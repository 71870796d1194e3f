"""The language host in use does with programs what the official one was recorded to do."""

from pathlib import Path

import pytest

from tests.contract.language.cases import Case, cases, record
from tests.contract.language.runs import Desk
from toolkit.engine.plugins.locate import LANGUAGE, plugin_choice

pytestmark = pytest.mark.engine

_SIGNAL = "the error names the signal that ended the program, where the official one is exit code -1"
_SDK = "the error names the interpreter that has no SDK, and what to do"

DIFFERENCES: dict[str, str] = {
    "keyboard-interrupt": _SIGNAL,
    "killed": _SIGNAL,
    "terminated": _SIGNAL,
    "aborted": _SIGNAL,
    "environment-without-sdk": _SDK,
    "sdk-of-the-path": _SDK,
}
"""Where the stand-in differs from the official host on purpose, by case, with the reason."""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Give the empty stack that every case's own is a copy of."""
    return Desk(tmp_path_factory.mktemp("empty") / "desk").start()


@pytest.mark.parametrize(("name", "case"), cases().items(), ids=cases())
def test_outcome_is_as_recorded(name: str, case: Case, empty: Desk, tmp_path: Path) -> None:
    """A stand-in may differ where a difference is listed with its reason, and must differ there."""
    found, recorded = empty.copy(tmp_path).run(case), record().outcomes[name]
    if plugin_choice().find(LANGUAGE).official or name not in DIFFERENCES:
        assert found == recorded
    else:
        assert found != recorded, f"{name} is listed as a difference, and is none any more: {DIFFERENCES[name]}"


def test_differences_are_of_cases() -> None:
    """A reason that belongs to no case would count as one of the few that are allowed."""
    assert set(DIFFERENCES) <= set(cases())
    assert len(set(DIFFERENCES.values())) <= 10
    assert set(record().outcomes) == set(cases())

"""What a user is given of an error."""

import pytest

from stacks.loading.settings import SettingsError
from toolkit.cli.shared.errors import Problem, explain
from toolkit.engine.errors import SimulatorError
from toolkit.render.manifests import FolderError


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (OSError(28, "No space left on device", "/some/file"), "Free some space"),
        (PermissionError(13, "Permission denied", "/some/file"), "HPC_SIM_HOME"),
        (Problem("what", "remedy"), "what\nremedy"),
    ],
)
def test_errors_of_users_have_a_remedy(error: Exception, part: str) -> None:
    """Errors that a user can correct are explained with a remedy."""
    assert part in (explain(error) or "")


@pytest.mark.parametrize("kind", [FolderError, SettingsError, SimulatorError])
def test_errors_of_users_are_known_by_name(kind: type[Exception]) -> None:
    """The errors of every room that a user can correct are explained by their message."""
    assert explain(kind("what to do")) == "what to do"


def test_faults_of_the_program_keep_their_traceback() -> None:
    """Any other error is not explained, and keeps its traceback."""
    assert explain(KeyError("x")) is None

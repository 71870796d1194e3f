"""Which options go with what `./hpc verify` judges."""

import pytest

from toolkit.cli.shared.errors import Problem
from toolkit.cli.verify import modes
from toolkit.cli.verify.modes import Mode


def test_what_is_judged_follows_from_logs_nodes_and_history() -> None:
    """Logs and --nodes make four modes, --history the fifth."""
    assert modes.chosen(logs=False, nodes=False, history=False) is Mode.JOBS
    assert modes.chosen(logs=True, nodes=False, history=False) is Mode.LOGS
    assert modes.chosen(logs=False, nodes=True, history=False) is Mode.NODES
    assert modes.chosen(logs=True, nodes=True, history=False) is Mode.NODES_OF_LOGS
    assert modes.chosen(logs=True, nodes=False, history=True) is Mode.ROUNDS
    with pytest.raises(Problem, match="--nodes and --history exclude each other"):
        modes.chosen(logs=False, nodes=True, history=True)


@pytest.mark.parametrize(
    ("mode", "option", "message"),
    [
        (Mode.JOBS, "profile", "--profile is for the logs of a job.*, and these are the jobs of a stack"),
        (Mode.LOGS, "wait", "--wait is for jobs and nodes of a stack, and these are the logs of a job"),
        (Mode.NODES, "sharp", "--sharp is for the logs of a job.*, and this is --nodes of a stack"),
        (Mode.NODES_OF_LOGS, "cordon", "--cordon is for --nodes of a stack, and this is --nodes of logs"),
        (Mode.ROUNDS, "layout", "--layout is for the logs of a job.*, and this is --history"),
    ],
)
def test_an_option_that_does_not_fit_is_named_with_what_is_judged(mode: Mode, option: str, message: str) -> None:
    """An option of another mode is refused; one that is not given is not."""
    modes.require_fitting(mode, {option: None})
    modes.require_fitting(mode, {option: False})
    with pytest.raises(Problem, match=rf"{message}\n.*[oO]mit --{option}\."):
        modes.require_fitting(mode, {option: 0.0})


def test_yes_is_for_cordon() -> None:
    """--yes goes where --cordon goes, and alone nowhere."""
    modes.require_fitting(Mode.NODES, {"cordon": True, "yes": True})
    with pytest.raises(Problem, match=r"--yes is for --cordon.*\nAdd --cordon, or omit --yes"):
        modes.require_fitting(Mode.NODES, {"cordon": False, "yes": True})

"""`./hpc plan`."""

from typer.testing import CliRunner

from toolkit.cli.app import app


def test_each_job_has_its_place_and_its_time_line() -> None:
    """Where a job fits, what restarts it, and what the loss of a node costs; the assumptions are printed once."""
    done = CliRunner().invoke(app, ["plan", "--stack", "pytorch"], env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.output
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert "1 training/train-torch-02x08 02x08 16 dgx01: 1, dgx02: 1" in lines
    for row in ("train-torch-02x08 3 x all 80 s 660 s - all pods again", "train-horovod-02x08 none 80 s 480 s - fails"):
        assert sum(line.startswith(f"training/{row}") for line in lines) == 1, done.output
    assert sum("the cluster waits 50 s" in line for line in lines) == 1


def test_a_job_goes_on_when_its_node_is_fenced() -> None:
    """Where the stack has lost nodes remedied, their pods are gone after a known time, which is printed once."""
    done = CliRunner().invoke(app, ["plan", "--stack", "mixed"], env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.output
    # 50 s of silence, 120 s of the sign, 180 s for the restart, 20 s of the pod garbage collector.
    assert done.output.count("pods of a lost node are gone after 370 s") == 1

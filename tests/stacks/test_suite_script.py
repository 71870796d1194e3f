"""The script of a suite, with a client that remembers what it was asked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.apis.suite import SCRIPT
from stacks.programs import SCRIPTS
from tests.support import debian

pytestmark = pytest.mark.engine  # no engine, but processes: too slow for the unit layer

CLIENT = """#!{python} -S
import json, os, pathlib, sys
home = pathlib.Path(os.environ["HPC_FOLDER"])
words = sys.argv[3:]  # after --namespace
with (home / "calls").open("a") as calls:
    print(*words, file=calls)
if words[0] == "create":
    name = json.load(sys.stdin)["name"]
    with (home / "created").open("a") as created:
        print(name, file=created)
    sys.exit(name.startswith("refused"))
if words[0] == "get" and "-l" in words:
    print(*os.environ["ROUNDS"].split(), sep="\\n")
elif words[0] == "get":
    ends = {{"good": "SuccessCriteriaMet\\nComplete", "mpi": "Created\\nSucceeded", "bad": "FailureTarget\\nFailed"}}
    print(ends.get(words[2].partition("-")[0], "Created"))
"""


def run(folder: Path, *jobs: str, repeats: int = 2, keep: int = 2, rounds: str = "") -> tuple[int, str, list[str]]:
    """Run the script for jobs; return its exit status, what it printed, and the calls of the client."""
    (folder / "bin").mkdir()
    client = folder / "bin" / "oc"
    client.write_text(CLIENT.format(python=sys.executable))
    client.chmod(0o755)
    for job in jobs:
        (folder / f"{job}.json").write_text(f'{{"name": "{job}-yymmddhhmm-n", "round": "yymmddhhmm"}}')
    plan = (f"{job}.json jobs.v1.batch {job}-yymmddhhmm-n 2 {job},{job}-pods\n" for job in jobs)
    (folder / "plan").write_text("".join(plan))
    variables = {
        "PATH": f"{folder}/bin{os.pathsep}{os.environ['PATH']}",
        "HPC_FOLDER": str(folder),
        "HPC_NAMESPACE": "adas",
        "HPC_SUITE": "suite",
        "HPC_REPEATS": str(repeats),
        "HPC_KEEP": str(keep),
        "HPC_POLL": "1",
        "HPC_RESOURCES": "jobs.v1.batch,services",
        "ROUNDS": rounds,
    }
    done = subprocess.run(
        ["/bin/sh", SCRIPTS / SCRIPT], env=variables, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout + done.stderr, (folder / "calls").read_text().splitlines()


def created(folder: Path) -> list[str]:
    """Return the names that were created, the rounds' time as ROUND."""
    return ["-ROUND-".join(name.rsplit("-", 2)[::2]) for name in (folder / "created").read_text().split()]


def test_repeats_of_a_job_have_the_others_between_them(tmp_path: Path) -> None:
    """Each job runs once before any runs again, after the end of the one before it."""
    status, printed, calls = run(tmp_path, "good", "mpi")
    assert status == 0, printed
    assert created(tmp_path) == ["good-ROUND-1", "mpi-ROUND-1", "good-ROUND-2", "mpi-ROUND-2"]
    assert [call.split()[0] for call in calls] == ["create", "get"] * 4 + ["get"]
    assert "mpi-" in printed
    assert "ended: Succeeded" in printed


@pytest.mark.parametrize(("job", "expected"), [("bad", "ended: Failed"), ("refused", "could not be created")])
def test_a_run_that_fails_does_not_end_the_round(tmp_path: Path, job: str, expected: str) -> None:
    """The others are measured, and the runner's own Job fails at the end."""
    status, printed, _ = run(tmp_path, job, "good", repeats=1)
    assert status == 1
    assert created(tmp_path) == [f"{job}-ROUND-1", "good-ROUND-1"]
    assert expected in printed
    assert "1 of its runs failed" in printed


def test_a_run_that_does_not_end_is_deleted(tmp_path: Path) -> None:
    """It would hold GPUs, or a place in the queue, while the others are measured."""
    status, printed, calls = run(tmp_path, "endless", repeats=1)
    assert status == 1
    assert "has not ended after 2 s; it is deleted" in printed
    (delete,) = (call for call in calls if call.startswith("delete"))
    assert "hpc.pulumi/suite-job in (endless,endless-pods)" in delete
    assert "hpc.pulumi/suite=suite,hpc.pulumi/suite-run=" in delete
    assert delete.endswith("--wait=false")


def test_the_newest_rounds_stay(tmp_path: Path) -> None:
    """Of four rounds two are kept; several objects of a round are deleted at once."""
    _, printed, calls = run(
        tmp_path, "good", repeats=1, rounds="2611010200 2611150200 2611080200 2611010200 2611220200"
    )
    deleted = [call.split()[3] for call in calls if call.startswith("delete")]
    assert deleted == [f"hpc.pulumi/suite=suite,hpc.pulumi/suite-round={old}" for old in ("2611080200", "2611010200")]
    assert "round 2611010200 is deleted: 2 newer ones are kept" in printed


def test_shellcheck_has_nothing_against_it() -> None:
    """It is POSIX: any shell of an image runs it."""
    done = subprocess.run(
        [debian.program("shellcheck"), "--shell=sh", SCRIPTS / SCRIPT],
        env=debian.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""
    assert done.returncode == 0

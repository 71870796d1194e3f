"""The reader of data sets in simulated pods: it is run on files of this machine, and on nothing else."""

import hashlib
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from core.apis.names import SIMULATED
from stacks.programs import PROGRAMS
from tests.support.mutated import only
from tests.toolkit.simulator.performance.jobs import launch
from toolkit.evidence.tools.shared_data import SharedData
from toolkit.simulator.performance import pod_commands
from toolkit.simulator.performance.data_set import SCRIPT
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed

FILES = {"a.png": b"picture", "b.png": b"label", "c.png": b"another"}


@pytest.fixture(name="volume")
def _volume(tmp_path: Path) -> tuple[Path, str]:
    """Return a folder with files and their list, and the list's digest."""
    listed = "".join(f"{name}\t{len(content)}\n" for name, content in FILES.items()).encode()
    digest = hashlib.sha256(listed).hexdigest()
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / ".hpc/lists").mkdir(parents=True)
    (tmp_path / f".hpc/lists/{digest}.list").write_bytes(listed)
    return tmp_path, digest


def reader(what: str, digest: str, *more: str) -> list[str]:
    """Return the reader's command line."""
    counts = ("--files", "3", "--bytes", str(sum(map(len, FILES.values()))))
    return [
        "python3",
        "-c",
        SCRIPT.read_text(),
        what,
        "--name",
        "x",
        "--digest",
        digest,
        "--root",
        "/set",
        *counts,
        *more,
    ]


def run(words: list[str], files: dict[str, Path], **environment: str) -> Printed:
    """Return what a pod with such volumes prints."""
    job: Launched = launch(2, 8)
    pods = tuple(replace(each, files=files) for each in job.workers)
    return pod_commands.simulate(
        replace(job, words=tuple(words), me=pods[0], workers=pods, processes=(pods[0],), environment=environment)
    )


def test_a_pod_proves_what_it_sees(volume: tuple[Path, str]) -> None:
    """The line has the list's digest and counts; the program that follows in the shell starts after it."""
    folder, digest = volume
    script = f"{shlex.join(reader('check', digest))};exec whoami"
    done = run(["/bin/sh", "-ec", script], {"/set": folder})
    assert done.exit_code == 0
    assert f"hpc-data name=x digest={digest} files=3 bytes=19 cached=" in done.lines[0]
    assert len(done.lines) == 2


def test_a_missing_file_ends_the_pod(volume: tuple[Path, str]) -> None:
    """The program does not start, and the log names the file."""
    folder, digest = volume
    (folder / "b.png").unlink()
    done = run(["/bin/sh", "-ec", f"{shlex.join(reader('check', digest))};exec whoami"], {"/set": folder})
    assert (done.exit_code, len(done.lines)) == (1, 1)
    assert "kind=files-missing" in done.lines[0]
    assert "b.png" in done.lines[0]


def test_a_slice_is_the_one_of_the_pods_index(volume: tuple[Path, str]) -> None:
    """Pod 1 of 2 reads every second file from the second on."""
    folder, digest = volume
    done = run(reader("stage", digest, "--slices", "2"), {"/set": folder}, JOB_COMPLETION_INDEX="1")
    assert f"slice=1/2 files=1 bytes={len(FILES['b.png'])}" in done.lines[0]


def test_without_files_nothing_is_claimed() -> None:
    """A volume that is simulated alone proves nothing, and the log says so."""
    (line,) = run(reader("check", "0" * 64), {}).lines
    assert line.startswith(SIMULATED)
    assert "nothing is read or proved" in line


def test_mpirun_proves_once_for_each_pod(volume: tuple[Path, str]) -> None:
    """Each pod that has ranks starts the reader."""
    folder, digest = volume
    gate = f'[ "${{OMPI_COMM_WORLD_LOCAL_RANK:-0}}" != 0 ]||{shlex.join(reader("check", digest))};exec whoami'
    job: Launched = launch(2, 8)
    pods = tuple(replace(each, files={"/set": folder}) for each in job.workers)
    words = ("mpirun", "-np", "2", "/bin/sh", "-ec", gate)
    done = pod_commands.simulate(replace(job, words=words, workers=pods))
    hosts = [line.rpartition("host=")[2] for line in done.lines if line.startswith("hpc-data")]
    assert hosts == [pod.name for pod in pods]


def test_no_other_program_is_run(tmp_path: Path) -> None:
    """A pod's own Python text is not started on this machine."""
    mark = tmp_path / "mark"
    assert run(["python3", "-c", f"open({str(mark)!r}, 'w')", "check"], {"/set": tmp_path}).lines == ()
    assert not mark.exists()


@pytest.mark.parametrize(("claims", "code", "results"), [(("data",), 0, {"same"}), ((), 1, {"not seen"})])
def test_pods_of_one_claim_share_files(claims: tuple[str, ...], code: int, results: set[str]) -> None:
    """The program's own script runs in the simulated shell; what its pods see depends on their volumes."""
    words = ("mpirun", "-np", "2", *PROGRAMS["shared-data"].command)
    done = pod_commands.simulate(replace(launch(2, 8, worker={"claims": claims}), words=words))
    assert done.exit_code == code
    found = only(SharedData, "\n".join(line for line in done.lines if line.startswith("shared-data: rank")))
    assert {row.result for row in found.rows} == results

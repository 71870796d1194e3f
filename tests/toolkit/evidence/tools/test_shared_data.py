"""shared-data: its lines, and the program itself in a real shell."""

import os
import subprocess
from pathlib import Path

import pytest

from stacks.programs import PROGRAMS
from tests.support.mutated import mutations, only, read_text
from toolkit.evidence.criteria import CRITERIA
from toolkit.evidence.judge import evaluate
from toolkit.evidence.tools.shared_data import SharedData
from toolkit.evidence.verdict import Ended, Job, Request, Status

(SHARED,) = (one for one in CRITERIA if one.name == "shared-data")
LOG = (Path(__file__).parent.parent / "logs" / "shared-data" / "shared-data.pass.log").read_text()


def judged(log: str, nodes: tuple[str, ...]) -> Status | None:
    """Return how a log comes out."""
    request = Request(job="job", program="shared-data", prints=("shared-data",), nodes=nodes)
    found = evaluate(SHARED, Job(request=request, ended=Ended.SUCCEEDED, readings=read_text(log)))
    return found.status if found else None


@pytest.mark.parametrize(
    ("log", "nodes", "status"),
    [
        (LOG, ("dgx01", "dgx02"), Status.PASS),
        (LOG, ("dgx01",), Status.WARN),
        (LOG.replace("read rank 0: same", "read rank 0: not seen"), (), Status.FAIL),
        (LOG.rpartition("shared-data: rank 1")[0], ("dgx01", "dgx02"), Status.MISSING),
        ("shared-data: rank 0 of 1 on a wrote 64 MiB\n", ("dgx01", "dgx02"), Status.MISSING),
    ],
)
def test_only_files_between_nodes_pass(log: str, nodes: tuple[str, ...], status: Status) -> None:
    """One node alone shows nothing, a file that is not seen fails, and a file that no rank read is missing evidence."""
    assert judged(log, nodes) is status


def test_damaged_logs_do_not_raise() -> None:
    """Damaged logs add no rank."""
    for raw in mutations(LOG, 200):
        for one in read_text(raw):
            assert not isinstance(one, SharedData) or one.writers <= 2


def run(folder: Path, ranks: int, *, alone: bool = False, tries: int = 2400) -> tuple[list[int], SharedData]:
    """Run the program's own script as so many ranks, in a folder of each where they are `alone`."""
    shell, option, script = PROGRAMS["shared-data"].command
    started = []
    for rank in range(ranks):
        volume = folder / (str(rank) if alone else "shared")
        volume.mkdir(exist_ok=True)
        own = script
        for theirs, ours in (
            ("/workspace", str(volume)),
            ("mib=64", "mib=1"),
            ("-lt 120", f"-lt {tries}"),
            ("sleep 1", "sleep 0.05"),
        ):
            assert theirs in own
            own = own.replace(theirs, ours)
        variables = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(ranks), "PMIX_NAMESPACE": "a-1@2"}
        started.append(
            subprocess.Popen([shell, option, own], env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True)
        )
    printed = [process.communicate()[0] for process in started]
    return [process.returncode for process in started], only(SharedData, "".join(printed))


def test_the_script_reads_what_others_wrote(tmp_path: Path) -> None:
    """Ranks on one volume read each other's files, and leave none behind."""
    codes, found = run(tmp_path, 3)
    assert (codes, found.complete, found.writers, len(found.rows)) == ([0, 0, 0], True, 3, 6)
    assert {row.result for row in found.rows} == {"same"}
    assert not [*(tmp_path / "shared" / ".shared-data").iterdir()]


def test_the_script_fails_where_volumes_are_not_shared(tmp_path: Path) -> None:
    """Ranks on volumes of their own see nothing of each other, and end with an error."""
    codes, found = run(tmp_path, 2, alone=True, tries=2)
    assert codes == [1, 1]
    assert {row.result for row in found.rows} == {"not seen"}

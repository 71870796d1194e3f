"""torchrun: each pod waits for all, and prints what its own ranks do."""

from dataclasses import replace

import pytest

from tests.toolkit.simulator.performance.jobs import NEW, launch
from toolkit.simulator.performance import pod_commands
from toolkit.simulator.performance.job import Launched

PET = {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "8", "NCCL_DEBUG": "INFO"}


def pod(number: int, *, together: int = 2, words: tuple[str, ...] = ("torchrun", "train.py")) -> Launched:
    """Return one pod of a job over two machines, of whose pods so many are there."""
    job = launch(2, 8, image=NEW, profile="dgx-h100")
    return replace(job, me=job.workers[number], workers=job.workers[:together], words=words, environment=PET, slots={})


def test_each_pod_prints_its_own_ranks() -> None:
    """The first pod has the lines of rank 0 to 7 and NCCL's version, the second those of rank 8 to 15."""
    first, second = (pod_commands.simulate(pod(number)).lines for number in (0, 1))
    assert any(line.startswith("NCCL version") for line in first)
    assert all(line.startswith("job-worker-1:") for line in second)
    for lines, ranks in ((first, range(8)), (second, range(8, 16))):
        done = [line for line in lines if "Init COMPLETE" in line]
        assert [int(line.split(" rank ")[1].split()[0]) for line in done] == [*ranks]


def test_a_pod_waits_for_the_others() -> None:
    """The rendezvous needs all nodes: until they are there the pod prints nothing and has no end."""
    alone = pod_commands.simulate(pod(0, together=1))
    assert (alone.waits, alone.lines) == (True, ())


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("torchrun", "--rdzv-backend=c10d", "--max-restarts", "0", "train.py", "--epochs=1"), 0),
        (("/bin/sh", "-c", "exec torchrun train.py"), 0),
        (("torchrun", "--nnodes=2"), 2),
    ],
)
def test_the_script_follows_the_options(words: tuple[str, ...], code: int) -> None:
    """Options of torchrun are not the script; without a script it ends with status 2."""
    done = pod_commands.simulate(pod(0, words=words))
    assert done.exit_code == code
    assert bool(done.message) is bool(code)

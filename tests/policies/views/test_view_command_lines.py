"""Reading mpirun out of command lines."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.manifests.objects import Obj
from policies.manifests.pods import Container
from policies.views.command_lines import Mpirun, calls, commands
from policies.views.mpi_jobs import gpus_per_process

LINE = "mpirun -np 16 -bind-to none -x NCCL_DEBUG=INFO -x PATH -mca btl ^openib python main.py -x no"


def _container(**fields: Any) -> Container:
    return Container(Obj({}), (), {"name": "c", **fields}, "containers")


def _only(**fields: Any) -> Mpirun:
    (call,) = calls(_container(**fields))
    return call


@pytest.mark.parametrize(
    "fields",
    [
        {"command": LINE.split()},
        {"command": ["mpirun"], "args": LINE.split()[1:]},
        {"command": ["/bin/sh", "-c", LINE]},
        {"command": ["/bin/bash", "-e", "-c"], "args": [LINE]},
        {"command": ["bash", "-euxo", "pipefail", "-c", LINE]},
        {"command": ["bash", "-lc"], "args": [f"cd /workspace && time {LINE} | tee log; true"]},
        {"args": ["sh", "-c", "# mpirun -np 3\nset -e\n" + LINE.replace(" -x", " \\\n  -x")]},
        {"command": ["timeout", "300", "/usr/local/bin/mpirun", *LINE.split()[1:]]},
    ],
)
def test_forms(fields: dict[str, Any]) -> None:
    """A call of mpirun is found within shells and other programs."""
    call = _only(**fields)
    assert call.count == 16
    assert call.exports["NCCL_DEBUG"][0] == "INFO"
    assert call.exports["PATH"][0] is None
    assert call.program[:2] == ("python", "main.py")
    assert "no" not in call.exports


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("mpirun --np=4 a", 4),
        ("mpirun -n 4 a", 4),
        ("mpirun --allow-run-as-root --tag-output -np 4 a", 4),
        ("mpirun --some-new-flag -np 4 a", 4),
        ("mpirun -np 1 a : -np 3 b", 4),
        ("mpirun -np 1 a : b", None),
        ("mpirun -np $NP a", None),
        ("mpirun -np '4 ' a", 4),
        ("mpirun a -np 4", None),
        ("horovodrun -np 8 -H localhost:8 python x.py", 8),
        ("mpiexec.hydra -genv NCCL_DEBUG INFO -n 2 a", 2),
    ],
)
def test_counts(line: str, count: int | None) -> None:
    """The number np is read from mpirun's options in any spelling, not from those of the program."""
    assert _only(command=["sh", "-c", line]).count == count


@pytest.mark.parametrize("line", ["which mpirun", "echo mpirun -np 3", "command -v mpirun", "pip install mpi4py"])
def test_mpirun_that_is_not_started(line: str) -> None:
    """Text that starts nothing has no calls."""
    assert calls(_container(command=["sh", "-c", line])) == ()


def test_places() -> None:
    """The place of a call is the word that it is in."""
    call = _only(command=["mpirun", "-np"], args=["4", "a"])
    assert call.processes is not None
    assert call.processes.place == ("args", 0)


def test_every_command_of_a_script() -> None:
    """Each of several calls is read."""
    container = _container(command=["sh", "-c", "mpirun -np 1 a && mpirun -np 2 b"])
    assert [call.count for call in calls(container)] == [1, 2]
    assert [command.words[0] for command in commands(container)] == ["mpirun", "mpirun"]


@pytest.mark.parametrize(
    ("program", "count"),
    [
        ("/workspace/other/nccl/all_reduce_perf -b 8 -e 256M -f 2 -g 8", 8),
        ("all_reduce_perf -t 2 -g 4", 8),
        ("all_reduce_perf -b 8", 1),
        ("all_reduce_perf -g $GPUS", None),
        ("python tf_cnn_benchmarks.py --num_gpus=8", 8),
        ("python tf_cnn_benchmarks.py --variable_update=horovod", 1),
        ("python main.py", None),
        ("python main.py --num_gpus", None),
    ],
)
def test_gpus_of_a_process(program: str, count: int | None) -> None:
    """The GPUs of a process follow from the options of known programs."""
    assert gpus_per_process(program.split()) == count


@given(
    st.lists(
        st.text(alphabet="mpirun -x:=;&|'\"\\\n$()8np", max_size=60)
        | st.sampled_from(["sh", "-c", "mpirun", "-np", ":", "-x", "-mca"])
        | st.integers()
        | st.none(),
        max_size=12,
    )
)
@settings(max_examples=150, deadline=None)
def test_garbage(words: list[Any]) -> None:
    """A malformed command does not raise."""
    for call in calls(_container(command=words)):
        assert isinstance(call.program, tuple)


def test_bounded() -> None:
    """A large script is read in bounded time."""
    assert len(calls(_container(command=["sh", "-c", "mpirun -np 1 a;" * 100_000]))) < 3000
    assert calls(_container(command=["mpirun", *["-x"] * 100_000]))

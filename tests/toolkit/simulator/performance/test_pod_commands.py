"""What pods run: torchrun, shells' scripts, and every simulated program with command lines that make no sense."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from core.hardware.profiles import PROFILES
from tests.toolkit.simulator.performance import jobs
from tests.toolkit.simulator.performance.jobs import NEW, launch
from toolkit.simulator.performance import pod_commands, shell
from toolkit.simulator.performance.job import Launched, Machine, Worker
from toolkit.simulator.performance.pod_commands import IMAGES, PROGRAMS
from toolkit.simulator.performance.printed import Printed

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


JOB = Launched(Worker("p", Machine("n")), "image", (), "run", environment={"HOME": "/h"})


def said(words: Sequence[str], job: Launched) -> Printed:
    """Print the words, and A of the environment; `false` fails."""
    shown = f"{'|'.join(words)} {job.environment.get('A', '')}".strip()
    return Printed((shown,), int(words[0] == "false"), "no" if words[0] == "false" else "")


@pytest.mark.parametrize(
    ("script", "lines", "code"),
    [
        ("a 'b c' \"$HOME\" # d; e\nf > /dev/null 2>&1 g", ["a|b c|/h", "f|g"], 0),
        ("false && a; b; false || c", ["false", "b", "false", "c"], 0),
        ("set -e; false || a; ! false; b; false; c", ["false", "a", "false", "b", "false"], 1),
        ("for i in 1 2; do a $i; done; for i in; do b; done", ["a|1", "a|2"], 0),
        ("until a; do b; done; while false; do c; done", ["a", "false"], 0),
        ("if false; then a; elif true; then b; else c; fi", ["false", "true", "b"], 0),
        ("if false; then a; else if true; then b; fi; fi; c", ["false", "true", "b", "c"], 0),
        ("f(){ a; { b; }; }; (c; d) | e; case x in y) g;; esac; h", ["c", "d", "h"], 0),
        ("A=1 a; b; A=2; c; export A=3; d", ["a 1", "b", "c 2", "d 3"], 0),
        ("x=$(a; b 'c') d $(e || f) `g`; exit 4; h", ["d|$(e || f)|`g`"], 4),
        (
            '[ -z "" ] && a; [ -n "" ] || b; [ x = y ] || c; [ "${i:=$j}" != "$j" ] || d; [ -e f ] && e',
            list("abcde"),
            0,
        ),
        ("set -x; a; set +x; b", ["+ a", "a", "+ set +x", "b"], 0),
    ],
)
def test_programs_of_a_script(script: str, lines: list[str], code: int) -> None:
    """A script starts the programs that a shell would start, and ends as it would."""
    ended = shell.run(script, "", JOB, said)
    assert (list(ended.lines), ended.exit_code) == (lines, code)


@pytest.mark.parametrize(
    "script", ["", "'", '"$(', "((((", "if", "for", "for x", "case", "do done fi ) }", "a |", "\\"]
)
def test_half_a_script(script: str) -> None:
    """No script raises."""
    shell.run(script, "ex", JOB, said)
    shell.run(script * 3000, "", JOB, said)


def test_an_until_that_is_not_met_waits() -> None:
    """An `until` that is not met waits: the client does not start before its listener has a name."""
    ended = shell.run("a; until false; do sleep 1; done; b", "ex", JOB, said)
    assert (list(ended.lines), ended.waits) == (["+ a", "a", "+ false", "false"], True)


WORDS = (
    *(
        "",
        "-",
        "--",
        "-d",
        "-C",
        "-x",
        "-s",
        "-n",
        "-a",
        "-l",
        "-b",
        "-e",
        "-g",
        "-np",
        "-m",
        "--size",
        "topo",
        "hosts",
    ),
    *("mlx5_0", "mlx5_99", "$(gid mlx5_0)", "dgx02", "0", "-1", "8", "9" * 12, "9" * 5000, "1e9", "256M", "٣", "\0"),
    *("/dev/infiniband", "/sys/class/net", "link", "--model=", "--model=x", "--batch_size=0", "--display_every=1"),
    *("--num_batches=999999999", "--exec_mode=train", "--max_steps=999999999", "--mode=training_benchmark"),
    *("--num_iter=999999999", "--use_fp16=maybe", "--num-iters=999999999", "=", "a=b", "ünïcode"),
)


def _jobs() -> list[Launched]:
    bare = Machine("plain")
    alone = Worker("pod", bare)
    found = [
        Launched(me=alone, image="", words=(), run=""),
        Launched(me=alone, image="x", words=(), run="", processes=(alone,) * 3, workers=(alone,), machines=(bare,)),
        jobs.rdma_test(),
        replace(jobs.rdma_test(), peers={}, machines=()),
        jobs.training(16, 1, 2, NCCL_DEBUG="INFO"),
    ]
    for profile in PROFILES.values():
        for driver in (None, "", "x.y", "440.64", "999"):
            there = jobs.machines(profile, driver=driver, ethernet=driver == "")
            found.append(jobs.rdma_test(there, gpus=tuple(range(profile.gpus))))
        found.append(jobs.training(1, profile.gpus, 1, profile))
    return found


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_nothing_makes_a_program_raise(program: str) -> None:
    """No command line raises, on no machine."""
    draw = Random(program)  # noqa: S311 - no secret
    for job in _jobs():
        for words in ((program,), *((program, *draw.choices(WORDS, k=draw.randrange(1, 6))) for _ in range(2))):
            printed = pod_commands.program(words, job)
            assert isinstance(printed, Printed)
            assert len(printed.lines) < 20_000
            assert all(isinstance(line, str) and "\n" not in line for line in printed.lines)


@pytest.mark.parametrize("image", sorted(IMAGES))
def test_nothing_makes_an_image_raise(image: str) -> None:
    """Nor does a program that an image starts by itself."""
    for job in _jobs():
        assert isinstance(pod_commands.simulate(replace(job, image=f"registry/{image}:1", words=())), Printed)

"""Every program that is simulated, with command lines and jobs that make no sense."""

from dataclasses import replace
from random import Random

import pytest

from core.hardware.profiles import PROFILES
from tests.toolkit.simulator.performance import jobs
from toolkit.simulator.performance import pod_commands
from toolkit.simulator.performance.job import Launched, Machine, Worker
from toolkit.simulator.performance.pod_commands import IMAGES, PROGRAMS
from toolkit.simulator.performance.printed import Printed

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

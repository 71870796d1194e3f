"""Simulates what a pod runs: its command, or what shells and interpreters start for it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType

from core.apis.mpirun import LAUNCHERS
from toolkit.simulator import pods
from toolkit.simulator.performance import (
    data_set,
    examples,
    host_tools,
    listings,
    mlperf,
    nccl_tests,
    nvidia_smi,
    perftest,
    ports,
    preflight,
    shell,
    step_training,
    tf_cnn,
    training,
    verbs_tools,
)
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.launchers import mpirun, torchrun
from toolkit.simulator.performance.printed import Printed, Program

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **nccl_tests.PROGRAMS,
        **{f"ib_{verb}_{test}": perftest.perftest for verb in perftest.WORDS for test in ("bw", "lat")},
        "awk": host_tools.awk,
        "cat": host_tools.cat,
        "echo": listings.echo,
        "getent": listings.getent,
        "grep": listings.grep,
        "ibdev2netdev": verbs_tools.ibdev2netdev,
        "ibhosts": ports.ibhosts,
        "ibstat": verbs_tools.ibstat,
        "ibstatus": ports.ibstatus,
        "ifconfig": listings.ifconfig,
        "ip": listings.ip,
        "ls": listings.ls,
        "lscpu": host_tools.lscpu,
        "lspci": host_tools.lspci,
        "main.py": examples.main,
        "numactl": host_tools.numactl,
        "nvidia-smi": nvidia_smi.nvidia_smi,
        "preflight.py": preflight.preflight,
        "pytorch_synthetic_benchmark.py": tf_cnn.synthetic,
        "run_and_time.sh": mlperf.run_and_time,
        "shared_data": data_set.shared_data,
        "synthetic_training.py": step_training.synthetic_training,
        "tf_cnn_benchmarks.py": tf_cnn.tf_cnn,
        "ulimit": listings.ulimit,
        "vectorAdd": examples.vector_add,
        "whoami": listings.whoami,
    }
)
"""Name of a program, or of a Python script -> its simulation. One that is not here prints nothing and succeeds."""

IMAGES: Mapping[str, Program] = MappingProxyType(
    {"cuda-sample": examples.vector_add, "cuda-vector-add": examples.vector_add}
)
"""Last part of an image's repository -> what simulates the program that the image starts by itself."""


SHELLS = frozenset({"sh", "bash", "dash", "ash"})
INTERPRETERS = frozenset({"python", "python3"})
_NAMED = re.compile(r"\b\w+\.py\b")


def simulate(job: Launched) -> Printed:
    """Return what the pod's command prints, and how it ends."""
    if job.words:
        try:
            return program(job.words, job)
        except RecursionError:
            return Printed()  # a shell in a shell in a shell ...
    entrypoint = IMAGES.get(pods.basename(job.image))
    return entrypoint((), job) if entrypoint else Printed()


def program(words: Sequence[str], job: Launched) -> Printed:
    """Return what one command line prints; one that is not simulated prints nothing and succeeds.

    The reader of data sets is really run (`data_set`). Of a user's own Python script there is what NCCL prints while
    its ranks join, as if it used all GPUs of the job.
    """
    name = PurePosixPath(words[0]).name
    if name in SHELLS:
        return _shell(words, job)
    if name in LAUNCHERS:
        return mpirun(words, job, program)
    if name == "torchrun":
        return torchrun(words, job, program)
    if name in INTERPRETERS:
        return _interpreted([*words[1:]], job)
    if (simulated := PROGRAMS.get(name)) is not None:
        return simulated(words, job)
    return training.joined(job) if name.endswith(".py") else Printed()


def _interpreted(rest: list[str], job: Launched) -> Printed:
    if rest[:1] == ["-c"]:
        return _text(rest[1:], job)
    # The script is what comes after the interpreter's own options.
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] == "-m" and len(rest) == 1 else 1]
    return program(rest, job) if rest else Printed()


def _text(words: Sequence[str], job: Launched) -> Printed:
    """Return what a script prints that the command line holds: its first lines show its own command line."""
    if words and data_set.is_reader(words[0]):
        return data_set.data_set(words, job)
    named = _NAMED.search(words[0]) if words else None
    simulated = PROGRAMS.get(named[0]) if named else None
    return simulated(words, job) if simulated else Printed()


def _shell(words: Sequence[str], job: Launched) -> Printed:
    letters = ""
    for at, word in enumerate(words[1:], 1):
        if not word.startswith("-"):
            return Printed()  # a script file, whose text is in the image
        letters += "" if word.startswith("--") else word[1:]
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return shell.run(words[at + 1], letters, job, program) if at + 1 < len(words) else Printed()
    return Printed()

"""The programs that are simulated, by the last part of their path."""

from collections.abc import Mapping
from types import MappingProxyType

from toolkit.simulator.performance import (
    examples,
    horovod,
    host_tools,
    listings,
    mlperf,
    nccl_tests,
    nvidia_smi,
    perftest,
    ports,
    preflight,
    shared_data,
    tf_cnn,
    vector_add,
    verbs_tools,
)
from toolkit.simulator.performance.printed import Program

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
        "pytorch_synthetic_benchmark.py": horovod.synthetic,
        "run_and_time.sh": mlperf.run_and_time,
        "shared_data": shared_data.shared_data,
        "tf_cnn_benchmarks.py": tf_cnn.tf_cnn,
        "ulimit": listings.ulimit,
        "vectorAdd": vector_add.vector_add,
        "whoami": listings.whoami,
    }
)
"""Name of a program, or of a Python script -> its simulation. One that is not here prints nothing and succeeds."""

IMAGES: Mapping[str, Program] = MappingProxyType(
    {"cuda-sample": vector_add.vector_add, "cuda-vector-add": vector_add.vector_add}
)
"""Last part of an image's repository -> what simulates the program that the image starts by itself."""

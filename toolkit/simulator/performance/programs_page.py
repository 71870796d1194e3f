"""The section of docs/reference/performance-model.md on programs beside NCCL and nccl-tests."""

import textwrap
from pathlib import Path

from core.hardware import profiles
from core.hardware.measured import REDPAPER_MACHINE, SUPERMICRO_MACHINE
from core.hardware.measured.training import MLPERF_BAND, trained
from core.hardware.profiles import Profile
from toolkit.simulator.performance import examples, mlperf, nvidia_smi, ports, tf_cnn, training
from toolkit.simulator.performance.job import Launched, Machine, Worker

TEMPLATE = Path(__file__).with_name("programs_page.md")


def _job(pods: int, gpus: int, nodes: int, profile: str = REDPAPER_MACHINE, **environment: str) -> Launched:
    """Return a job as the Redpaper ran it."""
    machine = profiles.profile(profile)
    nodes_used = [
        Machine(f"node{number}", machine, memlock_unlimited=True, has_driver=True, gpudirect=True)
        for number in range(nodes)
    ]
    pods_per_node = pods // nodes
    devices = tuple(hca.name for hca in machine.hcas)
    workers = [
        Worker(
            f"w{pod}",
            nodes_used[pod // pods_per_node],
            tuple(range(pod % pods_per_node * gpus, (pod % pods_per_node + 1) * gpus)),
            devices,
        )
        for pod in range(pods)
    ]
    return Launched(
        me=workers[0],
        image="nvcr.io/nvidia/tensorflow:20.03-tf2-py3",
        words=(),
        run="page",
        workers=tuple(workers),
        processes=tuple(worker for worker in workers for _ in range(gpus)),
        environment={"NCCL_NET_GDR_LEVEL": "1", **environment},
        machines=tuple(nodes_used),
    )


def _images(job: Launched, *, xla: bool = False) -> float:
    network = training.NETWORKS["resnet50"]
    rate = training.images_per_second(job, network, "fp16", training.BATCH, xla=xla)
    return rate * len(job.processes)


def _resnet() -> list[str]:
    rows = ["| pods x GPUs, nodes | measured, images/s | model | model over TCP |", "|---|---|---|---|"]
    for run in trained("resnet50"):
        tcp = _images(_job(run.pods, run.gpus, run.nodes, NCCL_IB_DISABLE="1"))
        model = _images(_job(run.pods, run.gpus, run.nodes))
        rows.append(f"| {run.pods} x {run.gpus}, {run.nodes} | {run.figure:,.0f} | {model:,.0f} | {tcp:,.0f} |")
    for other in _other_machines():
        job, gpu = _job(1, other.gpus, 1, other.name), other.gpu.model
        figures = f"{_images(job):,.0f}, with XLA {_images(job, xla=True):,.0f}"
        rows.append(f"| 1 x {other.gpus}, 1, {gpu} | none | {figures} | |")
    return rows


def _other_machines() -> list[Profile]:
    """Return a machine of each other GPU of which the speed can be calculated."""
    own = profiles.profile(REDPAPER_MACHINE)
    machines = (
        machine for machine in profiles.PROFILES.values() if machine.gpus == own.gpus and machine.gpu.memory_gbs
    )
    machine_of_architecture = {machine.gpu.architecture: machine for machine in machines}
    return [machine for name, machine in machine_of_architecture.items() if name != own.gpu.architecture]


def _a2d2() -> list[str]:
    rows = ["| GPUs | measured, s | model |", "|---|---|---|"]
    for run in trained("a2d2"):
        step = training.step_seconds(_job(run.pods, 1, run.nodes), examples.A2D2_STEP, examples.A2D2_PARAMETERS)
        seconds = examples.A2D2_START + examples.A2D2_STEPS / run.pods * step
        rows.append(f"| {run.pods} | {run.figure:.0f} | {seconds:.0f} |")
    return rows


def _perftest() -> list[str]:
    rows = ["| port | large messages, MB/s of 2^20 bytes | Gb/s |", "|---|---|---|"]
    for what, ethernet, gbps in (
        ("EDR, 100 Gb/s", False, 100),
        ("HDR, 200 Gb/s", False, 200),
        ("RoCE, 100 Gb/s", True, 100),
        ("RoCE, 25 Gb/s", True, 25),
    ):
        machine = Machine(
            "node", profiles.profile(SUPERMICRO_MACHINE if ethernet else REDPAPER_MACHINE), ethernet=ethernet
        )
        average = ports.link_mb_s(machine, gbps, ports.packet_payload(machine, ""))
        rows.append(f"| {what} | {average:,.2f} | {average * (1 << 20) * 8 / 1e9:.1f} |")
    return rows


def _mlperf() -> list[str]:
    rows = [
        "| benchmark | published, minutes | faster on the Supermicro reference's machine | epochs |",
        "|---|---|---|---|",
    ]
    for benchmark in mlperf.BENCHMARKS.values():
        rows.append(f"| {benchmark.name} | {benchmark.minutes:g} | {benchmark.faster:+.2%} | {benchmark.epochs} |")
    return rows


def section() -> str:
    """Return the section: the template with figures in its fields, its lists in lines of 116 characters."""
    fp32, fp16 = (8 * training.NETWORKS["resnet50v1.5"].rates[precision] for precision in ("fp32", "fp16"))
    text = TEMPLATE.read_text().format(
        **{module.__name__.rpartition(".")[2]: module for module in (examples, nvidia_smi, ports, tf_cnn, training)},
        MLPERF_BAND=MLPERF_BAND,
        perftest="\n".join(_perftest()),
        resnet="\n".join(_resnet()),
        a2d2="\n".join(_a2d2()),
        mlperf="\n".join(_mlperf()),
        mtu=ports.packet_payload(Machine("node", ethernet=True), ""),
        last_branch=nvidia_smi.CUDA[-1][0],
        resnet50=training.NETWORKS["resnet50"].rates["fp32"],
        resnet101=training.NETWORKS["resnet101"].rates["fp32"],
        a2d2_step_ms=examples.A2D2_STEP * 1000,
        a2d2_parameters=examples.A2D2_PARAMETERS / 1e6,
        fp32=fp32,
        fp16=fp16,
    )
    return "\n".join(map(_wrapped, text.splitlines())) + "\n"


def _wrapped(line: str) -> str:
    if not line.startswith("- "):
        return line
    return textwrap.fill(line, 116, subsequent_indent="  ", break_on_hyphens=False)

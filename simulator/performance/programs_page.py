"""Writes docs/performance-model-programs.md: `python -m simulator.performance.programs_page`."""

import textwrap
from pathlib import Path

from hardware.measured import A2D2, MLPERF_BAND, RESNET50
from hardware.profiles import DGX1_V100_16GB, DGX_A100, SYS_4029GP_TVRT, Profile
from simulator.performance import examples, link, mlperf, nvidia_smi, tf_cnn, training
from simulator.performance.job import Launched, Machine, Worker

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance-model-programs.md"

INTRODUCTION = """# What other programs print on the simulated cluster

Beside NCCL and nccl-tests ([performance-model.md](performance-model.md)): the RDMA test, the node check, training,
MLPerf and single tools. Written by `python -m simulator.performance.programs_page` from the constants of the code.

Forms of output are those of the documents' listings; where they show none, those of the tools' public sources. Who a
pod is, what it was given, which ports have a link and which driver is loaded comes from the cluster. Figures come from
the documents; what no document measures follows by a rule below, and an assumption is called one. A second run of a
job differs by the spread, the same run never. What is the simulator's own line begins with `simulated by hpc`.
"""


def _job(pods: int, gpus: int, nodes: int, profile: Profile = DGX1_V100_16GB, **environment: str) -> Launched:
    """Return a job as the Redpaper ran it."""
    there = [
        Machine(f"node{number}", profile, memlock_unlimited=True, has_driver=True, gpudirect=True)
        for number in range(nodes)
    ]
    each = pods // nodes
    devices = tuple(hca.name for hca in profile.hcas)
    workers = [
        Worker(f"w{pod}", there[pod // each], tuple(range(pod % each * gpus, (pod % each + 1) * gpus)), devices)
        for pod in range(pods)
    ]
    return Launched(
        me=workers[0],
        image="nvcr.io/nvidia/tensorflow:20.03-tf2-py3",
        words=(),
        run="page",
        workers=tuple(workers),
        processes=tuple(one for one in workers for _ in range(gpus)),
        environment={"NCCL_NET_GDR_LEVEL": "1", **environment},
        machines=tuple(there),
    )


def _images(job: Launched, *, xla: bool = False) -> float:
    network = training.NETWORKS["resnet50"]
    rate = training.images_per_second(job, network, "fp16", training.BATCH, xla=xla)
    return rate * len(job.processes)


def _resnet() -> list[str]:
    rows = ["| pods x GPUs, nodes | measured, images/s | model | model over TCP |", "|---|---|---|---|"]
    for one in RESNET50:
        tcp = _images(_job(one.pods, one.gpus, one.nodes, NCCL_IB_DISABLE="1"))
        model = _images(_job(one.pods, one.gpus, one.nodes))
        rows.append(f"| {one.pods} x {one.gpus}, {one.nodes} | {one.figure:,.0f} | {model:,.0f} | {tcp:,.0f} |")
    a100 = _job(1, 8, 1, DGX_A100)
    rows.append(f"| 1 x 8, 1, A100 | none | {_images(a100):,.0f}, with XLA {_images(a100, xla=True):,.0f} | |")
    return rows


def _a2d2() -> list[str]:
    rows = ["| GPUs | measured, s | model |", "|---|---|---|"]
    for one in A2D2:
        step = training.step_seconds(_job(one.pods, 1, one.nodes), examples.A2D2_STEP, examples.A2D2_PARAMETERS)
        seconds = examples.A2D2_START + examples.A2D2_STEPS / one.pods * step
        rows.append(f"| {one.pods} | {one.figure:.0f} | {seconds:.0f} |")
    return rows


def _perftest() -> list[str]:
    rows = ["| port | large messages, MB/s of 2^20 bytes | Gb/s |", "|---|---|---|"]
    for what, ethernet, gbps in (
        ("EDR, 100 Gb/s (R-4.1-8)", False, 100),
        ("HDR, 200 Gb/s", False, 200),
        ("RoCE, 100 Gb/s", True, 100),
        ("RoCE, 25 Gb/s", True, 25),
    ):
        machine = Machine("node", SYS_4029GP_TVRT if ethernet else DGX1_V100_16GB, ethernet=ethernet)
        average = link.average(machine, gbps, link.MTU[ethernet])
        rows.append(f"| {what} | {average:,.2f} | {average * (1 << 20) * 8 / 1e9:.1f} |")
    return rows


def _mlperf() -> list[str]:
    rows = ["| benchmark | published, minutes | faster on document S's machine | epochs |", "|---|---|---|---|"]
    for one in mlperf.BENCHMARKS.values():
        rows.append(f"| {one.name} | {one.minutes:g} | {one.faster:+.2%} | {one.epochs} |")
    return rows


def _rules(*texts: str) -> list[str]:
    """Return a list, in lines of 116 characters."""
    wrapped = (
        textwrap.fill(one, 116, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False) for one in texts
    )
    return ["", *wrapped, ""]


def _rdma_rules() -> list[str]:
    mtu = link.MTU[True]
    return _rules(
        f"InfiniBand: the Redpaper's {link.EDR_AVERAGE:,} MB/s (peak {link.EDR_PEAK:,}) times the rate of the "
        "slower port / 100.",
        f"RoCE: no more than rate x {mtu} / ({mtu} + {link.ROCE_OVERHEAD}), the payload of packets in frames of "
        "1500 bytes.",
        f"Small messages: no more than one in {link.MESSAGE_US} us. Latency of two bytes: {link.LATENCY_US} us "
        "one way. Both are assumptions.",
        f"Spread: {link.SPREAD:.1%} (an assumption). Both ends print the same figure.",
        "GUIDs and QPs follow from names; LIDs count the ports of all nodes from 0xb on, the subnet manager has 0x9 "
        "(R-4.1-6).",
        "`ibhosts` shows the ports with a link of all nodes on the same fabric, one aggregation node (R-4.1-7) and, "
        "where nodes are clients of Spectrum Scale over their compute ports, the eight ports of the Redpaper's two "
        "storage servers. Compute and storage ports of a DGX A100 are two fabrics (D-3.2). It needs a port with a "
        "link, and umad devices that are not root's alone, as they are where an adapter driver's container runs.",
        "Where a node's own name is called, somebody listens by hand, as in R-4.1-1.",
    )


def _check_rules() -> list[str]:
    return _rules(
        f"The form of nvidia-smi follows from the driver's branch: MIG's line from {nvidia_smi.FIRST_WITH_MIG} on, "
        f"wider tables from {nvidia_smi.FIRST_WIDE} and {nvidia_smi.FIRST_WIDER} on. CUDA is the driver's own, `N/A` "
        f"for branches newer than {nvidia_smi.CUDA[-1][0]}.",
        f"Memory of a GPU that no document shows: {nvidia_smi.MEMORY_SHOWN:.4f} of the nominal one, as of the V100 "
        "(R-4.4-2). Temperature and power are those of idle GPUs there. Bus ids: R-4.4-2, and NVIDIA/nccl issue 1505; "
        "otherwise counted from 1A on.",
        "The matrix comes from the profile: links of NVLink, distances of ports to GPUs; the same NUMA node otherwise "
        "means PHB, another one SYS. A profile without a matrix prints none.",
    )


def _resnet_rules() -> list[str]:
    single = training.NETWORKS["resnet50"].rates["fp32"]
    return _rules(
        "Measured: fp16, 64 images a GPU, medians of five (R-4.5-4, R-4.5-8). Pods of one GPU are slower (x "
        f"{training.SINGLE_GPU_PODS:.3f}) where a node has more than {training.FEW} of them; up to {training.FEW} both "
        "layouts are alike, as the text says.",
        "Each doubling of nodes adds to a step what the second node added in the measurement.",
        "A slow network adds what the backward pass does not hide: exchange of 4 bytes a parameter by the model of "
        f"NCCL, less {training.HIDDEN:.0%} of the step (an assumption).",
        f"Other GPUs: by the bandwidth of their memory. With XLA x {training.XLA:.2f}; fp32 {single:.1f} images/s a "
        "GPU (README of NVIDIA's example RN50v1.5 of 2019, DGX-1 with eight V100). ResNet-101, fp32: "
        f"{training.NETWORKS['resnet101'].rates['fp32']} (B-6.3). Other networks run as ResNet-50, and the log says "
        "so.",
        f"Spread of a job {training.SPREAD:.1%}, of steps {tf_cnn.JITTER:.1%} (assumptions).",
    )


def _other_rules() -> tuple[list[str], list[str], list[str]]:
    a2d2 = _rules(
        f"Two times give two unknowns: {examples.A2D2_START:.0f} s that do not become less, and "
        f"{examples.A2D2_STEP * 1000:.0f} ms for each of the {examples.A2D2_STEPS:,} steps, which the GPUs share "
        f"(R-5.2-6). Other GPUs and networks as above, with {examples.A2D2_PARAMETERS / 1e6:.0f} million parameters "
        "(an assumption).",
        "The paper prints no log. `main.py` has the options of NVIDIA's UNet, so it is given that one's form "
        "(DLLogger): the time stamps tell how long it took.",
    )
    fp32, fp16 = (8 * training.NETWORKS["resnet50v1.5"].rates[precision] for precision in ("fp32", "fp16"))
    nvidia = _rules(
        f"As NVIDIA's README has it: {fp32:.1f} images/s with fp32 and {fp16:.1f} with fp16 on eight V100. The log "
        "leaves out all but the first lines of steps, and says how many.",
        "The synthetic benchmark has the same rate: no document prints one of its own (B-4.2).",
    )
    minutes = _rules(
        "Minutes of NVIDIA's DGX-1 (S-3.3, row 0.6-9) on V100 of 32 GB; on document S's machine faster or slower as it "
        "says, by the middle of its range where it gives one (S-3.2, E-38), and never outside of "
        f"{MLPERF_BAND.least:+.2%} to {MLPERF_BAND.most:+.2%}. Other GPUs by the bandwidth of their memory. Epochs to "
        "the target are assumed, but for Transformer (NVIDIA's log).",
        "Which of the four a job runs is in its image; here the name of image or job has to tell.",
    )
    return a2d2, nvidia, minutes


def page() -> str:
    """Return the page."""
    a2d2, nvidia, minutes = _other_rules()
    parts = [
        INTRODUCTION,
        *("## RDMA test", "", *_perftest(), *_rdma_rules()),
        *("## Node check", *_check_rules()),
        *("## ResNet-50, tf_cnn_benchmarks", "", *_resnet(), *_resnet_rules()),
        *("## A2D2", "", *_a2d2(), *a2d2),
        *("## NVIDIA's ResNet-50 v1.5, Horovod's synthetic benchmark", *nvidia),
        *("## MLPerf v0.6", "", *_mlperf(), *minutes),
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())

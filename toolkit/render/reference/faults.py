"""docs/reference/faults.md: what goes wrong in the field, what stops it first, and what the evidence shows of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.yaml import text as yaml_text
from toolkit.evidence.diagnosis.cause_table import CAUSES
from toolkit.render.reference import markdown, tables

FOLDER = tables.ROOT / "docs" / "reference"
DATA = FOLDER / "faults.yaml"
STACK, JOB = "dev", "nccl-test-02x08"
"""Stack and job of a fault that names no others."""
_INTRODUCTION = """# Faults

What goes wrong in the field, and what stops it first: the policies (preview, update, `./hpc check`), admission, the
scheduler, or the evidence of `./hpc verify`. Objects that users apply or delete themselves bypass the policies; so each
fault is also caused on the cluster directly, and a later guard has to find it. None
gets through: [test_fault_matrix.py](../../tests/cluster/test_fault_matrix.py),
[test_fault_matrix_today.py](../../tests/cluster/test_fault_matrix_today.py) and
[test_fault_matrix_nodes.py](../../tests/cluster/test_fault_matrix_nodes.py) check each row, and that without a fault
the same job passes. Written from `faults.yaml` by `make docs`.

Faults of GPUs, NVLinks and PCIe bridges are an annotation of their node, `hpc.sim/faults` (fields of
[NodeFaults](../../toolkit/simulator/performance/job.py)). What the test of a node cannot see, a job between
nodes shows: with ACS its GPUs and links are whole, and only data from GPU to HCA is slow.

A policy sees manifests, so not a port without a link, nor a node that lost its pods; which devices a machine has is the
machine's own matter, and a transport without GPUDirect may be intended. Without IPC_LOCK alone nothing fails: the limit
of locked memory decides for a process that is not root, and the MachineConfig lifts it; the rule requires it
because the documents do.
"""
_MANUALLY = """## Manually

On the simulated cluster, after `./hpc up` and `eval "$(./hpc pulumi --print-env)"` (with `--stack` where one is named).
Then `./hpc verify`. `./hpc sim clean` and `./hpc up` restore a sound platform. Where noted, the job has to run
again first, once nodes and plugins have adopted the change:

    kubectl get mpijob nccl-test-02x08 -n adas -o yaml | kubectl replace --force -f -
"""
_ENDS = {
    "failed": "fails",
    "succeeded": "succeeds: only the evidence shows it",
    "waiting": "waits: the scheduler finds no node for it",
}
Fault = Mapping[str, Any]


def data() -> dict[str, Fault]:
    """Return the faults by their names, as `faults.yaml` describes their fields."""
    return dict(yaml_text.read(DATA.read_text())["faults"])


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    faults = data()
    heads = ("fault", "stopped first by", "past that, the job", "verify", "fails or lacks", "the line says", "cause")
    table = markdown.table(heads, [_row(name, fault) for name, fault in faults.items()])
    parts = (_INTRODUCTION.rstrip(), table, _MANUALLY.rstrip(), *_manually(faults))
    return {FOLDER / "faults.md": "\n\n".join(parts) + "\n"}


def _row(name: str, fault: Fault) -> tuple[str, ...]:
    cause = next(cause for cause in CAUSES if cause.name == fault["cause"])
    first, policy = fault["stops"], fault["policy"]
    return (
        f"[`{name}`](#{name}): {fault['fault']}",
        f"{first}: [`{policy}`](policies/{policy}.md)" if first == "policies" else first,
        "waits: admission refuses its pods" if fault["cause"] == "refused" else _ENDS[fault["job"]],
        f"exit status {fault['status']}",
        f"`{fault['criterion']}`",
        f"`{fault['shows']}`",
        f"`{cause.name}`: {cause.why}",
    )


def _manually(faults: Mapping[str, Fault]) -> Iterator[str]:
    for name, fault in faults.items():
        stack = f" Stack `{fault['stack']}`." if "stack" in fault else ""
        again = " Then the job again." if fault.get("again") else ""
        commands = "\n".join(f"    {command}" for command in fault["commands"])
        yield f"### {name}\n\n{fault['fault']}.{stack}{again}\n\n{commands}"

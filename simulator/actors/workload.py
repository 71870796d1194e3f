"""How the work of a pod ends: nothing is computed, so this decides exit code, log and duration."""

import re
from dataclasses import dataclass

from simulator import names
from simulator.actors import pods
from simulator.actors.api import Object

NO_MEMLOCK = ("Couldn't allocate MR", "failed to create mr", "Failed to create MR", "Couldn't create IB resources")
"""What perftest prints when it may not lock memory (R-3.4.3-9; E-19b for the words)."""

_PERFTEST = re.compile(r"\bib_(?:write|send|read)_(?:bw|lat)\b")


@dataclass(frozen=True)
class Outcome:
    """What a pod's containers leave: exit code, log lines without time stamps, duration in seconds, last message."""

    exit_code: int
    lines: tuple[str, ...]
    seconds: float
    message: str = ""


def takes(pod: Object, otherwise: float) -> float:
    """Return the seconds that a pod says its work takes; `otherwise` when it says none, or nonsense."""
    said = (pod["metadata"].get("annotations") or {}).get(names.TAKES, "")
    return float(said) if said.replace(".", "", 1).isdecimal() else otherwise


def outcome(pod: Object, node: Object, seconds: float = 1.0) -> Outcome:
    """Return how the pod's work ends on that node, after `seconds` when it succeeds.

    RDMA tests need the node's memlock limit lifted: IPC_LOCK does nothing for a process that is not root (E-19a).
    """
    lines = introduction(pod)
    if _PERFTEST.search(pods.command(pod)) and not pods.memlock_unlimited(node):
        return Outcome(1, (*lines, *NO_MEMLOCK), min(seconds, 1.0), NO_MEMLOCK[0])
    return Outcome(0, (*lines, f"simulated: ends with exit code 0 after {seconds:g} s"), seconds)


def failed(pod: Object, why: str) -> Outcome:
    """Return an end at once, with exit code 1."""
    return Outcome(1, (*introduction(pod), why), 0.0, why)


def introduction(pod: Object) -> tuple[str, ...]:
    """Return the first lines of every pod's log: that it is simulated, and what was asked for."""
    containers = pod["spec"]["containers"]
    lines = ["simulated by hpc: no container was started and nothing was computed; this is what was asked for"]
    for container in containers:
        asked = " ".join([*(container.get("command") or []), *(container.get("args") or [])]) or "(the image's command)"
        limits = (container.get("resources") or {}).get("limits") or {}
        lines.append(f"container {container['name']}, image {container.get('image', '')}")
        lines += [f"command: {line}" for line in asked.splitlines()]
        if limits:
            lines.append("limits: " + ", ".join(f"{name}={value}" for name, value in sorted(limits.items())))
    return (*lines, f"node: {pods.node_name(pod)}")


def message_shown(pod: Object, ended: Outcome) -> str:
    """Return the termination message: the log's end only where the container asks for that on errors."""
    policy = pod["spec"]["containers"][0].get("terminationMessagePolicy", "File")
    return ended.message if policy == "FallbackToLogsOnError" and ended.exit_code else ""

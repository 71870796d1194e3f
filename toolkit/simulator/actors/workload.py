"""How the work of a pod ends: nothing is computed, so this decides exit code, log and duration."""

from dataclasses import dataclass

from core.apis.names import SIMULATED
from toolkit.simulator import names, pods
from toolkit.simulator.actors import pod_devices
from toolkit.simulator.actors.api import Object
from toolkit.simulator.performance import pod_commands
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Steps

"""How every line begins that is ours and no tool's."""


@dataclass(frozen=True)
class Outcome:
    """What a pod's containers leave: exit code, log lines without time stamps, duration in seconds, last message."""

    exit_code: int | None
    """None: they wait for another pod, and have no end yet."""
    lines: tuple[str, ...]
    seconds: float
    message: str = ""
    steps: Steps | None = None
    """What they print from now on, where they have no end yet."""


def takes(pod: Object, otherwise: float) -> float:
    """Return the seconds that a pod says its work takes; `otherwise` when it says none, or nonsense."""
    return stated_seconds(pod, names.TAKES, otherwise)


def stated_seconds(pod: Object, name: str, otherwise: float) -> float:
    """Return the seconds of an annotation; `otherwise` where a pod has none, or nonsense."""
    seconds = pods.annotations(pod).get(name, "")
    return float(seconds) if seconds.replace(".", "", 1).isdecimal() else otherwise


def outcome(pod: Object, job: Launched) -> Outcome:
    """Return how the pod's work ends: as its programs would, after the job's seconds when they succeed."""
    lines = introduction(pod)
    printed = pod_commands.simulate(job)
    if printed.waits:
        return Outcome(None, (*lines, *printed.lines), 0.0)
    if printed.steps is not None:
        return Outcome(None, (*lines, *printed.lines), 0.0, steps=printed.steps)
    if printed.exit_code:
        # The kubelet shows the end of the log; the cause may be before it.
        why = printed.message or (printed.lines[-1] if printed.lines else "")
        return Outcome(printed.exit_code, (*lines, *printed.lines), min(job.seconds, 1.0), why)
    return Outcome(
        0, (*lines, *printed.lines, _simulator_line(f"ends with exit code 0 after {job.seconds:g} s")), job.seconds
    )


def failed(pod: Object, why: str) -> Outcome:
    """Return an end at once, with exit code 1."""
    return Outcome(1, (*introduction(pod), why), 0.0, why)


def _simulator_line(text: str) -> str:
    """Return a line that no program of the pod would have printed; readers of logs know it by its beginning."""
    return f"{SIMULATED}: {text}"


def introduction(pod: Object) -> tuple[str, ...]:
    """Return the first lines of every pod's log: that it is simulated, and what was requested."""
    containers = pod["spec"]["containers"]
    lines = ["no container was started and nothing was computed; this is what was requested"]
    for container in containers:
        requested = (
            " ".join([*(container.get("command") or []), *(container.get("args") or [])]) or "(the image's command)"
        )
        limits = (container.get("resources") or {}).get("limits") or {}
        lines.append(f"container {container['name']}, image {container.get('image', '')}")
        lines += [f"command: {line}" for line in requested.splitlines()]
        if limits:
            lines.append("limits: " + ", ".join(f"{name}={value}" for name, value in sorted(limits.items())))
    if devices := pod_devices.devices(pod):
        lines.append("devices of claims: " + ", ".join(f"{device.driver}/{device.device}" for device in devices))
    return tuple(_simulator_line(line) for line in (*lines, f"node: {pods.node_name(pod)}"))


def message_shown(pod: Object, ended: Outcome) -> str:
    """Return the termination message: the log's end only where the container asks for that on errors."""
    policy = pod["spec"]["containers"][0].get("terminationMessagePolicy", "File")
    return ended.message if policy == "FallbackToLogsOnError" and ended.exit_code else ""

"""The pods of an Indexed Job, which torchrun joins to one job."""

from collections.abc import Sequence

from core.apis import names
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.runtime import Runtime


def index(pod: Object) -> int | None:
    """Return the number that the Job controller gave a pod; None for a pod of another kind."""
    text = pods.annotations(pod).get(names.COMPLETION_INDEX, "")
    return int(text) if text.isdecimal() else None


def together(pod: Object, runtime: Runtime) -> Sequence[Object]:
    """Return the pods of a pod's Indexed Job that run or have succeeded, and itself, by their index; else itself."""
    job, own = pods.labels(pod).get(names.JOB_NAME), index(pod)
    if job is None or own is None:
        return (pod,)
    pod_of_index = {
        number: other
        for other in runtime.pods.items()
        if other["metadata"].get("namespace") == pod["metadata"]["namespace"]
        and pods.labels(other).get(names.JOB_NAME) == job
        and (pods.runs(other) or pods.phase(other) == "Succeeded")
        and (number := index(other)) is not None
    }
    return [member for _, member in sorted((pod_of_index | {own: pod}).items())]

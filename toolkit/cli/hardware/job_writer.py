"""Runs one Job, and removes it: one of the two places of the command line that write to a cluster beside the engine.

`./hpc hardware discover` and `check` need a pod on a node, which is gone when they end. It belongs to no stack: the
engine would store it in a state.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.apis.client import CONFLICT, FORBIDDEN, NOT_FOUND, OK, Response
from core.apis.kinds import EVENT, JOB, POD
from core.apis.names import JOB_NAME
from policies.manifests.values import read as value
from toolkit.cli.hardware.node_job import CONTAINER
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.cluster_writes import send
from toolkit.cli.shared.console import Reporter, print_warning
from toolkit.cli.shared.errors import Problem

_PAUSE = 1.0
_PATIENCE = 20.0
"""Seconds that a pod may wait for a node or an image before that is an error: GPUs become free when a pod ends."""
_NO_IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"})


@contextmanager
def running(cluster: Cluster, job: Mapping[str, Any]) -> Iterator[None]:
    """Create a Job, and remove it with its pod in the end, also after Ctrl-C.

    Raises Problem where the cluster refuses it; one of the same name that is there already stays.
    """
    namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
    ours = True
    try:
        answer = send(cluster, "POST", JOB.path(namespace), job)
        if answer.status not in OK:
            ours = False
            raise _refused(cluster, answer, f"{namespace}/{name}")
        yield
    finally:
        if ours:
            _remove(cluster, namespace, name)


def _remove(cluster: Cluster, namespace: str, name: str) -> None:
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    try:
        answer = send(cluster, "DELETE", JOB.path(namespace, name), options)
        why = "" if answer.status in (*OK, NOT_FOUND) else str(answer.refusal().get("message", answer.status))
    except Problem as problem:
        why = str(problem).splitlines()[0]
    if why:
        print_warning(f"Job {namespace}/{name} is not removed: {why}; `oc delete job -n {namespace} {name}` removes it")


def _refused(cluster: Cluster, answer: Response, name: str) -> Problem:
    message = answer.refusal().get("message", answer.status)
    what = f"the API server of context {cluster.context!r} refuses Job {name}: {message}"
    if answer.status == CONFLICT:
        namespace, _, own = name.partition("/")
        return Problem(what, f"Wait until the other discovery ends, or `oc delete job -n {namespace} {own}`.")
    if answer.status in (FORBIDDEN, NOT_FOUND):
        return Problem(
            what,
            "Use a context whose user may create Jobs, or another --namespace; or give the Job of --manifest to "
            "a user who may, and its log to `./hpc hardware from-logs`.",
        )
    return Problem(what, "Correct --image, --namespace or --service-account.")


def printed(cluster: Cluster, job: Mapping[str, Any], seconds: int) -> str:
    """Create a Job, wait until its pod has ended, remove it, and return the pod's log; raise Problem where it does not.

    The Job is removed whatever happens.
    """
    namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
    with Reporter().step(f"Job {namespace}/{name}") as step, running(cluster, job):
        begun, since, before = time.monotonic(), time.monotonic(), ""
        while True:
            pods = cluster.list(POD, namespace, labelSelector=f"{JOB_NAME}={name}")
            pod = pods[-1] if pods else None
            if value(pod or {}, "status", "phase") in ("Succeeded", "Failed"):
                return _log(cluster, pod or {})
            state, hopeless = waits_for(pod)
            now = time.monotonic()
            if state != before:
                since, before = now, state
            step.update(now - begun, seconds, state)
            if hopeless and now - since > _PATIENCE:
                raise Problem(f"the pod of Job {namespace}/{name} does not start: {state}", hopeless)
            if now - begun > seconds:
                events = _last_event(cluster, namespace, name) if pod is None else ""
                raise Problem(
                    f"Job {namespace}/{name} has not ended after {seconds} s: {events or state}",
                    "Give it more time (--timeout), or remove what it waits for.",
                )
            time.sleep(_PAUSE)


def waits_for(pod: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return what a pod that has not ended waits for and, where waiting does not help, the remedy."""
    if pod is None:
        return "its pod is not created", ""
    for condition in value(pod, "status", "conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            remedy = "Wait until the jobs of the node have ended, or omit its GPUs (--gpus 0)."
            return f"not scheduled: {condition.get('message', 'no reason given')}", remedy
    for status in value(pod, "status", "containerStatuses") or ():
        waiting = value(status, "state", "waiting") or {}
        if (reason := waiting.get("reason")) and reason != "ContainerCreating":
            remedy = "Correct --image, or give an account with a pull secret (--service-account)."
            message = f": {waiting['message']}" if waiting.get("message") else ""
            return f"{reason}{message}", remedy if reason in _NO_IMAGE else ""
    return str(value(pod, "status", "phase") or "unknown"), ""


def _last_event(cluster: Cluster, namespace: str, job: str) -> str:
    """Return why a Job has no pod, as its controller reports it."""
    events = cluster.list(EVENT, namespace, fieldSelector=f"involvedObject.name={job}")
    warnings = [str(event.get("message")) for event in events if event.get("type") == "Warning"]
    return warnings[-1] if warnings else ""


def _log(cluster: Cluster, pod: Mapping[str, Any]) -> str:
    meta = pod["metadata"]
    path = f"{POD.path(meta['namespace'], meta['name'])}/log"
    with tempfile.TemporaryDirectory(prefix="hpc-discover-") as folder:
        file = Path(folder) / "log"
        if not cluster.download(path, file, container=CONTAINER):
            raise Problem(
                f"pod {meta['namespace']}/{meta['name']} has no log",
                "Run it again; see `oc describe node` of its node.",
            )
        return file.read_text(encoding="utf-8", errors="replace")

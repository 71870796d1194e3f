"""Runs a node's Job to its end, and returns what it printed."""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.apis.kinds import EVENT, POD
from core.apis.names import JOB_NAME
from policies.manifests.values import read as value
from toolkit.cli.hardware.job_writer import running
from toolkit.cli.hardware.node_job import CONTAINER
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import Reporter
from toolkit.cli.shared.errors import Problem

_PAUSE = 1.0
_PATIENCE = 20.0
"""Seconds that a pod may wait for a node or an image before that is an error: GPUs become free when a pod ends."""
_NO_IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"})


def printed(cluster: Cluster, job: Mapping[str, Any], seconds: int) -> str:
    """Create a Job, wait until its pod has ended, remove it, and return the pod's log; raise Problem where it does not.

    The Job is removed whatever happens.
    """
    namespace, name = job["metadata"]["namespace"], job["metadata"]["name"]
    with Reporter().step(f"Job {namespace}/{name}") as step, running(cluster, job):
        begun, since, before = time.monotonic(), time.monotonic(), ""
        while True:
            pod = _pod(cluster, namespace, name)
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


def _pod(cluster: Cluster, namespace: str, job: str) -> dict[str, Any] | None:
    pods = cluster.list(POD, namespace, labelSelector=f"{JOB_NAME}={job}")
    return pods[-1] if pods else None


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

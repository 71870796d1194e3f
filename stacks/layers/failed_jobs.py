"""Read why pods failed, for the message that ends an update."""

from pathlib import Path
from typing import Any

from urllib3.exceptions import HTTPError

from core.apis import kinds, kubeconfig, names
from core.apis.client import ApiError

_SELECTORS = (
    f"{names.JOB_NAME}={{job}}",
    f"{names.JOBSET_NAME}={{job}}",
    f"{names.MPI_JOB_NAME}={{job}},{names.MPI_ROLE}={names.LAUNCHER}",
    f"{names.MPI_JOB_NAME_V2BETA1}={{job}},{names.MPI_ROLE_V2BETA1}={names.LAUNCHER}",
)
"""Labels of the pods of a Job and of a TrainJob, and of the launcher of an MPIJob v1alpha2 and v2beta1."""
_TIMEOUT = 15.0  # seconds


def messages(file: Path, context: str, namespace: str, job: str) -> str:
    """Return why a job's pods failed, from the cluster of `context`; errors of reading are part of the text."""
    try:
        api = kubeconfig.client(file, context, timeout=_TIMEOUT)
        pods = [
            pod
            for selector in _SELECTORS
            for pod in api.get(kinds.POD.path(namespace), labelSelector=selector.format(job=job)).get("items") or ()
        ]
    except (ApiError, kubeconfig.KubeconfigError, HTTPError, OSError, ValueError) as error:
        return f"(its pods could not be read: {error})"
    return "\n".join(words for pod in pods if (words := _pod_message(pod)))


def _pod_message(pod: Any) -> str:
    status = pod.get("status") or {}
    states = [container.get("state") or {} for container in status.get("containerStatuses") or ()]
    ends = [state["terminated"] for state in states if state.get("terminated")]
    texts = [
        f"exit code {end['exitCode']}: {end.get('message') or end.get('reason')}" for end in ends if end["exitCode"]
    ]
    if not texts and status.get("phase") == "Failed":
        texts = [f"{status.get('reason')}: {status.get('message')}"]
    return "".join(f"pod {pod['metadata']['name']}, {text}" for text in texts).rstrip()

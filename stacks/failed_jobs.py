"""Reads the last words of failed pods, for the message that ends an update."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from kubernetes.config.config_exception import ConfigException
from urllib3.exceptions import HTTPError

from apis import names

_SELECTORS = (
    f"{names.JOB_NAME}={{job}}",
    f"{names.MPI_JOB_NAME}={{job}},{names.MPI_ROLE}={names.LAUNCHER}",
    f"{names.MPI_JOB_NAME_V2BETA1}={{job}},{names.MPI_ROLE_V2BETA1}={names.LAUNCHER}",
)
"""Labels of the pods of a Job, and of the launcher of an MPIJob v1alpha2 and v2beta1."""
_connect: Callable[[str, str], client.ApiClient] = config.new_client_from_config


def last_words(kubeconfig: Path, context: str, namespace: str, job: str) -> str:
    """Return why a job's pods failed, from the cluster of `context`; what cannot be read is said, not raised."""
    try:
        api = client.CoreV1Api(_connect(str(kubeconfig), context))
        pods = [
            pod
            for selector in _SELECTORS
            for pod in api.list_namespaced_pod(namespace, label_selector=selector.format(job=job)).items
        ]
    except (ApiException, ConfigException, HTTPError, OSError, yaml.YAMLError) as error:
        return f"(its pods could not be read: {error})"
    return "\n".join(words for pod in pods if (words := _words(pod)))


def _words(pod: Any) -> str:
    ends = [status.state.terminated for status in pod.status.container_statuses or () if status.state.terminated]
    texts = [f"exit code {end.exit_code}: {end.message or end.reason}" for end in ends if end.exit_code]
    if not texts and pod.status.phase == "Failed":
        texts = [f"{pod.status.reason}: {pod.status.message}"]
    return "".join(f"pod {pod.metadata.name}, {text}" for text in texts).rstrip()

"""Creates and removes one Job: one of the two places of the command line that write to a cluster beside the engine.

`./hpc hardware discover` and `check` need a pod on a node, which is gone when they end. It belongs to no stack: the
engine would store it in a state.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from core.apis.client import CONFLICT, FORBIDDEN, NOT_FOUND, OK, Response
from core.apis.kinds import JOB
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.cluster_writes import send
from toolkit.cli.shared.console import print_warning
from toolkit.cli.shared.errors import Problem


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

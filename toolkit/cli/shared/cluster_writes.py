"""Writes to a cluster outside the engine, of the two places that may (docs/architecture.md).

They are `toolkit/cli/hardware/job_writer.py` and `toolkit/cli/nodes/node_marks.py`; a test holds the others to it.
"""

from collections.abc import Mapping
from typing import Any

from core.apis.client import JSON, Response, cause
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.errors import Problem

_SECONDS = 15.0


def send(cluster: Cluster, method: str, path: str, body: Mapping[str, Any], content_type: str = JSON) -> Response:
    """Send one request, and return the answer whatever it is; raise Problem where there is none."""
    from urllib3.exceptions import HTTPError  # noqa: PLC0415 - as in the client of all commands

    from core.apis.kubeconfig import KubeconfigError, client  # noqa: PLC0415 - half a second of imports

    try:
        api = client(cluster.kubeconfig, cluster.context, timeout=_SECONDS, retries=False)
        return api.send(method, path, body=body, content_type=content_type)
    except KubeconfigError as error:
        raise Problem(
            f"{cluster.kubeconfig} cannot be used: {error}", "Correct the kubeconfig or the context."
        ) from None
    except HTTPError as error:
        raise Problem(
            f"the API server of context {cluster.context!r} does not answer: {cause(error)}",
            "See whether the cluster runs and can be reached from here.",
        ) from None

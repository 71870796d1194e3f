"""Holds the program to the cluster that the settings name, for a person who runs plain `pulumi`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi

from stacks.cluster_settings import ClusterSettings

_TIMEOUT = 15.0  # seconds


class ForeignClusterError(pulumi.RunError):
    """The cluster is another than the settings name."""


def require(cluster: ClusterSettings, root: Path) -> None:
    """Raise ForeignClusterError unless the cluster is the one of `cluster.uid`; call it before anything is declared.

    Without a uid, and for a simulated cluster, which is made anew, nothing is asked. A preview goes on when the cluster
    does not answer, because it can; an update does not.
    """
    if cluster.uid is None or cluster.simulated:
        return
    # The client takes half a second to import.
    import yaml  # noqa: PLC0415
    from kubernetes import client, config  # noqa: PLC0415
    from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
    from kubernetes.config.config_exception import ConfigException  # noqa: PLC0415
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    connect: Callable[[str, str], Any] = config.new_client_from_config
    try:
        api: Any = client.CoreV1Api(connect(str(cluster.path(root)), cluster.context))
        found = api.read_namespace("kube-system", _request_timeout=_TIMEOUT).metadata.uid
    except (ApiException, ConfigException, HTTPError, OSError, yaml.YAMLError) as error:
        said = f"context {cluster.context!r} does not tell which cluster it leads to: {error}"
        if isinstance(error, HTTPError) and pulumi.runtime.is_dry_run():
            pulumi.log.warn(f"{said}\nThe settings name {cluster.uid} (cluster.uid).")
            return
        raise ForeignClusterError(
            f"{said}\nThe settings name {cluster.uid} (cluster.uid); nothing is declared until it is known to be that."
        ) from None
    if found != cluster.uid:
        raise ForeignClusterError(
            f"context {cluster.context!r} leads to the cluster {found} at {api.api_client.configuration.host}, and the "
            f"settings name {cluster.uid} (cluster.uid)\nCorrect cluster.kubeconfig or cluster.context, or give the "
            "other cluster a stack of its own."
        )

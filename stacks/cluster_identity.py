"""Refuse any cluster but the one that the settings name, for users of plain `pulumi`."""

from pathlib import Path

import pulumi

from core.apis import kinds
from stacks.settings.cluster import ClusterSettings

_TIMEOUT = 15.0  # seconds


class ForeignClusterError(pulumi.RunError):
    """The cluster differs from the one that the settings name."""


def require(cluster: ClusterSettings, root: Path) -> None:
    """Raise ForeignClusterError unless the cluster is the one of `cluster.uid`; call it before anything is declared.

    Without a uid, and for a simulated cluster, whose UID changes when it is recreated, nothing is read. A preview
    continues when the cluster does not answer; an update does not.
    """
    if cluster.uid is None or cluster.simulated:
        return
    # The client takes half a second to import.
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    from core.apis import kubeconfig  # noqa: PLC0415
    from core.apis.client import ApiError  # noqa: PLC0415

    try:
        api = kubeconfig.client(cluster.path(root), cluster.context, timeout=_TIMEOUT)
        uid = api.get(kinds.NAMESPACE.path(name="kube-system"))["metadata"]["uid"]
    except (ApiError, kubeconfig.KubeconfigError, HTTPError, OSError, ValueError) as error:
        message = f"context {cluster.context!r}: the UID of its cluster could not be read: {error}"
        if isinstance(error, HTTPError) and pulumi.runtime.is_dry_run():
            pulumi.log.warn(f"{message}\nThe settings name {cluster.uid} (cluster.uid).")
            return
        raise ForeignClusterError(
            f"{message}\nThe settings name {cluster.uid} (cluster.uid); nothing is declared until that is confirmed."
        ) from None
    if uid != cluster.uid:
        raise ForeignClusterError(
            f"context {cluster.context!r} leads to the cluster {uid} at {api.host}, and the "
            f"settings name {cluster.uid} (cluster.uid)\nCorrect cluster.kubeconfig or cluster.context, or give the "
            "other cluster a stack of its own."
        )

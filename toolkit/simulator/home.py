"""Where a simulated cluster stores its files: everything below one folder, by default .sim/<name> of the project."""

from dataclasses import dataclass
from pathlib import Path

from core.simulated import STATE_FILE

TEMPORARY = "tmp"
"""Folder below the home where everything that works for the cluster has its temporary files: they go with it."""
SERVICE_SOCKET = "services.sock"
"""Below the home, in which the processes run: the path of a socket may have no more than 107 bytes."""


class _Below:
    """A path below a cluster's home."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def __get__(self, layout: "Layout", _owner: type["Layout"]) -> Path:
        return layout.home.joinpath(*self._parts)


@dataclass(frozen=True)
class Layout:
    """The paths inside a home."""

    home: Path

    state = _Below(STATE_FILE)
    """Ports, tools and specification of the cluster."""
    backend = _Below("backend")
    """Where the state of Pulumi is, if not in a folder here."""
    lock = _Below("lock")
    """Held while the cluster is started or stopped."""
    pki = _Below("pki")
    """Keys, certificates and tokens."""
    kubeconfig = _Below("kubeconfig")
    """The user's kubeconfig."""
    etcd = _Below("data", "etcd")
    """The cluster's data."""
    objects = _Below("data", "objects")
    """Buckets of its object store, where it has one."""
    object_credentials = _Below("identities", "object-store.json")
    """Keys of its object store."""
    catalogue = _Below("data", "discover", "catalogue.sqlite")
    """What its Spectrum Discover has scanned: a catalogue that `./hpc data index` wrote."""
    catalogue_account = _Below("identities", "discover.json")
    """Account of its Spectrum Discover."""
    scale_state = _Below("data", "scale", "state.json")
    """What its storage cluster has, where the GUI of one is simulated."""
    scale_account = _Below("identities", "scale-gui.json")
    """Account of the GUI of its storage cluster."""
    scheduler_config = _Below("data", "scheduler.yaml")
    """Settings of the scheduler."""
    egress_config = _Below("data", "egress.yaml")
    """How the API server reaches Services."""
    volumes = _Below("volumes")
    """Files of volumes, which users and tests put there: a folder of each namespace, with one of each claim."""
    pods = _Below("pods")
    """Pod logs."""

    def identity(self, name: str) -> Path:
        """Kubeconfig of one of the cluster's own identities, e.g. `kubelet`."""
        return self.home / "identities" / f"{name}.kubeconfig"

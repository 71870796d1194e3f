"""Where a simulated cluster stores its files: everything below one folder, by default .sim/<name> of the project."""

from dataclasses import dataclass
from pathlib import Path

from core import project
from core.simulated import STATE_FILE

REPOSITORY = project.PRODUCT
TEMPORARY = "tmp"
"""Folder below the home where everything that works for the cluster has its temporary files: they go with it."""
SERVICE_SOCKET = "services.sock"
"""Below the home, in which the processes run: the path of a socket may have no more than 107 bytes."""


@dataclass(frozen=True)
class Layout:
    """The paths inside a home."""

    home: Path

    @property
    def state(self) -> Path:
        """Ports, tools and specification of the cluster."""
        return self.home / STATE_FILE

    @property
    def backend(self) -> Path:
        """Where the state of Pulumi is, if not in a folder here."""
        return self.home / "backend"

    @property
    def lock(self) -> Path:
        """Held while the cluster is started or stopped."""
        return self.home / "lock"

    @property
    def pki(self) -> Path:
        """Keys, certificates and tokens."""
        return self.home / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The user's kubeconfig."""
        return self.home / "kubeconfig"

    def identity(self, name: str) -> Path:
        """Kubeconfig of one of the cluster's own identities, e.g. `kubelet`."""
        return self.home / "identities" / f"{name}.kubeconfig"

    @property
    def etcd(self) -> Path:
        """The cluster's data."""
        return self.home / "data" / "etcd"

    @property
    def objects(self) -> Path:
        """Buckets of its object store, where it has one."""
        return self.home / "data" / "objects"

    @property
    def object_credentials(self) -> Path:
        """Keys of its object store."""
        return self.home / "identities" / "object-store.json"

    @property
    def catalogue(self) -> Path:
        """What its Spectrum Discover has scanned: a catalogue that `./hpc data index` wrote."""
        return self.home / "data" / "discover" / "catalogue.sqlite"

    @property
    def catalogue_account(self) -> Path:
        """Account of its Spectrum Discover."""
        return self.home / "identities" / "discover.json"

    @property
    def scale_state(self) -> Path:
        """What its storage cluster has, where the GUI of one is simulated."""
        return self.home / "data" / "scale" / "state.json"

    @property
    def scale_account(self) -> Path:
        """Account of the GUI of its storage cluster."""
        return self.home / "identities" / "scale-gui.json"

    @property
    def scheduler_config(self) -> Path:
        """Settings of the scheduler."""
        return self.home / "data" / "scheduler.yaml"

    @property
    def egress_config(self) -> Path:
        """How the API server reaches Services."""
        return self.home / "data" / "egress.yaml"

    @property
    def volumes(self) -> Path:
        """Files of volumes, which users and tests put there: a folder of each namespace, with one of each claim."""
        return self.home / "volumes"

    @property
    def pods(self) -> Path:
        """Pod logs."""
        return self.home / "pods"

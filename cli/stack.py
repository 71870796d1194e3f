"""From a stack's settings to the cluster that it runs on."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from cli.places import ROOT, Backend
from simulator import home
from simulator.cluster import ClusterSpec, NodeSpec
from simulator.files import write_atomically
from simulator.identities import context_name
from stacks.settings import KEY, PROJECT, Settings, load


@dataclass(frozen=True)
class Stack:
    """One stack: its name, its settings, and the simulated cluster chosen in place of that of the settings, if any."""

    name: str
    settings: Settings
    chosen: str | None = None

    @property
    def simulated(self) -> bool:
        """Whether the stack's cluster is one that `./hpc sim` starts."""
        return self.settings.cluster.simulated

    @property
    def cluster_name(self) -> str:
        """Name of the simulated cluster: the chosen one, else the folder that the kubeconfig of the settings is in."""
        return self.chosen or Path(self.settings.cluster.kubeconfig).parent.name

    @property
    def home(self) -> Path:
        """Folder of the simulated cluster."""
        return home.of(self.cluster_name)

    @property
    def backend(self) -> Backend:
        """State of a stack on a simulated cluster."""
        return Backend(self.home)

    @property
    def kubeconfig(self) -> Path:
        """Absolute path of the kubeconfig."""
        if self.simulated:
            return self.home / "kubeconfig"
        return (ROOT / Path(self.settings.cluster.kubeconfig).expanduser()).absolute()

    @property
    def context(self) -> str:
        """Context in the kubeconfig."""
        return context_name(self.cluster_name) if self.simulated else self.settings.cluster.context

    @property
    def file(self) -> Path:
        """The stack's settings file."""
        return ROOT / f"Pulumi.{self.name}.yaml"

    @property
    def passphrase_file(self) -> Path:
        """A passphrase that is no secret and therefore in the repository; only stacks of the simulator have one."""
        return ROOT / f"Pulumi.{self.name}.passphrase"

    @property
    def moved(self) -> bool:
        """Whether the cluster is elsewhere than the settings say (another name, or $HPC_SIM_HOME)."""
        told = (ROOT / self.settings.cluster.kubeconfig).absolute()
        return self.simulated and (told, self.settings.cluster.context) != (self.kubeconfig, self.context)

    @property
    def copy(self) -> Path:
        """Where the copy of the settings is that names the cluster, when that is elsewhere."""
        return self.home / self.file.name

    def copy_settings(self) -> None:
        """Write the copy of the settings, when the cluster is elsewhere: the engine reads it in place of the file.

        Not for a cluster that is not there: a folder with nothing but settings would be none that `./hpc sim` knows.
        """
        if not self.moved or not self.home.is_dir():
            return
        content = yaml.safe_load(self.file.read_text())
        cluster = content["config"][f"{PROJECT}:{KEY}"]["cluster"]
        cluster.update(kubeconfig=str(self.kubeconfig), context=self.context)
        write_atomically(self.copy, yaml.safe_dump(content, sort_keys=False))

    def spec(self) -> ClusterSpec:
        """Return the simulated cluster that the settings describe."""
        nodes = (NodeSpec(name=node.name, roles=node.roles, profile=node.profile) for node in self.settings.nodes)
        return ClusterSpec(name=self.home.name, nodes=tuple(nodes))


def read(name: str, cluster: str | None = None) -> Stack:
    """Read a stack's settings; raises SettingsError, which lists all errors at once."""
    return Stack(name, load(name, ROOT), cluster)

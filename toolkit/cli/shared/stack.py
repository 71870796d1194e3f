"""From a stack's settings to the cluster that it runs on."""

import os
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from core import simulated
from stacks.loading import locks
from stacks.loading import settings as stack_settings
from stacks.resolved.locked_data import Locked
from stacks.settings.layers import TenantsLayer
from stacks.settings.platform import Settings
from toolkit.cli.shared import settings_copy
from toolkit.cli.shared.backends.backend import Backend, named_url, of_url
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT, own_files

_LONGEST = 128 * 1024  # bytes of one string of an environment, with its end: MAX_ARG_STRLEN


@dataclass(frozen=True)
class Stack:
    """One stack: its name, its settings, and the simulated cluster chosen in place of that of the settings, if any."""

    name: str
    settings: Settings
    chosen: str | None = None

    @property
    def locks(self) -> Locked:
        """The locks of its data sets; raise SettingsError for one that is missing or wrong."""
        return locks.read(self.settings, ROOT)

    @property
    def simulated(self) -> bool:
        """Whether the stack's cluster is one that `./hpc sim` starts."""
        return self.settings.cluster.simulated

    @property
    def cluster_name(self) -> str:
        """Name of the simulated cluster: the chosen one, else the folder that the kubeconfig of the settings is in."""
        return self.chosen or Path(self.settings.cluster.kubeconfig).parent.name

    @property
    def options(self) -> str:
        """The options by which a command means this stack on this cluster."""
        return f"--stack {self.name}" + (f" --name {self.chosen}" if self.chosen else "")

    @property
    def home(self) -> Path:
        """Folder of the simulated cluster."""
        return simulated.home(self.cluster_name)

    @property
    def backend(self) -> Backend | None:
        """Where the stack's state is; None where only the engine can read it (Pulumi Cloud, other clouds' buckets).

        Raises Problem when the settings name another one than the user does.
        """
        if not self.simulated:
            return of_url(self.backend_url)
        from toolkit.cli.shared.simulated import backend  # noqa: PLC0415 - for simulated clusters alone

        return backend.of_cluster(self.home)

    @property
    def backend_url(self) -> str | None:
        """URL of the backend of a stack on a real cluster; None where no one has named one. Raises as `backend`."""
        named = self.settings.state.backend if self.settings.state else None
        return named_url(named, os.environ, self.name)

    @property
    def pulumi_home(self) -> Path:
        """PULUMI_HOME on a simulated cluster: credentials and plugins, apart from the user's own."""
        return self.home / "pulumi-home"

    @property
    def log(self) -> Path:
        """What the engine printed during the last update."""
        if self.simulated:
            return self.home / "logs" / "pulumi.log"
        return own_files() / "logs" / f"{self.name}.log"

    @property
    def results(self) -> Path:
        """Folder of the results of its jobs: in the home of a simulated cluster, which they go with, else in .hpc."""
        return (self.home / "results" if self.simulated else ROOT / ".hpc") / self.name

    @property
    def kubeconfig(self) -> Path:
        """Absolute path of the kubeconfig."""
        if self.simulated:
            return self.home / "kubeconfig"
        return (ROOT / Path(self.settings.cluster.kubeconfig).expanduser()).absolute()

    @property
    def context(self) -> str:
        """Context in the kubeconfig."""
        return simulated.context_name(self.cluster_name) if self.simulated else self.settings.cluster.context

    @property
    def kubectl(self) -> str:
        """How kubectl is called for the cluster, from the folder of the project."""
        inside = self.kubeconfig.is_relative_to(ROOT)
        file = self.kubeconfig.relative_to(ROOT) if inside else self.kubeconfig
        return shlex.join(("kubectl", "--kubeconfig", str(file), "--context", self.context))

    @property
    def file(self) -> Path:
        """The stack's settings file."""
        return stack_settings.file(self.name, ROOT)

    @property
    def platform_file(self) -> Path:
        """The file with the settings of cluster, state and protection: of tenants alone, that of their platform."""
        settings = self.settings
        return stack_settings.file(settings.platform, ROOT) if isinstance(settings, TenantsLayer) else self.file

    @property
    def files(self) -> tuple[Path, ...]:
        """The stack's settings file, with its bases."""
        return _with_bases(self.name)

    @property
    def all_files(self) -> tuple[Path, ...]:
        """All files that the settings are in: of tenants, those of their platform, too."""
        settings = self.settings
        theirs = _with_bases(settings.platform) if isinstance(settings, TenantsLayer) else ()
        return tuple(dict.fromkeys((*self.files, *theirs)))

    @property
    def lock_files(self) -> tuple[Path, ...]:
        """The files of the locks of the stack's data sets, whether they are there or not."""
        return tuple(ROOT / data_set.lock_file for tenant in self.settings.tenants for data_set in tenant.data_sets)

    @property
    def object_files(self) -> tuple[Path, ...]:
        """The files with manifests of the stack's own."""
        from stacks.layers import own_objects  # noqa: PLC0415 - it brings Pulumi

        return tuple(own_objects.files(self.settings.objects, ROOT)) if self.settings.objects else ()

    @property
    def passphrase_file(self) -> Path:
        """A passphrase that is not a secret and therefore in the repository; only stacks of the simulator have one."""
        return ROOT / "stacks" / f"{self.name}.passphrase"

    @property
    def own_passphrase_file(self) -> Path:
        """The passphrase of a stack whose secrets are the simulated cluster's; it goes with the cluster."""
        return self.home / f"Pulumi.{self.name}.passphrase"

    @cached_property
    def keeps_secrets(self) -> bool:
        """Whether the simulated cluster stores the stack's secrets, because the settings file has none and gets none.

        The engine would write into that file how the state is encrypted: into an example, or into settings that are
        to be those of a real cluster some day.
        """
        if not self.simulated or self.example:
            return self.simulated
        return not self.passphrase_file.is_file() and not settings_copy.sealed(settings_copy.read(self.file))

    @property
    def example(self) -> bool:
        """Whether the stack is one of `stacks/examples`."""
        return self.file.parent != ROOT

    @property
    def moved(self) -> bool:
        """Whether the cluster is elsewhere than in the settings (another name, or $HPC_SIM_HOME)."""
        configured = (ROOT / self.settings.cluster.kubeconfig).absolute()
        return self.simulated and (configured, self.settings.cluster.context) != (self.kubeconfig, self.context)

    @property
    def copied(self) -> bool:
        """Whether the engine reads a copy of the settings in place of the file."""
        return self.moved or self.keeps_secrets

    @property
    def copy(self) -> Path:
        """Where that copy is: with the cluster, whose secrets it has."""
        return self.home / f"Pulumi.{self.name}.yaml"

    def renew_copy(self) -> None:
        """Create the copy of the settings follow their file.

        Not for a cluster that is not there: a folder with nothing but settings would be none that `./hpc sim` knows.
        """
        if self.copied and self.home.is_dir():
            named = {"kubeconfig": str(self.kubeconfig), "context": self.context}
            settings_copy.renew(self.file, self.copy, named)

    def require_served(self) -> None:
        """Raise Problem for a release of which there is no cluster here, and for a context that the cluster lacks."""
        if self.settings.version.simulated_as is None:
            raise Problem(
                f"release {self.settings.release} of stack {self.name} is rendered and checked only: no API server of "
                "it is simulated",
                f"`./hpc render --stack {self.name} -o DIR` writes its manifests.",
            )
        named = self.settings.cluster.context
        if self.simulated and self.chosen is None and named != self.context:
            raise Problem(
                f"cluster.context {named!r} is not a context of {self.kubeconfig}, which has {self.context}",
                f"Set cluster.context to {self.context} in {self.platform_file.name}.",
            )

    def require_passable(self) -> None:
        """Raise Problem for settings that no program can get: the engine would end in `Argument list too long`."""
        size = settings_copy.passed(self.file)
        if size >= _LONGEST:
            raise Problem(
                f"{self.file.name} has {size:,} bytes as it is passed on, and Linux takes less than {_LONGEST:,}",
                "Divide the stack: docs/guide/several-stacks.md describes how tenants get stacks of their own.",
            )


def _with_bases(stack: str) -> tuple[Path, ...]:
    return (stack_settings.file(stack, ROOT), *(ROOT / base for base in stack_settings.whole(stack, ROOT).files))


def read(name: str, cluster: str | None = None) -> Stack:
    """Read a stack's settings; `cluster` is the simulated one to use in place of that of the settings.

    Raises SettingsError, which lists all errors at once, and Problem for another cluster of a stack on a real one.
    """
    stack = Stack(name, stack_settings.load(name, ROOT), cluster)
    if cluster is not None and not stack.simulated:
        raise Problem(
            f"--name {cluster}: stack {name} is on a real cluster, context {stack.context}",
            "Omit --name, which is for simulated clusters; to try the stack on one, copy its settings, with "
            "`cluster.simulated: true`.",
        )
    return stack


def read_for_nodes(name: str, cluster: str | None) -> Stack:
    """Read the settings of a stack, on whichever cluster, whose nodes a simulated cluster is to have."""
    return Stack(name, stack_settings.load(name, ROOT), cluster)

"""What every command that runs the engine does first: tools, environment, and the stack's own checks."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from core.files import locked
from stacks.settings.cluster import ClusterSettings
from toolkit.cli.shared import environment
from toolkit.cli.shared.backends.backend import BACKEND_URL, require_reachable
from toolkit.cli.shared.backends.store import FolderStore
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import Reporter, print_text, print_warning
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.environment import make_passphrase, require_passphrase
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.engine import tools
from toolkit.engine.plugins.announcement import announcement
from toolkit.engine.plugins.locate import PROVIDER, PluginChoice

_BINARY = f"pulumi-{PROVIDER}"
_PLACES = "HPC_PLUGINS, PATH, the folder of pulumi, ~/.pulumi/plugins"


def provider_refusal(stack: Stack) -> str:
    """Return what is missing where only the stand-in could write a real cluster, and the settings do not allow it."""
    return (
        f"Pulumi's official {_BINARY} is not installed ({_PLACES}), and stack {stack.name} is on a real cluster, for "
        "which the offline stand-in is not used"
    )


def provider_remedy(stack: Stack) -> str:
    """Return how the official provider gets here, and the setting that allows the stand-in."""
    return (
        f"`pulumi plugin install resource kubernetes {version('pulumi-kubernetes')}` installs it, from a mirror by "
        "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES or from a file by `--file`; or name a folder with it in HPC_PLUGINS "
        f"(docs/guide/operations.md). `cluster.offline_provider: true` in {stack.platform_file.name} allows the "
        "stand-in."
    )


def provider_caution(stack: Stack, chosen: PluginChoice) -> str:
    """Return a sentence for updates and reviews where the stand-in writes a real cluster; else nothing."""
    if stack.simulated or PROVIDER not in chosen.offline:
        return ""
    return (
        "The offline stand-in of the Kubernetes provider, not Pulumi's own, reads and writes this cluster: "
        f"cluster.offline_provider is true in {stack.platform_file.name}, and no official {_BINARY} is installed "
        f"({_PLACES})."
    )


def provider_permission(cluster: ClusterSettings) -> str:
    """Return a sentence for a review of settings alone, which may be updated from any machine; nothing without it."""
    if cluster.simulated or not cluster.offline_provider:
        return ""
    return (
        "The settings let the offline stand-in of the Kubernetes provider write this cluster from machines without "
        f"Pulumi's own {_BINARY} (cluster.offline_provider)."
    )


def choose_backend(stack: Stack, url: str | None) -> None:
    """Note with which backend a simulated cluster is created; raise Problem where there is a state in another one."""
    if url is None:
        return
    if not stack.simulated:
        raise Problem(
            f"stack {stack.name} is on a real cluster, and --backend is for simulated ones",
            f"Name its backend in {stack.platform_file.name} (`state.backend`), or in {BACKEND_URL}.",
        )
    from toolkit.cli.shared.simulated import cluster as simulated  # noqa: PLC0415 - for simulated clusters alone

    simulated.choose_backend(stack, url)


def engine(stack: Stack) -> Engine:
    """Return the engine of a stack, made first if need be; it reads the settings that name the stack's cluster.

    Raises Problem when the stack's backend is a bucket that cannot be reached: the engine tries for long, and its
    message is that of its libraries.
    """
    stack.require_served()
    if (backend := stack.backend) is not None:
        if stack.simulated:
            from toolkit.cli.shared.simulated import backend as simulated  # noqa: PLC0415 - for simulated clusters alone

            simulated.require_running(backend)
        require_reachable(backend)
        backend.remove_unreadable_attributes(stack.name)
    pulumi = tools.find("pulumi", progress=Reporter())
    outer = {**os.environ, **environment.variables(stack, pulumi, os.environ), **_temporary(stack)}
    _prevent_logs(stack)
    return Engine(pulumi, stack.name, outer, partial(backend.note_lock, stack.name) if backend else None)


def _temporary(stack: Stack) -> dict[str, str]:
    """Return where the engine and its plugins have temporary files: the official provider leaves kubeconfigs there."""
    if not stack.simulated or not stack.home.is_dir():
        return {}
    from toolkit.cli.shared.simulated import cluster as simulated  # noqa: PLC0415 - for simulated clusters alone

    return {"TMPDIR": str(simulated.temporary(stack.home))}


def _prevent_logs(stack: Stack) -> None:
    """Occupy the place of the engine's folder of logs, which has no other switch.

    They were a third of its CPU time (0.45 s of 1.25 s, an update without changes) and up to 500 MB for each cluster.
    """
    if stack.simulated and stack.home.is_dir() and not (logs := stack.pulumi_home / "logs").exists():
        stack.pulumi_home.mkdir(mode=0o700, exist_ok=True)
        logs.touch()


def print_plugins(stack: Stack, program: Path) -> PluginChoice:
    """Print in one line which plugins are in use, and return them; raise Problem, and warn, as `require_provider`."""
    chosen = require_provider(stack, program)
    print_text(announcement(chosen))
    return chosen


def require_provider(stack: Stack, program: Path) -> PluginChoice:
    """Return the plugins of a command whose engine calls the provider; warn of the stand-in on a real cluster.

    Raises Problem where the official provider is not installed and the settings do not allow the stand-in.
    """
    chosen = environment.plugins(stack, program, os.environ)
    if PROVIDER in chosen.missing:
        raise Problem(provider_refusal(stack), provider_remedy(stack))
    if text := provider_caution(stack, chosen):
        print_warning(text)
    return chosen


def prepare(stack: Stack, running: Engine) -> None:
    """See to it that the stack is in its backend; check that secrets can be read.

    On a simulated cluster it is created. On a real one that would begin a second state where the first is elsewhere.
    """
    stack.renew_copy()
    make_passphrase(stack, running.environment)
    require_passphrase(stack, running.environment)
    backend = stack.backend
    if backend is None:
        return
    if stack.simulated and isinstance(backend.store, FolderStore):
        backend.store.folder.mkdir(parents=True, exist_ok=True)
    if backend.has(stack.name):
        return
    if not stack.simulated:
        raise Problem(
            f"there is no stack {stack.name} in {backend.url} yet",
            f"`./hpc state init --stack {stack.name}` creates it.",
        )
    _make(stack, running)


def _make(stack: Stack, running: Engine) -> None:
    """Create the stack, without a line in its settings: the engine writes a salt into Pulumi.<stack>.yaml where it is.

    Of all commands that read settings this one does not take another file for them; the next update writes the salt
    into the copy.
    """
    with tempfile.TemporaryDirectory(prefix="hpc-project-") as folder:
        shutil.copy(ROOT / "Pulumi.yaml", folder)
        running.call("stack", "init", stack.name, folder=Path(folder))


def cluster(stack: Stack) -> Cluster:
    """Return the way to the stack's cluster; raise Problem for a simulated one that does not run."""
    stack.require_served()
    if stack.simulated:
        from toolkit.cli.shared.simulated import cluster as simulated  # noqa: PLC0415 - for simulated clusters alone

        simulated.require_started(stack)
    shown_by = f"`./hpc sim status --name {stack.cluster_name}`" if stack.simulated else ""
    return Cluster(stack.kubeconfig, stack.context, shown_by)


@contextmanager
def exclusive(stack: Stack) -> Iterator[None]:
    """Let one update at a time work on a simulated cluster; end with one message when another is at it."""
    if not stack.simulated:
        yield
        return

    def busy(holder: str) -> None:
        raise Problem(
            f"process {holder or '(unknown)'} is already updating stack {stack.name} on cluster {stack.cluster_name}",
            "Wait until it exits, or use another cluster (`--name`).",
        )

    lock = stack.home.with_name(f".{stack.cluster_name}.update.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    except OSError as error:
        raise Problem(
            f"{lock.parent} cannot be written: {error.strerror}", "Run it as a user who may write there."
        ) from None
    with locked(lock, on_busy=busy):
        yield

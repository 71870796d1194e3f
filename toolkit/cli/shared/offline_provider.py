"""Whether the offline stand-in of the Kubernetes provider may write a stack's cluster, and what users read about it."""

from importlib.metadata import version

from stacks.settings.cluster import ClusterSettings
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.engine.plugins.locate import PROVIDER, PluginChoice

_BINARY = f"pulumi-{PROVIDER}"
_PLACES = "HPC_PLUGINS, PATH, the folder of pulumi, ~/.pulumi/plugins"


def require(stack: Stack, chosen: PluginChoice) -> None:
    """Raise Problem where only the stand-in could write a real cluster, and the settings do not allow it."""
    if PROVIDER in chosen.missing:
        raise Problem(refusal(stack), remedy(stack))


def refusal(stack: Stack) -> str:
    """Return what is missing where `require` refuses."""
    return (
        f"Pulumi's official {_BINARY} is not installed ({_PLACES}), and stack {stack.name} is on a real cluster, for "
        "which the offline stand-in is not used"
    )


def remedy(stack: Stack) -> str:
    """Return how the official provider gets here, and the setting that allows the stand-in."""
    return (
        f"`pulumi plugin install resource kubernetes {version('pulumi-kubernetes')}` installs it, from a mirror by "
        "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES or from a file by `--file`; or name a folder with it in HPC_PLUGINS "
        f"(docs/guide/operations.md). `cluster.offline_provider: true` in {stack.platform_file.name} allows the "
        "stand-in."
    )


def caution(stack: Stack, chosen: PluginChoice) -> str:
    """Return a sentence for updates and reviews where the stand-in writes a real cluster; else nothing."""
    if stack.simulated or PROVIDER not in chosen.offline:
        return ""
    return (
        "The offline stand-in of the Kubernetes provider, not Pulumi's own, reads and writes this cluster: "
        f"cluster.offline_provider is true in {stack.platform_file.name}, and no official {_BINARY} is installed "
        f"({_PLACES})."
    )


def permission(cluster: ClusterSettings) -> str:
    """Return a sentence for a review of settings alone, which may be updated from any machine; nothing without it."""
    if cluster.simulated or not cluster.offline_provider:
        return ""
    return (
        "The settings let the offline stand-in of the Kubernetes provider write this cluster from machines without "
        f"Pulumi's own {_BINARY} (cluster.offline_provider)."
    )

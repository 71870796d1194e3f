"""A script with IBM's commands, a step for each machine where some of them run.

The Redpaper links the commands of the remote mount and does not print them: they are those of IBM's reference, Mounting
a remote GPFS file system. A cluster of release 4.2 or later has its key and cipherList AUTHONLY from the start.
"""

from collections.abc import Iterator, Mapping
from shlex import join, quote

from stacks.settings.site.scale import ScaleSettings
from stacks.site.site import ScaleFacts, Site
from toolkit.site.groups.scale.attributes import Attributes
from toolkit.site.output import File

PATH = "scale/commands.sh"
_HEAD = """\
#!/bin/bash
# Steps for {cluster}, which mounts {remote} of {owner}. Each runs on its machine, as root:
#   commands.sh STEP [KEY]
# Between the steps you copy each cluster's public key, /var/mmfs/ssl/id_rsa.pub, to the other; KEY is its copy there.
set -euo pipefail
"""
_TAIL = """
case "${{1-}}" in
{names}) "$@" ;;
*)
    echo "usage: $0 {usage} [KEY]" >&2
    exit 2
    ;;
esac
"""
_KEY = '"${1:?public key of the other cluster}"'


def file(site: Site, facts: ScaleFacts, settings: ScaleSettings, attributes: Attributes) -> File:
    """Return the script."""
    remote = settings.remote or facts.file_system
    steps = dict(_steps(site, settings, attributes, remote))
    head = _HEAD.format(cluster=settings.cluster, owner=settings.owner, remote=remote)
    body = "".join(f"\n{name}() {{\n{_indented(lines)}}}\n" for name, lines in steps.items())
    tail = _TAIL.format(names=" | ".join(steps), usage=" | ".join(steps))
    return File(
        PATH, head + body + tail, sources=("R-3.3-1", "R-3.3-3", "R-3.3-6", "R-3.3-7", "R-3.4.5-4"), executable=True
    )


def _steps(site: Site, settings: ScaleSettings, attributes: Attributes, remote: str) -> Iterator[tuple[str, list[str]]]:
    clients = [host.name for host in site.scale_clients]
    yield (
        "add_nodes",
        [
            "# In the folder of the installation toolkit, on its installer node; each precheck changes nothing.",
            *(join(("./spectrumscale", "node", "add", name)) for name in clients),
            "./spectrumscale install --precheck",
            "./spectrumscale install",
            "./spectrumscale deploy --precheck",
            "./spectrumscale deploy",
        ],
    )
    yield (
        "grant",
        [
            f"# On a node of {settings.owner}; KEY is that of {settings.cluster}.",
            f"{join(('mmauth', 'add', settings.cluster, '-k'))} {_KEY}",
            join(("mmauth", "grant", settings.cluster, "-f", remote)),
        ],
    )
    if attributes.of_class:
        gpu = [host.name for host in site.scale_clients if host.machine]
        yield (
            "tune",
            [
                f"# On a node of {settings.cluster}. Daemons take most of it when they start again: step restart.",
                join(("mmcrnodeclass", settings.node_class, "-N", ",".join(gpu))),
                *_changes(attributes.of_class, settings.node_class),
                *_changes(attributes.common),
            ],
        )
        yield (
            "restart",
            [
                "# Ends I/O of every job on these nodes: drain them first.",
                join(("mmshutdown", "-N", settings.node_class)),
                join(("mmstartup", "-N", settings.node_class)),
            ],
        )
    else:
        yield "tune", [f"# On a node of {settings.cluster}.", *_changes(attributes.common)]
    local = settings.local or remote
    contacts = ",".join(settings.contact_nodes)
    mount = ("-f", remote, "-C", settings.owner, "-T", settings.mount, "-A", "yes")
    yield (
        "mount_remote",
        [
            f"# On a node of {settings.cluster}; KEY is that of {settings.owner}.",
            f"{join(('mmremotecluster', 'add', settings.owner, '-n', contacts, '-k'))} {_KEY}",
            join(("mmremotefs", "add", local, *mount)),
            join(("mmmount", local, "-N", ",".join(clients))),
        ],
    )
    yield (
        "show",
        ["# What ./hpc verify -f reads.", "mmlscluster", "mmremotecluster show all", "mmlsconfig", "mmlsconfig -Y"],
    )


def _changes(values: Mapping[str, str], node_class: str | None = None) -> Iterator[str]:
    of = f" -N {quote(node_class)}" if node_class else ""
    yield from (f"mmchconfig {quote(f'{name}={value}')}{of}" for name, value in values.items())


def _indented(lines: list[str]) -> str:
    return "".join(f"    {line}\n" for line in lines)

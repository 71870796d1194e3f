"""What Spectrum Scale's commands show of the clients' cluster, against what its settings mean."""

from collections.abc import Mapping

from stacks.settings.site.scale import ScaleSettings
from stacks.site.site import ScaleFacts, Site
from toolkit.cli.shared.errors import Problem
from toolkit.cli.site.comparison import Compared, Comparison, compared, labelled, of_kind
from toolkit.evidence.model import Reading
from toolkit.evidence.tools.mmlsconfig import COMMON, MmLsConfig
from toolkit.evidence.tools.scale_clusters import MmLsCluster, MmRemoteCluster
from toolkit.site.groups.scale.attributes import attributes
from toolkit.site.statements import Statements

_ROLES = ("quorum", "manager")
"""What settings say of a node; other designations come with packages."""


def _compare(reading: Reading, site: Site) -> Compared:
    of_kind(reading, MmLsConfig, MmLsCluster, MmRemoteCluster)
    scale_settings, facts = site.settings.scale, site.scale
    if scale_settings is None or facts is None:
        raise Problem(
            f"{reading.file}: {reading.tool} shows clients of Spectrum Scale, and stack {site.stack} names none",
            "Set site.scale, or name another stack with --stack.",
        )
    expected, running = _statements(reading, site, facts, scale_settings)
    return compared(
        f"output of {reading.tool}", labelled(expected), Statements(labelled(running.by_key), running.others)
    )


def _statements(
    reading: Reading, site: Site, facts: ScaleFacts, scale_settings: ScaleSettings
) -> tuple[Mapping[str, str], Statements]:
    match reading:
        case MmLsConfig():
            expected = _attributes(site, facts, scale_settings)
            return expected, _configured(reading, expected)
        case MmLsCluster():
            nodes = _nodes(site, scale_settings)
            shown = {f"node {row.admin_name}": _node(row.daemon_name, row.designation) for row in reading.rows}
            running = {"cluster": str(reading.name), "id": str(reading.cluster_id), **shown}
            # The driver and every volume name the cluster by its id.
            expected = {"cluster": scale_settings.cluster, "id": facts.cluster_id, **nodes}
            others = tuple(key for key in running if key not in expected)
            return expected, Statements({key: line for key, line in running.items() if key in expected}, others)
        case MmRemoteCluster():
            remote = scale_settings.remote or facts.file_system
            mounted = f"{remote} ({scale_settings.local or remote})"
            clusters = {row.name: row for row in reading.rows}
            owner = clusters.pop(scale_settings.owner, None)
            systems = () if owner is None else owner.file_systems
            lines = {f"file system {mounted}": mounted} if mounted in systems else {}
            contacts = {} if owner is None else {"contact nodes": ", ".join(sorted(owner.contact_nodes))}
            others = (*(f"cluster {name}" for name in clusters), *(system for system in systems if system != mounted))
            expected = {
                "contact nodes": ", ".join(sorted(scale_settings.contact_nodes)),
                f"file system {mounted}": mounted,
            }
            return expected, Statements({**contacts, **lines}, others)
    raise AssertionError


def _attributes(site: Site, facts: ScaleFacts, scale_settings: ScaleSettings) -> dict[str, str]:
    configured, _ = attributes(site, facts, scale_settings)
    return {
        "clusterName": scale_settings.cluster,
        **{f"{name} [{scale_settings.node_class}]": value for name, value in configured.of_class.items()},
        **{f"{name} [{COMMON}]": value for name, value in configured.common.items()},
    }


def _configured(reading: MmLsConfig, expected: Mapping[str, str]) -> Statements:
    """Return what is configured; an attribute of the settings counts for whichever nodes it is set."""
    names = {key.partition(" ")[0] for key in expected}
    configured = {f"{row.name} [{row.group}]": row.value for row in reading.rows if row.name in names}
    configured.pop(f"clusterName [{COMMON}]", None)
    others = tuple(f"{row.name} {row.value}" for row in reading.rows if row.name not in names)
    return Statements({"clusterName": str(reading.cluster), **configured}, others)


def _nodes(site: Site, scale_settings: ScaleSettings) -> dict[str, str]:
    clients = {f"node {host.name}": _node(scale_settings.daemon_name(host.name), ()) for host in site.scale_clients}
    others = {
        f"node {node.name}": _node(scale_settings.daemon_name(node.name), node.roles) for node in scale_settings.nodes
    }
    return {**others, **clients}


def _node(daemon: str, roles: tuple[str, ...]) -> str:
    return " ".join((daemon, "-".join(role for role in _ROLES if role in roles) or "client"))


COMPARISON = Comparison(("mmlsconfig", "mmlscluster", "mmremotecluster"), _compare)

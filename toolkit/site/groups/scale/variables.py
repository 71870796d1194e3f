"""An inventory for IBM's Ansible collection ibm.spectrum_scale, with its variables.

Names are those of IBM/ibm-spectrum-scale-install-infra: VARIABLES.md, samples/, and the roles core_configure and
remotemount_configure.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from stacks.settings.site.scale import ScaleNode, ScaleSettings
from stacks.site.site import ScaleFacts, Site
from toolkit.site.groups.scale.attributes import Attributes
from toolkit.site.output import File, Open

PATH = "scale/ibm.spectrum_scale.yml"
_GROUP = "scale_cluster"
_NOTE = """\
# Inventory of {cluster} for IBM's collection ibm.spectrum_scale, which no package index has: clone
# IBM/ibm-spectrum-scale-install-infra. Roles: core_prepare, core_install, core_configure, core_verify, and on one
# client remotemount_configure. The account of the owner's GUI comes from the environment.
"""
_ACCOUNT = {
    "scale_remotemount_storage_gui_username": "{{ lookup('ansible.builtin.env', 'SCALE_GUI_USER') }}",
    "scale_remotemount_storage_gui_password": "{{ lookup('ansible.builtin.env', 'SCALE_GUI_PASSWORD') }}",
}


def files(site: Site, facts: ScaleFacts, settings: ScaleSettings, attributes: Attributes) -> Iterator[File | Open]:
    """Yield the inventory, and what the collection needs beside it."""
    if settings.version is None or settings.packages is None:
        yield Open(
            "version and place of Spectrum Scale's packages, for IBM's collection",
            "set site.scale.version and site.scale.packages",
        )
    if not any("quorum" in node.roles for node in settings.nodes):
        yield Open(f"the quorum nodes of {settings.cluster}", "give them under site.scale.nodes, with quorum: true")
    if facts.owner_gui is None:
        yield Open(f"the GUI of {settings.owner}", "give scale_remotemount_storage_gui_hostname to the playbook")
    clients = {host.name: _client(host.name, settings, gpu=bool(host.machine)) for host in site.scale_clients}
    others = {node.name: _other(node, settings) for node in settings.nodes}
    content = {
        "all": {"children": {_GROUP: {"hosts": {**others, **clients}, "vars": _shared(facts, settings, attributes)}}}
    }
    text = yaml.safe_dump(content, sort_keys=False, width=120)
    sources = ("R-3.3-1", "R-3.3-3", "R-3.3-6", "R-3.3-7", "R-3.4.5-4", "E-09")
    yield File(PATH, _NOTE.format(cluster=settings.cluster) + text, sources)


def _names(name: str, settings: ScaleSettings) -> dict[str, Any]:
    return {"scale_admin_nodename": name, "scale_daemon_nodename": settings.daemon_name(name)}


def _client(name: str, settings: ScaleSettings, *, gpu: bool) -> dict[str, Any]:
    return {
        **_names(name, settings),
        "scale_cluster_quorum": False,
        **({"scale_nodeclass": [settings.node_class]} if gpu else {}),
    }


def _other(node: ScaleNode, settings: ScaleSettings) -> dict[str, Any]:
    roles = {
        "scale_cluster_quorum": "quorum" in node.roles,
        "scale_cluster_manager": "manager" in node.roles,
        "scale_cluster_gui": "gui" in node.roles,
    }
    return {**_names(node.name, settings), **roles}


def _shared(facts: ScaleFacts, settings: ScaleSettings, attributes: Attributes) -> dict[str, Any]:
    remote = settings.remote or facts.file_system
    mounted = {
        "scale_remotemount_client_filesystem_name": settings.local or remote,
        "scale_remotemount_client_remotemount_path": settings.mount,
        "scale_remotemount_storage_filesystem_name": remote,
        "scale_remotemount_client_mount_fs": "yes",
    }
    return {
        "scale_cluster_clustername": settings.cluster,
        **({"scale_version": settings.version} if settings.version else {}),
        **({"scale_install_localpkg_path": settings.packages} if settings.packages else {}),
        # Off by default is not the same in every release of the collection.
        "scale_prepare_disable_firewall": False,
        "scale_prepare_disable_selinux": False,
        "scale_config": [
            *([_config(settings.node_class, attributes.of_class)] if attributes.of_class else []),
            _config("all", attributes.common),
        ],
        **({"scale_remotemount_storage_gui_hostname": facts.owner_gui} if facts.owner_gui else {}),
        **_ACCOUNT,
        "scale_remotemount_client_no_gui": True,
        "scale_remotemount_filesystem_name": [mounted],
    }


def _config(node_class: str, values: Mapping[str, str]) -> dict[str, Any]:
    """Return attributes of a class; `all` is every node."""
    # The role gives mmchconfig's arguments to no shell, and they are split at spaces that are not quoted.
    params = [{name: f'"{value}"' if " " in value else value} for name, value in values.items()]
    return {"nodeclass": node_class, "params": params}

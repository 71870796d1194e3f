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


def files(site: Site, facts: ScaleFacts, given: ScaleSettings, found: Attributes) -> Iterator[File | Open]:
    """Yield the inventory, and what the collection needs beside it."""
    if given.version is None or given.packages is None:
        yield Open(
            "version and place of Spectrum Scale's packages, for IBM's collection",
            "set site.scale.version and site.scale.packages",
        )
    if not any(node.quorum for node in given.nodes):
        yield Open(f"the quorum nodes of {given.cluster}", "give them under site.scale.nodes, with quorum: true")
    if facts.owner_gui is None:
        yield Open(f"the GUI of {given.owner}", "give scale_remotemount_storage_gui_hostname to the playbook")
    clients = {host.name: _client(host.name, given, gpu=bool(host.machine)) for host in site.scale_clients}
    others = {node.name: _other(node, given) for node in given.nodes}
    content = {"all": {"children": {_GROUP: {"hosts": {**others, **clients}, "vars": _shared(facts, given, found)}}}}
    text = yaml.safe_dump(content, sort_keys=False, width=120)
    sources = ("R-3.3-1", "R-3.3-3", "R-3.3-6", "R-3.3-7", "R-3.4.5-4", "E-09")
    yield File(PATH, _NOTE.format(cluster=given.cluster) + text, sources)


def _names(name: str, given: ScaleSettings) -> dict[str, Any]:
    return {"scale_admin_nodename": name, "scale_daemon_nodename": given.daemon_name(name)}


def _client(name: str, given: ScaleSettings, *, gpu: bool) -> dict[str, Any]:
    return {
        **_names(name, given),
        "scale_cluster_quorum": False,
        **({"scale_nodeclass": [given.node_class]} if gpu else {}),
    }


def _other(node: ScaleNode, given: ScaleSettings) -> dict[str, Any]:
    roles = {
        "scale_cluster_quorum": node.quorum,
        "scale_cluster_manager": node.manager,
        "scale_cluster_gui": node.gui,
    }
    return {**_names(node.name, given), **roles}


def _shared(facts: ScaleFacts, given: ScaleSettings, found: Attributes) -> dict[str, Any]:
    remote = given.remote or facts.file_system
    mounted = {
        "scale_remotemount_client_filesystem_name": given.local or remote,
        "scale_remotemount_client_remotemount_path": given.mount,
        "scale_remotemount_storage_filesystem_name": remote,
        "scale_remotemount_client_mount_fs": given.automount,
    }
    return {
        "scale_cluster_clustername": given.cluster,
        **({"scale_version": given.version} if given.version else {}),
        **({"scale_install_localpkg_path": given.packages} if given.packages else {}),
        # Off by default is not the same in every release of the collection.
        "scale_prepare_disable_firewall": False,
        "scale_prepare_disable_selinux": False,
        "scale_config": [
            *([_config(given.node_class, found.of_class)] if found.of_class else []),
            _config("all", found.common),
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

"""Inventories of openshift-ansible, which adds RHEL hosts to a cluster: 3.11, and 4.x until 4.18."""

from collections.abc import Iterator

from stacks.settings.site.hosts import RedHatHosts
from stacks.site.site import Host, Site
from toolkit.site.output import File

PATH = "hosts/openshift-ansible.ini"
PLAYBOOKS = {3: "playbooks/openshift-node/scaleup.yml", 4: "playbooks/scaleup.yml"}
"""Playbook that adds the hosts, by major release."""
OWN_POOL = "worker"


def files(site: Site, settings: RedHatHosts) -> Iterator[File]:
    """Yield the inventory."""
    sections = _sections_of_3(site, settings) if site.version[0] == min(PLAYBOOKS) else _sections_of_4(site, settings)
    text = "\n\n".join("\n".join((f"[{name}]", *lines)) for name, lines in sections)
    note = f"# Run from openshift-ansible's folder: ansible-playbook -i FILE {PLAYBOOKS[site.version[0]]}"
    yield File(PATH, f"{note}\n{text}\n", sources=("R-3.2.5-2", "B-2.5"))


def _sections_of_3(site: Site, settings: RedHatHosts) -> Iterator[tuple[str, list[str]]]:
    masters = [host for host in site.hosts if "master" in host.roles]
    new = [host for host in site.gpu_hosts if host.name not in settings.joined]
    yield "OSEv3:children", ["masters", "nodes", "etcd", "new_nodes"]
    variables = ["openshift_deployment_type=openshift-enterprise", f'openshift_release="{site.release}"']
    if settings.image_tag:
        package = settings.image_tag.replace("v", "-", 1)
        variables += [f"openshift_image_tag={settings.image_tag}", f"openshift_pkg_version={package}"]
    yield "OSEv3:vars", [*_login(settings), *variables]
    yield "masters", [_line(site, host) for host in masters]
    yield "etcd", [host.name for host in masters]
    yield "nodes", [_node(site, host, settings) for host in site.hosts if host not in new]
    yield "new_nodes", [_node(site, host, settings) for host in new]


def _node(site: Site, host: Host, settings: RedHatHosts) -> str:
    default = "node-config-master" if "master" in host.roles else "node-config-compute"
    return f"{_line(site, host)} openshift_node_group_name='{settings.node_groups.get(host.name, default)}'"


def _sections_of_4(site: Site, settings: RedHatHosts) -> Iterator[tuple[str, list[str]]]:
    pool = site.on_hosts.pool
    variables = ['openshift_kubeconfig_path="~/.kube/config"']
    variables += [f"openshift_node_machineconfigpool={pool}"] if pool != OWN_POOL else []
    yield "all:vars", [*_login(settings), *variables]
    # Workers with RHCOS are in no group: the playbook reads packages of those that are.
    yield "workers", [_line(site, host) for host in site.gpu_hosts if host.name in settings.joined]
    yield "new_workers", [_line(site, host) for host in site.gpu_hosts if host.name not in settings.joined]


def _login(settings: RedHatHosts) -> list[str]:
    return [*([f"ansible_user={settings.user}"] if settings.user else []), "ansible_become=true"]


def _line(site: Site, host: Host) -> str:
    address = site.admin_address(host)
    return f"{host.name} ansible_host={address}" if address else host.name

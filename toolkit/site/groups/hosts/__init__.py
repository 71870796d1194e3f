"""Hosts: what the installer, Ansible, HAProxy and the hosts' own programs read."""

from collections.abc import Iterator

from stacks.settings.site.hosts import RedHatHosts
from stacks.site.host_systems import system
from stacks.site.site import Site
from toolkit.site.groups.hosts import daemon_network, haproxy, nic_configuration, openshift_ansible, playbook, runbook
from toolkit.site.output import File, Group, Open


def _render(site: Site) -> Iterator[File | Open]:
    hosts = system(site)
    if hosts is None:
        yield Open("operating system of the GPU hosts", "set site.hosts.dialect")
    elif isinstance(hosts, RedHatHosts):
        yield from openshift_ansible.files(site, hosts)
        yield from playbook.files(site, hosts)
    else:
        yield from nic_configuration.files(site)
    yield from haproxy.files(site)
    yield from daemon_network.files(site, hosts)
    if hosts is not None:
        yield from runbook.files(site, hosts)


GROUP = Group("hosts", "inventories, playbooks, networks and runbook of the hosts", _render)

"""Hosts: what the installer, Ansible, HAProxy and the hosts' own programs read."""

from collections.abc import Iterator

from stacks.settings.site.hosts import RedHatHosts
from stacks.site.host_systems import system
from stacks.site.site import Site
from toolkit.site.groups.hosts import daemon_network, haproxy, nic_configuration, openshift_ansible, playbook, runbook
from toolkit.site.output import File, Group, Open


def _render(site: Site) -> Iterator[File | Open]:
    found = system(site)
    if found is None:
        yield Open("operating system of the GPU hosts", "set site.hosts.dialect")
    elif isinstance(found, RedHatHosts):
        yield from openshift_ansible.files(site, found)
        yield from playbook.files(site, found)
    else:
        yield from nic_configuration.files(site)
    yield from haproxy.files(site)
    yield from daemon_network.files(site, found)
    if found is not None:
        yield from runbook.files(site, found)


GROUP = Group("hosts", "inventories, playbooks, networks and runbook of the hosts", _render)

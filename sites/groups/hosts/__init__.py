"""Hosts: what the installer and Ansible read."""

from collections.abc import Iterator

from sites.groups.hosts import openshift_ansible
from sites.output import File, Group, Open
from sites.site import Site


def _render(site: Site) -> Iterator[File | Open]:
    yield from openshift_ansible.files(site)


GROUP = Group("hosts", "inventories, playbook and roles of the hosts", _render)

"""Hosts: what the installer, Ansible, HAProxy and the hosts' own programs read."""

from collections.abc import Iterator

from stacks.settings.site.hosts import RedHatHosts
from stacks.site.hosts import system
from stacks.site.site import Site
from toolkit.site.groups.hosts import daemon_network, openshift_ansible, playbook, roce, runbook
from toolkit.site.output import File, Group, Open

HAPROXY_PATH = "hosts/haproxy-ingress.cfg"
PORTS = (80, 443)
_NOTE = (
    "# For HAProxy beside your own file, which has the timeouts (defaults) and no sections of these names:\n"
    "# haproxy -f /etc/haproxy/haproxy.cfg -f FILE"
)


def haproxy(site: Site) -> Iterator[File]:
    """Yield the workers in HAProxy's back ends of the ingress; nothing where there is no HAProxy."""
    routers = site.settings.haproxy
    if routers is None:
        return
    hosts = [host for host in site.hosts if (host.name in routers if routers else "worker" in host.roles)]
    sections = [
        "\n    ".join(
            (
                f"listen ingress-router-{port}",
                f"bind *:{port}",
                "mode tcp",
                "balance source",
                *(
                    f"server {host.short} {site.admin_address(host) or host.name}:{port} check inter 1s"
                    for host in hosts
                ),
            )
        )
        for port in PORTS
    ]
    yield File(HAPROXY_PATH, "\n\n".join((_NOTE, *sections)) + "\n", sources=("R-3.2.5-3",))


def _render(site: Site) -> Iterator[File | Open]:
    hosts = system(site)
    if hosts is None:
        yield Open("operating system of the GPU hosts", "set site.hosts.dialect")
    elif isinstance(hosts, RedHatHosts):
        yield from openshift_ansible.files(site, hosts)
        yield from playbook.files(site, hosts)
    else:
        yield from roce.nic_configuration(site)
    yield from haproxy(site)
    yield from daemon_network.files(site, hosts)
    if hosts is not None:
        yield from runbook.files(site, hosts)


GROUP = Group("hosts", "inventories, playbooks, networks and runbook of the hosts", _render)

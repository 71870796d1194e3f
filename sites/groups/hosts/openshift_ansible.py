"""Inventories of openshift-ansible, which adds RHEL hosts to a cluster: 3.11, and 4.x until 4.18."""

from collections.abc import Iterable, Iterator

from sites.output import File
from sites.site import Site

PATH = "hosts/openshift-ansible.ini"
LAST_WITH_PACKAGES = (4, 18)
"""Release after which workers are RHCOS alone (openshift-docs #92899)."""


def files(site: Site) -> Iterator[File]:
    """Yield the inventory; nothing for a release whose workers are RHCOS alone."""
    release = tuple(map(int, site.release.split(".")))
    if release > LAST_WITH_PACKAGES:
        return
    sections = _of_three(site) if site.release.startswith("3.") else _of_four(site)
    text = "\n\n".join("\n".join((f"[{name}]", *lines)) for name, lines in sections)
    note = "# GPU nodes that are to be added; run from openshift-ansible's folder."
    yield File(PATH, f"{note}\n{text}\n", ("R-3.2.5-2", "B-2.5"))


def _of_three(site: Site) -> Iterator[tuple[str, Iterable[str]]]:
    masters = [host.name for host in site.hosts if "master" in host.roles]
    present = [host.name for host in site.hosts if not host.machine]
    yield "OSEv3:children", ("masters", "nodes", "etcd", "new_nodes")
    yield (
        "OSEv3:vars",
        (
            "ansible_become=true",
            "openshift_deployment_type=openshift-enterprise",
            f'openshift_release="{site.release}"',
        ),
    )
    yield "masters", masters
    yield "etcd", masters
    yield "nodes", present
    yield "new_nodes", [f"{host.name} openshift_node_group_name='node-config-compute'" for host in site.gpu_hosts]


def _of_four(site: Site) -> Iterator[tuple[str, Iterable[str]]]:
    yield "all:vars", ("ansible_become=true", 'openshift_kubeconfig_path="~/.kube/config"')
    yield "workers", [host.name for host in site.hosts if not host.machine and "worker" in host.roles]
    yield "new_workers", [host.name for host in site.gpu_hosts]

"""What is done on the hosts and in which order, and what no program of this folder does: firmware and restarts."""

from collections.abc import Iterator

from stacks.settings.site.hosts import CoreOsHosts, RedHatHosts
from stacks.site.site import Site
from toolkit.site.groups.hosts import openshift_ansible, playbook, roles
from toolkit.site.output import File

PATH = "hosts/runbook.md"
_ETHERNET = ("Ethernet", "2")
LINK_TYPES = {"infiniband": ("InfiniBand", "1"), "roce": _ETHERNET, "ethernet": _ETHERNET, "none": _ETHERNET}
"""Mode of the ports of an adapter that has both, and its number as mlxconfig takes it, by fabric."""


def files(site: Site, settings: RedHatHosts | CoreOsHosts) -> Iterator[File]:
    """Yield the runbook."""
    steps = [*_steps(site, settings)]
    text = "\n\n".join(f"## {number}. {title}\n\n{body}" for number, (title, body) in enumerate(steps, 1))
    yield File(PATH, f"# GPU hosts of stack {site.stack}\n\n{text}\n", sources=("B-2.2", "B-2.3"))


def _steps(site: Site, settings: RedHatHosts | CoreOsHosts) -> Iterator[tuple[str, str]]:
    if isinstance(settings, RedHatHosts):
        yield from _prepare(site, settings)
    yield "Mode of the adapters", _link_type(site)
    if isinstance(settings, RedHatHosts):
        yield from _join(site, settings)


def _prepare(site: Site, settings: RedHatHosts) -> Iterator[tuple[str, str]]:
    names = ", ".join(host.name for host in site.gpu_hosts if host.name not in settings.joined)
    if settings.release or settings.subscriptions:
        yield "Registration", f"On {names or 'each host'}: `subscription-manager register` asks for your password."
    inventory, before = (path.removeprefix("hosts/") for path in (playbook.INVENTORY, playbook.BEFORE))
    yield (
        "Preparation",
        "In this folder. It restarts hosts, so drain those that are part of the cluster, and limit it to them in turn "
        "(`--limit`).\n\n```sh\n"
        f"ansible-playbook -i {inventory} {before} --check --diff\n"
        f"ansible-playbook -i {inventory} {before}\n```\n\n"
        "Hosts with RHEL 7 have Python 2.7, for which 2.16 is the last release of ansible-core.",
    )


def _link_type(site: Site) -> str:
    word, number = LINK_TYPES[site.fabric]
    ports = site.gpu_hosts[0].machine.ports.count if site.gpu_hosts[0].machine else 0
    return (
        f"The {ports} compute ports of each host run {word}. `mst status -v` lists the devices; for each, where the "
        "query has LINK_TYPE (others have one mode only) and shows another one:\n\n```sh\n"
        "mst start\n"
        "mlxconfig -d DEVICE -e query LINK_TYPE_P1\n"
        f"mlxconfig -d DEVICE set LINK_TYPE_P1={number}\n```\n\n"
        "It holds from the next restart of the host on; `Next Boot` differs from `Current` until then."
    )


def _join(site: Site, settings: RedHatHosts) -> Iterator[tuple[str, str]]:
    scaleup = openshift_ansible.PLAYBOOKS[site.version[0]]
    approve = (
        ""
        if site.version[0] == min(openshift_ansible.PLAYBOOKS)
        else (" Then approve the hosts' certificates: `oc get csr`, `oc adm certificate approve NAME`.")
    )
    yield (
        "Joining the cluster",
        "In openshift-ansible's folder:\n\n```sh\n"
        f"ansible-playbook -i FOLDER/{openshift_ansible.PATH} {scaleup}\n```\n\n"
        f"Afterwards name the hosts in `site.hosts.joined` and write these files again.{approve}",
    )
    if site.settings.haproxy is not None:
        yield "Load balancer", "Give `haproxy-ingress.cfg` to HAProxy, and reload it."
    if any(role.after_driver for role in roles.variables_by_role(site, settings)):
        path = playbook.AFTER.removeprefix("hosts/")
        inventory = playbook.INVENTORY.removeprefix("hosts/")
        yield (
            "Peer memory",
            "When the operator's driver runs on all hosts, again after each new kernel, and after each new driver with "
            f"`-e peer_memory_again=true`:\n\n```sh\nansible-playbook -i {inventory} {path}\n```\n\n"
            "`lsmod | grep peer` shows nv_peer_mem, also among the users of ib_core. RDMA tests come after it.",
        )

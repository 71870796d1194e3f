"""ESXi: peer-to-peer traffic between a machine's GPU and its adapter, by address translation services."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from stacks.settings.site.esxi import EsxiSettings, GuestMachine
from stacks.site.site import Site
from toolkit.site.output import File, Group, Open

SCRIPT_PATH, RUNBOOK_PATH = "esxi/ats.sh", "esxi/runbook.md"
SCRIPT = File(
    SCRIPT_PATH,
    """\
#!/bin/sh
# In the shell of each ESXi host:
#   ats.sh set    lets the kernel use address translation services from the next boot on
#   ats.sh show   prints what `./hpc verify -f` reads: TRUE twice after the boot, and NUMA nodes of GPUs and adapters
set -eu
case "${1-}" in
set)
    esxcli system settings kernel set -s atsSupport -v TRUE
    ;;
show)
    esxcli system settings kernel list -o atsSupport
    esxcli hardware pci list
    ;;
*)
    echo "usage: $0 set | show" >&2
    exit 2
    ;;
esac
""",
    sources=("N-2.1", "N-2.2", "N-4.1"),
    executable=True,
)
_PEERS = {"pciPassthru.allowP2P": "true", "pciPassthru.RelaxACSforP2P": "true"}
"""Peer-to-peer traffic: allowed, and sent directly by the PCIe switch above the device that has ATS."""
_SCRIPT = PurePosixPath(SCRIPT_PATH).name


def machine_path(machine: GuestMachine) -> str:
    """Return the path of the file with the keys of a virtual machine."""
    return f"esxi/{machine.name}.vmx.txt"


def keys(machine: GuestMachine) -> dict[str, str]:
    """Return the keys of a machine with their values."""
    numa = {} if machine.numa_node is None else {"numa.nodeAffinity": str(machine.numa_node)}
    gpus = {f"pciPassthru{number}.cfg.gpu-pci-id": address for number, address in sorted(machine.gpus.items())}
    return {**_PEERS, **gpus, **numa}


def machine_files(settings: EsxiSettings) -> Iterator[File | Open]:
    """Yield a file for each machine; open is the NUMA node that was not read yet."""
    for machine in settings.machines:
        if machine.numa_node is None:
            yield Open(
                f"the NUMA node of {machine.name}'s GPU and adapter",
                f"run `ats.sh show` on {machine.host}, and set numa_node of the machine in site.esxi",
            )
        note = f"# {machine.name} on {machine.host}: VM options, Advanced, Configuration Parameters; while it is off.\n"
        lines = "".join(f'{key} = "{value}"\n' for key, value in keys(machine).items())
        yield File(machine_path(machine), note + lines, sources=("N-2.3", "N-2.4", "N-4.3"))


def runbook(settings: EsxiSettings) -> Iterator[File | Open]:
    """Yield the runbook; open are adapters without a name."""
    for machine in settings.machines:
        if machine.adapter is None:
            yield Open(
                f"the name of {machine.name}'s adapter in the machine",
                "run `mst start; mst status` in it, and set adapter of the machine in site.esxi",
            )
    sections = (_before(settings), _adapters(settings), _restarts(settings), _checks(settings))
    text = "\n\n".join(("# ATS for GPUs and adapters of virtual machines", *sections))
    yield File(
        RUNBOOK_PATH, f"{text}\n", sources=("N-2.1", "N-2.2", "N-3.5", "N-3.6", "N-3.7", "N-3.8", "N-3.9", "N-4.2")
    )


def _before(settings: EsxiSettings) -> str:
    hosts = ", ".join(settings.hosts)
    steps = (
        f"On each host ({hosts}): `sh {_SCRIPT} set`. It takes effect at the restart below.",
        *(
            f"Shut {machine.name} down, set the keys of `{PurePosixPath(machine_path(machine)).name}`, and start it."
            for machine in settings.machines
        ),
    )
    return _section("1. Hosts and machines", steps)


def _adapters(settings: EsxiSettings) -> str:
    steps = (
        "As root in every machine, with the same result in all: `dpkg -l | grep mlnx-ofed` and "
        "`cat /sys/class/infiniband/mlx5*/fw_ver`.",
        *(step for machine in settings.machines for step in _adapter(machine)),
        "`mlxconfig` ends with `Please reboot machine to load new configurations`. Wait: section 3 restarts all of it.",
    )
    return _section("2. ATS in the adapters' firmware, in every machine", steps)


def _adapter(machine: GuestMachine) -> Iterator[str]:
    device = machine.adapter or "/dev/mst/DEVICE"
    yield (
        f"In {machine.name}: `mst start`, then `mlxconfig -d {device} query`. Without a line `ATS_ENABLED` the "
        "firmware is too old: update it first."
    )
    yield f"In {machine.name}: `mlxconfig -d {device} set ATS_ENABLED=true`, and answer y."


def _restarts(settings: EsxiSettings) -> str:
    steps = [
        f"All of {', '.join(machine.name for machine in settings.machines)} are set before the first host restarts."
    ]
    for host in settings.hosts:
        guests = ", ".join(machine.name for machine in settings.machines if machine.host == host)
        steps += [
            f"{host}: shut its machines down{f' ({guests})' if guests else ''}, or move them by vMotion where it can.",
            f"{host}: enter maintenance mode; restart ESXi; leave maintenance mode.",
            f"{host}: `sh {_SCRIPT} show` prints TRUE twice for atsSupport, configured and runtime.",
        ]
    steps += [
        "Start vCenter, where it was down, then the machines.",
        "The bit ACS Direct Translated of the PCIe switches has to be set again: a machine with the keys of section 1 "
        "does so when it starts. Start machines after the host, also after later restarts.",
    ]
    return _section("3. Restarts, one host after the other", steps)


def _checks(settings: EsxiSettings) -> str:
    affinities = (
        f"{machine.host}: `ats.sh show` has NUMA Node {machine.numa_node} for the GPU"
        f"{''.join(f' {address}' for _, address in sorted(machine.gpus.items()))} and the adapter of {machine.name}."
        for machine in settings.machines
        if machine.numa_node is not None
    )
    steps = (
        *affinities,
        "In every machine: `lspci -vvv` has `ATSCtl: Enable+` for the adapter, and `mlxconfig` ATS_ENABLED True(1).",
        "Save what these commands print in files, and let `./hpc verify -f FILE` judge them.",
    )
    return _section("4. Checks", steps)


def _section(title: str, steps: tuple[str, ...] | list[str]) -> str:
    return "\n".join((f"## {title}", "", *(f"- [ ] {step}" for step in steps)))


def _render(site: Site) -> Iterator[File | Open]:
    if site.settings.esxi is None:
        return
    yield SCRIPT
    yield from machine_files(site.settings.esxi)
    yield from runbook(site.settings.esxi)


GROUP = Group("esxi", "ATS on ESXi, keys of virtual machines, and the order of restarts", _render)

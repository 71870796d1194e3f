"""What a pod sees of itself and of its machine: whoami, its device files, its network, its limits."""

from collections.abc import Sequence

from toolkit.simulator.performance import ports, verbs_tools
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed

VERBS_MAJOR, MISC_MAJOR, RDMA_CM_MINOR = 231, 10, 57
FIRST_MINORS = {"issm": 64, "ucm": 224, "umad": 0, "uverbs": 192}
"""Numbers of the device files of the first HCA, as the Redpaper lists them; further HCAs follow."""
MANAGEMENT = frozenset({"issm", "umad"})
LOOPBACK_MTU = 65536
MEMLOCK_KIB = 64
"""The default limit of a container runtime."""
NETWORK = "/sys/class/net"
MTU_FILES = f"{NETWORK}/*/mtu"
VERBS = "/sys/class/infiniband"
DEVICES = "/dev/infiniband"


def whoami(_words: Sequence[str], job: Launched) -> Printed:
    """Simulate whoami: OpenShift's runtime names an account without a name by its number."""
    return Printed((str(job.me.uid) if job.me.uid else "root",))


def echo(words: Sequence[str], _job: Launched) -> Printed:
    """Simulate echo."""
    return Printed((" ".join(words[1:]),))


def getent(words: Sequence[str], job: Launched) -> Printed:
    """Simulate `getent hosts` of another job's service, which is named after the job."""
    name = words[-1]
    peer = job.peers.get(name.partition(".")[0]) if "hosts" in words[1:-1] else None
    return Printed((f"{peer.address:<15} {name}",)) if peer else Printed((), 2)


def ls(words: Sequence[str], job: Launched) -> Printed:
    """Simulate ls of /dev/infiniband, /sys/class/infiniband and /sys/class/net; of other folders nothing is known."""
    requested = [word.rstrip("/") or "/" for word in words[1:] if not word.startswith("-")]
    folders = {DEVICES: devices(job), NETWORK: interfaces(job), VERBS: verbs_tools.in_sysfs(job)}
    existing = [folder for folder in requested if folders.get(folder)]
    gone = [folder for folder in requested if folder in folders and not folders[folder]]
    # Errors go past the buffer of the listing, so they come first.
    lines = [f"ls: cannot access '{folder}': No such file or directory" for folder in gone]
    for folder in sorted(existing):
        entries = folders[folder]
        if len(requested) > 1:
            lines += [""] * (folder != min(existing)) + [f"{folder}:"]
        lines += ["total 0", *entries] if _long(words) else [_name(entry) for entry in entries]
    return Printed(tuple(lines), 2 if gone else 0, lines[0] if gone else "")


def _long(words: Sequence[str]) -> bool:
    return any(word.startswith("-") and not word.startswith("--") and "l" in word for word in words[1:])


def _name(entry: str) -> str:
    return entry.partition(" -> ")[0].rpartition(" ")[2]


def devices(job: Launched) -> list[str]:
    """Return /dev/infiniband as ls -l shows it: only devices that the pod was given, and that are there."""
    machine, entries = job.me.machine, []
    indices = [number for number, hca in enumerate(ports.in_order(machine.hcas)) if hca.name in job.me.devices]
    if not indices:
        return []
    for kind, first in FIRST_MINORS.items():
        # The kernel of a driver's container of today has no ucm any more.
        if kind == "ucm" and not machine.umad_for_all:
            continue
        mode = "crw-rw-rw-." if machine.umad_for_all or kind not in MANAGEMENT else "crw-------."
        entries += [(f"{kind}{number}", mode, VERBS_MAJOR, first + number) for number in indices]
    entries.append(("rdma_cm", "crw-rw-rw-.", MISC_MAJOR, RDMA_CM_MINOR))
    return [
        f"{mode} 1 root root {major:3}, {minor:3} {_date(job)} {name}" for name, mode, major, minor in sorted(entries)
    ]


def interfaces(job: Launched) -> list[str]:
    """Return /sys/class/net of the pod as ls -l shows it."""
    return [
        f"lrwxrwxrwx. 1 root root 0 {_date(job)} {name} -> ../../devices/virtual/net/{name}"
        for name in sorted(("lo", *_networks(job)))
    ]


def _networks(job: Launched) -> list[str]:
    return ["eth0", *(f"net{number}" for number in range(1, len(job.me.networks) + 1))]


def _date(job: Launched) -> str:
    return f"{job.started:%b} {job.started.day:2} {job.started:%H:%M}"


def ulimit(words: Sequence[str], job: Launched) -> Printed:
    """Simulate `ulimit -l` of the shell: KiB that may be pinned."""
    if "-l" not in words[1:]:
        return Printed(("unlimited",) if len(words) == 1 else ())
    return Printed(("unlimited" if job.me.machine.memlock_unlimited else str(MEMLOCK_KIB),))


def ifconfig(_words: Sequence[str], job: Launched) -> Printed:
    """Simulate ifconfig in the form of Robotic Drive's log."""
    lines = [
        f"eth0      Link encap:Ethernet  HWaddr {_mac(job)}",
        f"          inet addr:{job.me.address}  Mask:255.255.254.0",
        f"          UP BROADCAST RUNNING MULTICAST  MTU:{job.me.mtu}  Metric:1",
        "",
        "lo        Link encap:Local Loopback",
        "          inet addr:127.0.0.1  Mask:255.0.0.0",
        f"          UP LOOPBACK RUNNING  MTU:{LOOPBACK_MTU}  Metric:1",
        "",
    ]
    return Printed(tuple(lines))


def mtus(job: Launched) -> dict[str, int]:
    """Return the interfaces of the pod whose MTU is known, with it in bytes."""
    of_networks = dict(zip(_networks(job)[1:], job.me.network_mtus, strict=False))
    return {"eth0": job.me.mtu, "lo": LOOPBACK_MTU, **of_networks}


def grep(words: Sequence[str], job: Launched) -> Printed:
    """Simulate grep of the MTUs in /sys/class/net; of other files nothing is known."""
    if MTU_FILES not in words[1:]:
        return Printed()
    return Printed(tuple(f"{NETWORK}/{name}/mtu:{mtu}" for name, mtu in sorted(mtus(job).items())))


def ip(words: Sequence[str], job: Launched) -> Printed:
    """Simulate `ip link` and `ip addr`; addresses of secondary networks are left out."""
    requested = next((word for word in words[1:] if not word.startswith("-")), "")
    addresses = requested in ("a", "addr", "address")
    if not addresses and requested not in ("l", "link"):
        return Printed()
    lines = [
        f"1: lo: <LOOPBACK,UP,LOWER_UP> mtu {LOOPBACK_MTU} qdisc noqueue state UNKNOWN mode DEFAULT group default",
        "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00",
        *(["    inet 127.0.0.1/8 scope host lo"] if addresses else []),
        f"2: eth0@if4: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {job.me.mtu} qdisc noqueue state UP mode DEFAULT",
        f"    link/ether {_mac(job)} brd ff:ff:ff:ff:ff:ff link-netnsid 0",
        *([f"    inet {job.me.address}/23 scope global eth0"] if addresses else []),
        *(
            f"{3 + number}: {name}@if{10 + number}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {mtu} qdisc noqueue state UP"
            for number, (name, mtu) in enumerate(mtus(job).items())
            if name not in ("lo", "eth0")
        ),
    ]
    return Printed(tuple(lines))


def _mac(job: Launched) -> str:
    """Return the address that OVN gives: 0a:58, and the four numbers of the IPv4 address."""
    parts = [int(part) for part in job.me.address.split(".") if part.isdecimal()]
    return ":".join(f"{octet:02x}" for octet in (0x0A, 0x58, *parts))

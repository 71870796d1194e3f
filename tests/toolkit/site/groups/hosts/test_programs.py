"""The hosts' files, read by the programs that they are for."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import ansible, debian
from tests.toolkit.site.groups.hosts import kit
from toolkit.site.groups.hosts import roles

SCRIPTS = ("roce_qos/files/hpc-roce-qos", "peer_memory/files/hpc-build-nv-peer-mem")


@pytest.mark.engine  # starts Ansible
@pytest.mark.parametrize("stack", ["redpaper-4.4", "supermicro-3.11"])
def test_inventories_have_the_hosts_of_the_settings(stack: str, tmp_path: Path) -> None:
    """Ansible reads the groups as the settings have them."""
    found = kit.of(stack)
    kit.write(found, tmp_path)
    groups = listed(tmp_path)
    expected = EXPECTED[stack] | {"gpu_hosts": [host.name for host in found.gpu_hosts]}
    assert {name: groups[name].get("hosts", []) for name in expected} == expected


EXPECTED = {
    "redpaper-4.4": {"new_workers": ["dgx01.ocp4.scale.ibm.com", "dgx02.ocp4.scale.ibm.com"]},
    "supermicro-3.11": {
        "masters": [f"master{number}.smc.example.com" for number in (1, 2, 3)],
        "etcd": [f"master{number}.smc.example.com" for number in (1, 2, 3)],
        "new_nodes": ["gpu1.smc.example.com"],
    },
}


def listed(folder: Path) -> dict[str, Any]:
    """Return the two inventories of a folder as Ansible reads them."""
    done = subprocess.run(
        [ansible.program("ansible-inventory"), "-i", "inventory.yml", "-i", "openshift-ansible.ini", "--list"],
        cwd=folder,
        env=os.environ | {"LC_ALL": "C.UTF-8", "ANSIBLE_HOME": str(folder / "home")},
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def haproxy(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Let HAProxy check a text beside the defaults that its own file has."""
    (folder / "own.cfg").write_text("defaults\n    timeout connect 5s\n    timeout client 5s\n    timeout server 5s\n")
    (folder / "ingress.cfg").write_text(text)
    return subprocess.run(
        [debian.program("haproxy"), "-c", "-f", folder / "own.cfg", "-f", folder / "ingress.cfg"],
        env=debian.environment(),
        check=False,
        capture_output=True,
        text=True,
    )


def test_haproxy_accepts_its_file(tmp_path: Path) -> None:
    """HAProxy accepts the back ends, and refuses a word that it does not know."""
    text = kit.files(kit.of("redpaper-4.4"))["haproxy-ingress.cfg"]
    assert haproxy(tmp_path, text).returncode == 0
    refused = haproxy(tmp_path, text.replace("balance source", "balance sources"))
    assert refused.returncode == 1
    assert "balance only supports" in refused.stderr
    assert text.count("server dgx01 192.168.1.19:") == 2
    assert "master" not in text


def test_scripts_have_no_finding_of_shellcheck() -> None:
    """Shellcheck finds nothing in the scripts that run on hosts."""
    files = [str(roles.FOLDER / name) for name in SCRIPTS]
    program = debian.program("shellcheck")
    done = subprocess.run([program, *files], env=debian.environment(), check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_port_gets_the_class(tmp_path: Path) -> None:
    """The script sets trust, pauses, RoCE's version and class of every port, and the class of notifications."""
    log = 'echo "$(basename "$0") $*" >> $STATE/log'
    programs = ansible.fakes(
        tmp_path / "bin", dict.fromkeys(("mlnx_qos", "cma_roce_mode", "cma_roce_tos", "sysctl"), log)
    )
    (tmp_path / "roce.conf").write_text(
        'TRAFFIC_CLASS=106\nPFC=0,0,0,1,0,0,0,0\nCNP_DSCP=48\nCNP_PRIORITY=6\nPORTS="mlx5_0=rail0 mlx5_1=rail1"\n'
    )
    written = {}
    for number in (0, 1):
        for path in (
            f"class/infiniband/mlx5_{number}/tc/1/traffic_class",
            f"class/net/rail{number}/ecn/roce_np/cnp_dscp",
            f"class/net/rail{number}/ecn/roce_np/cnp_802p_prio",
        ):
            file = tmp_path / "sys" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            written[path] = file
    path = f"{programs}:{os.environ['PATH']}"
    subprocess.run(
        [roles.FOLDER / SCRIPTS[0], tmp_path / "roce.conf"],
        env=os.environ | {"PATH": path, "SYSFS": str(tmp_path / "sys")},
        check=True,
    )
    assert [file.read_text().strip() for file in written.values()] == ["106", "48", "6"] * 2
    assert (programs / "state/log").read_text().splitlines() == [
        *(
            line
            for number in (0, 1)
            for line in (
                f"mlnx_qos -i rail{number} --trust dscp --pfc 0,0,0,1,0,0,0,0",
                f"cma_roce_mode -d mlx5_{number} -p 1 -m 2",
                f"cma_roce_tos -d mlx5_{number} -t 106",
            )
        ),
        "sysctl -w net.ipv4.tcp_ecn=1",
    ]


def test_a_module_is_built_when_the_driver_runs(tmp_path: Path) -> None:
    """Before the driver's container runs the script changes nothing, and says so."""
    programs = ansible.fakes(tmp_path / "bin", {"uname": "echo 3.10.0-957.27.2.el7.x86_64", "ln": "exit 9"})
    done = subprocess.run(
        [roles.FOLDER / SCRIPTS[1], "https://example.com/nv_peer_memory.git", "1.0-9"],
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "wait until the driver's container runs" in done.stderr
    assert "3.10.0-957.27.2.el7.x86_64" in done.stderr

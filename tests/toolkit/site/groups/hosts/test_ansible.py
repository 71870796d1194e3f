"""The playbooks, run by Ansible against empty folders with the hosts' programs as fakes."""

import hashlib
from pathlib import Path

import pytest

from stacks.site.site import Site
from tests.support import ansible
from tests.toolkit.site.groups.hosts import kit

pytestmark = pytest.mark.engine

HOST = "dgx01.ocp4.scale.ibm.com"
FAKES = {
    "rpm": "test -e $STATE/driver && echo nvidia-driver-418.87-1; exit 0",
    "subscription-manager": """
case "$*" in
    identity) ;;
    "list --consumed --pool-only") cat $STATE/pools 2>/dev/null || true ;;
    attach\\ --pool=*) echo "${2#--pool=}" >> $STATE/pools ;;
    "release --show") cat $STATE/release 2>/dev/null || echo "Release not set" ;;
    release\\ --set=*) echo "Release: ${2#--set=}" > $STATE/release ;;
    "repos --list-enabled") cat $STATE/repos 2>/dev/null || true ;;
    repos\\ --enable=*) printf 'Repo ID:   %s\\nRepo Name: x\\n' "${2#--enable=}" >> $STATE/repos ;;
    *) exit 2 ;;
esac""",
    "grubby": """
case "$*" in
    --info=DEFAULT) cat $STATE/arguments 2>/dev/null || echo 'args="quiet"' ;;
    --update-kernel=ALL\\ --args=*) echo "${2#--args=}" > $STATE/arguments ;;
    *) exit 2 ;;
esac""",
    "getenforce": "cat $STATE/mode 2>/dev/null || echo Enforcing",
    "setenforce": 'test "$1" = 0 && echo Permissive > $STATE/mode || echo Enforcing > $STATE/mode',
    "semodule": """
case "$1" in
    -l) cat $STATE/modules 2>/dev/null || true ;;
    -i) test -e "$2" && basename "$2" .pp >> $STATE/modules ;;
esac""",
    "checkmodule": 'while [ "$1" != -o ]; do shift; done; cp "$3" "$2"',
    "semodule_package": 'cp "$4" "$2"',
    "nvidia-container-cli": "exit 0",
    "restorecon": "exit 0",
}


ANOTHER = hashlib.sha256(b"another\n").hexdigest()
POOL = "8a85f9833e1404a9013e3cddf95a0599"
ARGUMENTS = "Validating*own network driver"


def everything(downloads: Path) -> Site:
    """Return the Redpaper's site, made up so that one host calls for nearly all roles: each start of a task costs."""
    lab = kit.of("redpaper-4.4")
    archive = archived(downloads)
    given = lab.settings.model_dump(mode="json", exclude_unset=True)["hosts"]
    more = {
        "ofed": given["ofed"] | {"folder": str(downloads), "sha256": hashlib.sha256(archive.read_bytes()).hexdigest()},
        "subscription_pool": POOL,
        "container_runtime": "docker",
        "host_driver": {
            "packages": ["nvidia-driver"],
            "hook": "nvidia-container-runtime-hook",
            "hook_file": True,
        },
        "selinux": "permissive",
        "selinux_modules": ["infiniband.pp", "nvidia-container.te"],
    }
    found = kit.of("redpaper-4.4", hosts=given | more)
    needs = found.on_hosts.model_copy(update={"driver": "host", "memlock_by_host": True})
    return found.model_copy(update={"on_hosts": needs, "traffic_class": 106})


def archived(downloads: Path) -> Path:
    """Write a file that stands for the driver's archive."""
    downloads.mkdir()
    archive = downloads / "MLNX_OFED_LINUX-4.7-3.2.9.0-rhel7.6-x86_64.tgz"
    archive.write_text("an archive\n")
    return archive


def on_host(folder: Path) -> list[Path]:
    """Return the files that were written on the host."""
    return [path for path in (folder / HOST).rglob("*") if path.is_file()]


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    """Check mode writes nothing, a run writes all files, and another one changes none."""
    folder = kit.write(everything(tmp_path / "downloads"), tmp_path / "hosts")
    (folder / "roles/selinux/files").mkdir()
    for name in ("infiniband.pp", "nvidia-container.te"):
        (folder / "roles/selinux/files" / name).write_text("module\n")
    programs = ansible.fakes(tmp_path / "programs", FAKES)
    (tmp_path / HOST / "etc/yum.repos.d").mkdir(parents=True)  # as any host has it
    arguments = ("playbook.yml", "after-driver.yml", "--limit", HOST)
    assert any(ansible.changed(ansible.run(folder, *arguments, "--check", fakes=programs)).values())
    assert [*(tmp_path / "programs/state").iterdir(), *on_host(tmp_path)] == []
    ansible.run(folder, *arguments, fakes=programs)
    again = ansible.run(folder, *arguments, fakes=programs)
    assert ansible.changed(again) == {HOST: 0}, again
    assert (tmp_path / "programs/state/pools").read_text() == f"{POOL}\n"
    written = {str(path.relative_to(tmp_path / HOST)): path.read_text() for path in on_host(tmp_path)}
    assert written.keys() == WRITTEN.keys()
    for path, parts in WRITTEN.items():
        assert [part for part in parts if part not in written[path]] == [], written[path]


WRITTEN: dict[str, tuple[str, ...]] = {
    "etc/hpc/roce-qos.conf": (
        "TRAFFIC_CLASS=106\n",
        "PFC=0,0,0,1,0,0,0,0\n",
        'PORTS="mlx5_0=ib0 mlx5_1=ib1 mlx5_2=ib2 mlx5_3=ib3"\n',
    ),
    "etc/modprobe.d/blacklist-nouveau.conf": ("blacklist nouveau\n",),
    "etc/selinux/config": ("SELINUX=permissive\n",),
    "etc/sysconfig/network-scripts/ifcfg-ib1": ("DEVICE=ib1\n", "IPADDR=10.10.11.19\n", "PREFIX=24\n"),
    "etc/systemd/system/docker.service.d/10-memlock.conf": ("LimitMEMLOCK=infinity\n",),
    "etc/systemd/system/hpc-nv-peer-mem.service": (),
    "etc/systemd/system/hpc-roce-qos.service": (),
    "etc/yum.repos.d/nvidia-dgx-7.repo": (
        "[nvidia-dgx-7-updates]\n",
        "baseurl = https://international.download.nvidia.com/dgx/repos/rhel7-updates/\n",
        "gpgcheck = 1\n",
        "gpgkey = file:///etc/pki/rpm-gpg/RPM-GPG-KEY-dgx-cosmos-support\n",
    ),
    "usr/local/sbin/hpc-build-nv-peer-mem": (),
    "usr/local/sbin/hpc-roce-qos": (),
    "usr/local/share/hpc-selinux/infiniband.pp": (),
    "usr/local/share/hpc-selinux/nvidia-container.mod": (),
    "usr/local/share/hpc-selinux/nvidia-container.pp": (),
    "usr/local/share/hpc-selinux/nvidia-container.te": (),
    "usr/share/containers/oci/hooks.d/oci-nvidia-hook.json": ('"hook": "/usr/bin/nvidia-container-runtime-hook"',),
}
"""Files on the host, with parts of their texts."""


def test_a_wrong_parameter_is_refused(tmp_path: Path) -> None:
    """A misspelt parameter of a module fails the run by its name, so the runs above would notice one."""
    folder = kit.write(kit.of("redpaper-4.4"), tmp_path / "hosts")
    tasks = folder / "roles/repositories/tasks/main.yml"
    tasks.write_text(tasks.read_text().replace("gpgcheck:", "gpgchk:"))
    output = ansible.run(folder, "playbook.yml", "--start-at-task", "Write further repositories", code=2)
    assert "gpgchk" in output


def test_a_driver_on_the_host_is_refused(tmp_path: Path) -> None:
    """Where the operator brings the driver, a play changes nothing on a host that has one."""
    folder = kit.write(kit.of("redpaper-4.4"), tmp_path / "hosts")
    programs = ansible.fakes(tmp_path / "programs", FAKES)
    (programs / "state/driver").touch()
    output = ansible.run(folder, "playbook.yml", "--limit", HOST, fakes=programs, code=2)
    assert "Remove nvidia-driver-418.87-1" in output
    assert ansible.changed(output) == {HOST: 0}


def test_an_archive_that_was_not_checked_is_refused(tmp_path: Path) -> None:
    """A driver's archive with another checksum, or without one in the settings, is not unpacked."""
    found = everything(tmp_path / "downloads")
    folder = kit.write(found, tmp_path / "hosts")
    (tmp_path / "downloads").joinpath("MLNX_OFED_LINUX-4.7-3.2.9.0-rhel7.6-x86_64.tgz").write_text("another\n")
    arguments = ("playbook.yml", "--limit", HOST, "--start-at-task", "Read the archive's checksum")
    output = " ".join(ansible.run(folder, *arguments, code=2).split())
    assert f"downloads/MLNX_OFED_LINUX-4.7-3.2.9.0-rhel7.6-x86_64.tgz has sha256 {ANOTHER}, not" in output
    assert "correct site.hosts.ofed.sha256" in output
    inventory = folder / "inventory.yml"
    inventory.write_text("".join(line for line in inventory.read_text().splitlines(True) if "ofed_sha256" not in line))
    output = ansible.run(folder, "playbook.yml", "--limit", HOST, "--start-at-task", ARGUMENTS, code=2)
    assert "missing required arguments: ofed_sha256" in output

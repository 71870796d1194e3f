"""Spectrum Scale's clients on hosts: IBM's commands, and variables of IBM's collection."""

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from stacks.loading import settings
from stacks.site import assembly as site
from tests.support import ansible, debian
from tests.support.mutated import only
from tests.support.recorded import ROOT
from tests.support.stack_settings import changed, data, expect_refusal
from toolkit.evidence.tools.mmlsconfig import COMMON, MmLsConfig
from toolkit.site.groups.scale import GROUP, commands, variables
from toolkit.site.output import Open, written

PAPER = ROOT / "tests" / "toolkit" / "evidence" / "logs" / "mmlsconfig" / "r-3.3-7.log"
"""The configuration that the Redpaper prints, within the frame of mmlsconfig."""
COMMANDS = ("mmauth", "mmchconfig", "mmcrnodeclass", "mmlscluster", "mmlsconfig", "mmmount", "mmremotecluster")
STUBS = (*COMMANDS, "mmremotefs", "mmshutdown", "mmstartup", "spectrumscale")
Values = Mapping[str, Mapping[str, str]]
"""Class of nodes -> attribute -> value."""


def rendered(content: Any) -> tuple[dict[str, str], tuple[Open, ...]]:
    """Return the texts of the files by path, and what is open."""
    files, missing = written(GROUP, site.of(settings.parse(content, "test"), "test"))
    return {file.path: file.text for file in files}, missing


def inventory(content: Any) -> dict[str, Any]:
    """Return hosts and variables of the inventory for IBM's collection."""
    found: dict[str, Any] = yaml.safe_load(rendered(content)[0][variables.PATH])["all"]["children"]["scale_cluster"]
    return found


def with_scale(**scale: Any) -> dict[str, Any]:
    """Return the data of the Redpaper's stack with other settings of Scale."""
    content = data("redpaper-4.4")
    content["site"]["scale"] |= scale
    return content


def run(script: str, folder: Path, *arguments: str) -> list[list[str]]:
    """Run a step of the script with commands that only record what they are given; return what they were given."""
    record = folder / "record"
    stub = f'#!/bin/bash\nprintf "%s\\0" "${{0##*/}}" "$@" >> {record}\necho >> {record}\n'
    for name in STUBS:
        (folder / name).write_text(stub)
        (folder / name).chmod(0o755)
    path = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", script, "commands.sh", *arguments], cwd=folder, env=path, check=True)
    return [line.rstrip("\0").split("\0") for line in record.read_text().splitlines()]


def changes(calls: list[list[str]]) -> Values:
    """Return what calls of mmchconfig set."""
    found: dict[str, dict[str, str]] = {}
    for name, *arguments in calls:
        if name == "mmchconfig":
            attribute, _, value = arguments[0].partition("=")
            node_class = arguments[2] if arguments[1:2] == ["-N"] else COMMON
            found.setdefault(COMMON if node_class == "all" else node_class, {})[attribute] = value
    return found


def printed(values: Values) -> Iterator[str]:
    """Yield what mmlsconfig prints of these values, in both its forms."""
    cluster = "clusterName test"
    groups = "".join(
        f"[{name}]\n" + "".join(f"{key} {value}\n" for key, value in own.items()) for name, own in values.items()
    )
    head = "Configuration data for cluster test:\n------------------------------------\n"
    yield f"{head}{cluster}\n{groups}\nFile systems in cluster test:\n-----------------------------\n(none)\n"
    records = "".join(
        f"mmlsconfig::0:1:::{key}:{quote(value, safe=' ')}:{'' if name == COMMON else name}:\n"
        for name, own in values.items()
        for key, value in own.items()
    )
    header = "mmlsconfig::HEADER:version:reserved:reserved:configParameter:value:nodeList:\n"
    yield f"{header}mmlsconfig::0:1:::clusterName:test::\n{records}"


def read(log: str | Path) -> Values:
    """Return the values of a log of mmlsconfig, without what every cluster has by itself."""
    own = {"clusterName", "clusterId", "ccrEnabled", "cipherList"}
    found: dict[str, dict[str, str]] = {}
    reading = only(MmLsConfig, log)
    assert reading.complete, reading.incomplete
    for row in reading.rows:
        if row.name not in own:
            found.setdefault(row.group, {})[row.name] = row.value
    return found


def test_the_papers_configuration_comes_out(tmp_path: Path) -> None:
    """For the Redpaper's stack the script sets what the paper prints, and both forms of mmlsconfig read it back."""
    script = rendered(data("redpaper-4.4"))[0][commands.PATH]
    values = changes(run(script, tmp_path, "tune"))
    assert values == read(PAPER)
    for text in printed(values):
        assert read(text) == values


def test_ibms_role_sets_the_same(tmp_path: Path) -> None:
    """What the collection's role gives to mmchconfig is what the script gives to it."""
    content = data("redpaper-4.4")
    calls = [
        # As roles/core_configure/tasks/config.yml has it, by the module that splits as a shell does, and runs none.
        shlex.split(f"mmchconfig {key}={value} -N {entry['nodeclass']}")
        for entry in inventory(content)["vars"]["scale_config"]
        for param in entry["params"]
        for key, value in param.items()
    ]
    assert changes(calls) == changes(run(rendered(content)[0][commands.PATH], tmp_path, "tune"))
    assert all(len(call) == 4 for call in calls)


def test_values_of_the_collection_are_no_booleans() -> None:
    """A bare yes would be a boolean to YAML 1.1: attributes are texts, and the collection's own switches booleans."""
    shared = yaml.safe_load(rendered(data("redpaper-4.4"))[0][variables.PATH])["all"]["children"]["scale_cluster"][
        "vars"
    ]
    params = [value for entry in shared["scale_config"] for param in entry["params"] for value in param.values()]
    assert {type(value) for value in params} == {str}
    (mounted,) = shared["scale_remotemount_filesystem_name"]
    assert mounted["scale_remotemount_client_mount_fs"] == "yes"
    assert shared["scale_prepare_disable_firewall"] is False
    assert "lookup(" in shared["scale_remotemount_storage_gui_password"]


@pytest.mark.engine  # starts Ansible
def test_ansible_reads_the_inventory(tmp_path: Path) -> None:
    """Ansible finds the hosts with their variables, each of the type that was meant."""
    content = data("redpaper-4.4")
    (tmp_path / "hosts.yml").write_text(rendered(content)[0][variables.PATH])
    command = [str(ansible.program("ansible-inventory")), "-i", str(tmp_path / "hosts.yml"), "--list"]
    listed = subprocess.run(command, env=os.environ | {"ANSIBLE_HOME": str(tmp_path)}, capture_output=True, check=True)
    found = json.loads(listed.stdout)
    planned = inventory(content)
    assert sorted(found["scale_cluster"]["hosts"]) == sorted(planned["hosts"])
    for host, own in planned["hosts"].items():
        read_back = found["_meta"]["hostvars"][host]
        expected = {**own, "scale_config": planned["vars"]["scale_config"]}
        assert {name: read_back[name] for name in expected} == expected


def test_names_of_daemons_have_their_own_domain() -> None:
    """Daemon names may be in another domain than the nodes' own."""
    hosts = yaml.safe_load(rendered(data("redpaper-4.4"))[0][variables.PATH])["all"]["children"]["scale_cluster"][
        "hosts"
    ]
    names = {name: (each["scale_admin_nodename"], each["scale_daemon_nodename"]) for name, each in hosts.items()}
    assert names["dgx01.ocp4.scale.ibm.com"] == ("dgx01.ocp4.scale.ibm.com", "dgx01.ocp4.scale.com")
    assert [name for name, each in hosts.items() if each["scale_cluster_quorum"]] == ["scale00.ocp4.scale.ibm.com"]


def test_the_steps_of_the_remote_mount(tmp_path: Path) -> None:
    """The owner lets the clients in, and they mount the file system over the contact nodes."""
    script = rendered(with_scale(local="lake", mount="/gpfs/ess3000_4M"))[0][commands.PATH]
    assert run(script, tmp_path, "grant", "client.pub") == [
        ["mmauth", "add", "SpectrumScale.ocp4.scale.ibm.com", "-k", "client.pub"],
        ["mmauth", "grant", "SpectrumScale.ocp4.scale.ibm.com", "-f", "ess3000_4M"],
    ]
    (tmp_path / "record").unlink()
    contacts = "fscc-fab3-3-a-priv.bda.scale.com,fscc-fab3-3-b-priv.bda.scale.com"
    owner = "ess3000.bda.scale.ibm.com"
    mounted = run(script, tmp_path, "mount_remote", "owner.pub")
    assert mounted[0] == ["mmremotecluster", "add", owner, "-n", contacts, "-k", "owner.pub"]
    assert mounted[1] == shlex.split(f"mmremotefs add lake -f ess3000_4M -C {owner} -T /gpfs/ess3000_4M -A yes")
    assert mounted[2][:2] == ["mmmount", "lake"]
    for step in ("grant", "no-step"):
        with pytest.raises(subprocess.CalledProcessError):
            run(script, tmp_path, step)


def test_nodes_are_added_by_the_toolkit(tmp_path: Path) -> None:
    """Each client is added, and each installation is checked before it runs."""
    script = rendered(data("redpaper-4.4"))[0][commands.PATH]
    calls = run(script, tmp_path, "add_nodes")
    assert calls[:2] == [["spectrumscale", "node", "add", f"dgx0{n}.ocp4.scale.ibm.com"] for n in (1, 2)]
    assert [call[1:] for call in calls[2:]] == [
        ["install", "--precheck"],
        ["install"],
        ["deploy", "--precheck"],
        ["deploy"],
    ]


@pytest.mark.parametrize("gpus", [True, False])
def test_shellcheck_finds_nothing(gpus: bool, tmp_path: Path) -> None:
    """The script is sound, also where no GPU host is a client."""
    facts = site.of(settings.load("redpaper-4.4", ROOT), "test")
    hosts = [host if gpus else host.model_copy(update={"machine": None}) for host in facts.hosts]
    files, _ = written(GROUP, facts.model_copy(update={"hosts": tuple(hosts)}))
    (script,) = (file for file in files if file.executable)
    assert ("mmcrnodeclass" in script.text) == gpus
    (tmp_path / "commands.sh").write_text(script.text)
    command = [debian.program("shellcheck"), tmp_path / "commands.sh"]
    found = subprocess.run(command, env=debian.environment(), capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_a_pagepool_that_does_not_fit_is_open() -> None:
    """GPU nodes that reserve less than a quarter of their memory have no pagepool until one is given."""
    content = with_scale() | {"reserve": {"cpus": 8, "memory_gib": 64}}
    files, missing = rendered(content)
    assert "pagepool" not in files[commands.PATH]
    assert [each for each in missing if "128 GiB" in each.what and "64 GiB" in each.what]
    content["site"]["scale"]["pagepool_gib"] = 48
    files, missing = rendered(content)
    assert "mmchconfig pagepool=48G -N dgx" in files[commands.PATH]


@pytest.mark.parametrize(
    ("fabric", "verbs"),
    [
        ("infiniband", {"verbsRdma": "enable", "verbsRdmaSend": "yes"}),
        ("roce", {"verbsRdma": "enable", "verbsRdmaCm": "enable", "verbsRdmaSend": "yes"}),
        ("ethernet", {}),
    ],
)
def test_verbs_follow_the_fabric(fabric: str, verbs: dict[str, str], tmp_path: Path) -> None:
    """RoCE needs the connection manager beside RDMA, and plain Ethernet has no RDMA."""
    facts = site.of(settings.load("redpaper-4.4", ROOT), "test").model_copy(update={"fabric": fabric})
    script = {file.path: file.text for file in written(GROUP, facts)[0]}[commands.PATH]
    own = changes(run(script, tmp_path, "tune"))["dgx"]
    assert {name: value for name, value in own.items() if name.startswith("verbsRdma")} == verbs
    assert ("verbsPorts" in own) == bool(verbs)


def test_nothing_is_written_for_other_storage() -> None:
    """Container-native Storage Scale makes its own clients, and clients without names of clusters are open."""
    assert rendered(data("redpaper-today")) == ({}, ())
    content = data("redpaper-4.4")
    del content["site"]["scale"]
    files, missing = rendered(content)
    assert not files
    assert ["site.scale" in each.remedy for each in missing] == [True]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (with_scale(owner="SpectrumScale.ocp4.scale.ibm.com"), "cluster and owner are both SpectrumScale"),
        (with_scale(attributes={"pagepool": "1G"}), "attributes: pagepool follows from other settings"),
        (with_scale(pagepool_gib=200), "pagepool_gib 200 exceeds the 144 GiB … lower it"),
        (with_scale(mount="/gpfs/other"), "adas has directory /gpfs/ess3000_4M/adas … site.scale.mount is /gpfs/other"),
        (with_scale(nodes=[{"name": "dgx01.ocp4.scale.ibm.com"}]), "dgx01.ocp4.scale.ibm.com is a client of `nodes`"),
        (
            changed("redpaper-today", site={"scale": data("redpaper-4.4")["site"]["scale"]}),
            "site.scale: the stack has no storage of kind host-clients … leave it out",
        ),
    ],
)
def test_what_no_clients_could_have(content: dict[str, Any], expected: str) -> None:
    """Settings that contradict each other or the rest of the stack are refused."""
    expect_refusal(content, expected)

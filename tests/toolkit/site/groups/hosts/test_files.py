"""The hosts' files, as texts."""

import csv
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from core.hardware.profiles import PROFILES
from core.yaml import text as yaml_text
from stacks.loading import settings
from stacks.site import assembly as site
from stacks.site.site import Site
from tests.support.messages import has
from tests.support.recorded import ROOT
from tests.toolkit.site.groups.hosts import kit
from toolkit.cli.app import app
from toolkit.site.groups.hosts import roce, roles

EXAMPLES = sorted(path.stem for path in (ROOT / "stacks" / "examples").glob("*.yaml"))
FILE_MODULES = {"file", "copy", "template", "yum_repository", "lineinfile"}
NEEDS_THE_HOST = {"packages", "subscription", "reboot", "boot", "selinux", "services", "build", "guard"}
TASKS = [
    (path.parent.parent.name, task)
    for path in sorted(roles.FOLDER.glob("*/tasks/main.yml"))
    for task in yaml_text.read(path.read_text())
]


def lab(**changes: Any) -> Site:
    """Return the Redpaper's site with other settings of `site`."""
    return kit.of("redpaper-4.4", **changes)


@pytest.mark.parametrize(("role", "task"), TASKS, ids=[f"{role}: {task['name']}" for role, task in TASKS])
def test_a_task_writes_below_the_root_or_has_a_tag(role: str, task: dict[str, Any]) -> None:
    """A task writes files below `host_root`, or a tag says that it needs the host; modules are ansible-core's."""
    (module,) = {key for key in task if "." in key} or {"block"}
    assert module.startswith("ansible.builtin.") or (role, module) == ("peer_memory", "block")
    name = module.removeprefix("ansible.builtin.")
    if set(task.get("tags", ())) & NEEDS_THE_HOST:
        return
    assert name in FILE_MODULES
    target = next(task[module][key] for key in ("dest", "path", "reposdir") if key in task[module])
    assert target.startswith("{{ host_root }}")


def test_every_role_is_called_for_by_some_settings() -> None:
    """The folder has no role that the list does not name, nor the other way round."""
    assert {path.name for path in roles.FOLDER.iterdir()} == {role.name for role in roles.ROLES}


@pytest.mark.parametrize("stack", EXAMPLES)
def test_variables_are_those_that_the_role_declares(stack: str) -> None:
    """Each variable of a role is in its argument specification, and only a site knows its archive's checksum."""
    found = site.of(settings.load(stack, ROOT), stack)
    files = kit.files(found)
    if "inventory.yml" not in files:
        return
    group = yaml_text.read(files["inventory.yml"])["all"]["children"]["gpu_hosts"]
    for host in group["hosts"].values():
        given = {**group["vars"], **host}
        for role in roles.variables_by_role(found, found.settings.hosts):  # type: ignore[arg-type]  # an inventory is RHEL's
            declared = _declared(role.name)
            own = {name for name in given if name.startswith(f"{role.name}_")}
            assert own <= declared.keys()
            open_ones = {"ofed_sha256"} if role.name == "ofed" else set()
            assert {name for name, option in declared.items() if option.get("required")} - own == open_ones


def _declared(role: str) -> dict[str, Any]:
    file = roles.FOLDER / role / "meta/argument_specs.yml"
    if not file.exists():
        return {}
    found: dict[str, Any] = yaml_text.read(file.read_text())["argument_specs"]["main"]["options"]
    return found


def test_roles_follow_from_the_settings() -> None:
    """The Redpaper's hosts get no driver, RDMA class or memlock; peer memory comes after the operator's driver."""
    files = kit.files(lab())
    before, after = (yaml_text.read(files[name])[0]["roles"] for name in ("playbook.yml", "after-driver.yml"))
    assert before == ["no_host_driver", "repositories", "updates", "nouveau", "selinux", "ofed", "ipoib"]
    assert after == ["peer_memory"]
    assert {path.split("/")[1] for path in files if path.startswith("roles/")} == {*before, *after}
    of_paper = yaml_text.read(kit.files(kit.of("supermicro-3.11"))["playbook.yml"])[0]["roles"]
    assert of_paper == ["repositories", "updates", "nouveau", "selinux", "host_driver"]


def test_a_checksum_is_not_guessed() -> None:
    """Without the checksum of the driver's archive it is open, and the role has no variable that it requires."""
    (missing,) = (each for each in kit.missing(lab()) if "MLNX_OFED" in each.what)
    assert has(missing.remedy, "site.hosts.ofed.sha256", "sha256sum")
    given = lab().settings.model_dump(mode="json", exclude_unset=True)["hosts"]
    verified = lab(hosts=given | {"ofed": given["ofed"] | {"sha256": "ab" * 32}})
    assert not any("MLNX_OFED" in each.what for each in kit.missing(verified))
    (inventory, open_one) = (yaml_text.read(kit.files(found)["inventory.yml"]) for found in (verified, lab()))
    assert inventory["all"]["children"]["gpu_hosts"]["vars"]["ofed_sha256"] == "ab" * 32
    assert "ofed_sha256" not in open_one["all"]["children"]["gpu_hosts"]["vars"]


def test_hosts_with_coreos_get_no_playbook() -> None:
    """A release whose workers are RHCOS alone has neither inventories nor roles."""
    assert [*kit.files(kit.of("superpod-a100"))] == ["runbook.md"]
    assert [*kit.files(kit.of("nvaie-roce"))] == ["nic-configuration.yaml", "runbook.md"]


def test_an_operator_sets_roces_class_on_coreos() -> None:
    """The compute ports alone get it, by their PCI addresses, with the class of congestion's notifications."""
    spec = yaml_text.read(kit.files(kit.of("h100-roce"))["nic-configuration.yaml"])["spec"]
    assert spec["nicSelector"]["nicType"] == "1021"
    assert len(spec["nicSelector"]["pciAddresses"]) == len(PROFILES["dgx-h100"].hcas)
    assert spec["template"]["roceOptimized"]["qos"] == {"trust": "dscp", "pfc": "0,0,0,1,0,0,0,0", "tos": 106}
    assert {each["name"]: each["value"] for each in spec["template"]["rawNvConfig"]}["CNP_DSCP_P1"] == "48"


@pytest.mark.parametrize("ca_type", ["MT4129", "MT4135"])
def test_the_class_is_for_an_adapter_with_a_ca_type(ca_type: str) -> None:
    """A machine file whose adapter is a CA type, as `hardware from-logs` writes one, names its adapters by it."""
    ports = PROFILES["dgx-h100"].ports.model_copy(update={"adapter": ca_type})
    spec = yaml_text.read(kit.files(_of_machine({"ports": ports}))["nic-configuration.yaml"])["spec"]
    assert spec["nicSelector"]["nicType"] == f"{int(ca_type.removeprefix('MT')):x}"


def test_a_port_without_an_address_is_open() -> None:
    """Without PCI addresses the object would change every adapter of the type, so it is not written."""
    without = _of_machine({"hcas": tuple(each.model_copy(update={"pci": None}) for each in PROFILES["dgx-h100"].hcas)})
    assert "nic-configuration.yaml" not in kit.files(without)
    (missing,) = kit.missing(without)
    assert has(missing.remedy, "machine file", "`machines`")


def _of_machine(changes: dict[str, Any]) -> Site:
    """Return the site of h100-roce with a machine that differs."""
    found = kit.of("h100-roce")
    machine = PROFILES["dgx-h100"].model_copy(update=changes)
    hosts = tuple(host.model_copy(update={"machine": machine if host.machine else None}) for host in found.hosts)
    return found.model_copy(update={"hosts": hosts})


@pytest.mark.parametrize(("traffic_class", "priority"), [(106, 3), (104, 3), (130, 4)])
def test_the_class_decides_over_pauses(traffic_class: int, priority: int) -> None:
    """A port pauses the priority that the first three bits of the DSCP name, and no other."""
    assert roce.pause(traffic_class).split(",").index("1") == priority
    assert roce.pause(traffic_class).count("1") == 1


def test_an_operating_system_is_not_guessed() -> None:
    """A release that takes several leaves it open, and nothing is written for the hosts."""
    without = lab(hosts=None)
    assert [each.remedy for each in kit.missing(without)] == ["set site.hosts.dialect"]
    assert sorted(kit.files(without)) == ["haproxy-ingress.cfg", "ipoib.csv"]


def test_hosts_that_joined_are_not_new() -> None:
    """Hosts that are part of the cluster already are in another group than new ones, each with its address."""
    given = lab().settings.model_dump(mode="json", exclude_unset=True)["hosts"]
    text = kit.files(lab(hosts=given | {"joined": ["dgx01.ocp4.scale.ibm.com"]}))["openshift-ansible.ini"]
    present, new = text.split("[workers]\n")[1].split("[new_workers]\n")
    assert present.strip() == "dgx01.ocp4.scale.ibm.com ansible_host=192.168.1.19"
    assert new.strip() == "dgx02.ocp4.scale.ibm.com ansible_host=192.168.1.20"


def test_the_inventory_of_311_names_groups_and_versions() -> None:
    """Every node has its group, infra nodes the one that is given, and images and packages have one version."""
    found = kit.of("supermicro-3.11")
    given = found.settings.model_dump(mode="json", exclude_unset=True)["hosts"]
    text = kit.files(kit.of("supermicro-3.11", hosts=given | {"image_tag": "v3.11.117"}))["openshift-ansible.ini"]
    assert "openshift_image_tag=v3.11.117\nopenshift_pkg_version=-3.11.117\n" in text
    for host, group in (("master1", "master"), ("infra1", "infra"), ("app1", "compute"), ("gpu1", "compute")):
        assert f"{host}.smc.example.com openshift_node_group_name='node-config-{group}'" in text


def test_addresses_have_the_place_of_the_admin_address() -> None:
    """The plan names port, interface, address and where it is from; one that is given wins."""
    given = lab(networks=networks({"dgx02.ocp4.scale.ibm.com": "10.10.11.99"}))
    rows = [*csv.DictReader(kit.files(given)["ipoib.csv"].splitlines())]
    assert [(row["host"][:5], row["port"], row["interface"], row["address"], row["from"]) for row in rows] == [
        ("dgx01", "mlx5_1", "ib1", "10.10.11.19", "admin address"),
        ("dgx02", "mlx5_1", "ib1", "10.10.11.99", "settings"),
    ]
    of_storage = [*csv.DictReader(kit.files(lab())["ipoib.csv"].splitlines())][2:]
    assert [(row["host"], row["port"], row["address"], row["prefix"]) for row in of_storage] == [
        ("fscc-fab3-3-a", "mlx5_1", "10.10.11.31", "24"),
        ("fscc-fab3-3-b", "mlx5_1", "10.10.11.32", "24"),
    ]


def networks(addresses: dict[str, str]) -> dict[str, Any]:
    """Return the lab's networks, with addresses of the daemons that are given, and without dgx02's admin address."""
    admin = {"network": "192.168.1.0/24", "addresses": {"dgx01.ocp4.scale.ibm.com": "192.168.1.19"}}
    return {"admin": admin, "daemon": {"network": "10.10.11.0/24", "port": "mlx5_1", "addresses": addresses}}


def test_an_address_is_not_guessed() -> None:
    """A host whose address neither is given nor follows is open, and has no row."""
    found = lab(networks=networks({}))
    assert any("dgx02" in each.what and "networks.daemon.addresses.dgx02" in each.remedy for each in kit.missing(found))
    assert "dgx02" not in kit.files(found)["ipoib.csv"]


def test_policies_of_coreos_hosts_pass_the_checks(tmp_path: Path) -> None:
    """On RHCOS every host has a policy for its own address, which `./hpc check` accepts."""
    found = lab(hosts={"dialect": "rhcos"})
    files = kit.write(found, tmp_path) / "ipoib"
    policy = yaml_text.read((files / "dgx01.yaml").read_text())
    assert policy["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "dgx01.ocp4.scale.ibm.com"}
    (interface,) = policy["spec"]["desiredState"]["interfaces"]
    assert (interface["name"], interface["type"]) == ("ib1", "infiniband")
    assert interface["ipv4"]["address"] == [{"ip": "10.10.11.19", "prefix-length": 24}]
    result = CliRunner().invoke(app, ["check", "-f", str(files)], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_the_runbook_has_the_mode_of_the_adapters() -> None:
    """Ports run InfiniBand or Ethernet as the fabric does; the module for GPUDirect comes after the driver."""
    text = kit.files(lab())["runbook.md"]
    assert "LINK_TYPE_P1=1" in text
    assert text.index("playbooks/scaleup.yml") < text.index("after-driver.yml")
    assert "LINK_TYPE_P1=2" in kit.files(kit.of("robotic-drive-ethernet"))["runbook.md"]


def test_the_hosts_of_robotic_drive_have_its_system() -> None:
    """RHEL 7.7 is held, its kernel is required, and the DGX software's repositories and group are installed."""
    inventory = yaml_text.read(kit.files(kit.of("robotic-drive-3.11"))["inventory.yml"])
    variables = inventory["all"]["children"]["gpu_hosts"]["vars"]
    assert variables["repositories_release"] == "7.7"
    assert variables["updates_kernel"] == "3.10.0-1062.el7.x86_64"
    assert variables["updates_groups"] == ["DGX-1 Configurations"]
    assert "rhel-7-server-ose-3.11-rpms" in variables["repositories_subscriptions"]
    assert [repository["name"] for repository in variables["repositories_files"]] == ["nvidia-dgx-7-updates"]
    text = kit.files(kit.of("robotic-drive-3.11"))["openshift-ansible.ini"]
    assert "dgx1.robotic.example.com openshift_node_group_name='node-config-compute'" in text.split("[new_nodes]")[1]

"""Settings of hosts around the cluster that the stack contradicts: each is refused by path, value and remedy."""

from typing import Any

import pytest

from tests.support.stack_settings import changed, expect_message, expect_refusal, message

DGX = "dgx01.ocp4.scale.ibm.com"
OTHER = "dgx02.ocp4.scale.ibm.com"
DRIVER = {"packages": ["nvidia-driver"]}


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("networks__admin__addresses", {"dgx9": "192.168.1.9"}, "site.networks.admin.addresses: dgx9 … name one"),
        ("networks__daemon__addresses", {"master01.ocp4.scale.ibm.com": "10.10.11.9"}, "daemon.addresses: master01"),
        ("haproxy", ["master01.ocp4.scale.ibm.com"], "site.haproxy: master01 … worker03"),
        ("hosts__joined", ["dgx9"], "site.hosts.joined: dgx9 … name one"),
        ("hosts__dialect", "rhcos", "site.hosts … release"),
        ("hosts__host_driver", DRIVER, "site.hosts.host_driver: … special-resource-operator … leave it out"),
        ("hosts__container_runtime", "crio", "site.hosts.container_runtime: 'crio' … 3.11, not 4.4; leave it out"),
        ("hosts__release", "8.4", "release 8.4 … rhel7; give one of 7.x"),
        (
            "hosts__setup_packages",
            ["http://a/b.rpm"],
            "site.hosts.setup_packages[0]: is not a URL by https … 'http://a/b.rpm' … write e.g. https://",
        ),
        ("networks__daemon__port", "mlx5_9", "daemon.port: mlx5_9 … dgx1-v100-16gb; use one of mlx5_0, mlx5_1"),
        ("networks__daemon__addresses", {DGX: "10.10.12.1"}, f"{DGX}: 10.10.12.1 is outside of 10.10.11.0/24; give"),
        ("networks__daemon__addresses", {DGX: "10.10.11.255"}, f"{DGX}: 10.10.11.255 … broadcast address; give"),
        (
            "networks__daemon__addresses",
            {DGX: "10.10.11.7", OTHER: "10.10.11.7"},
            f"{OTHER}: 10.10.11.7 is taken by {DGX}; give",
        ),
        # The other host's follows from its admin address, 192.168.1.20.
        ("networks__daemon__addresses", {DGX: "10.10.11.20"}, f"{OTHER}: 10.10.11.20 is taken by {DGX}; give"),
        ("networks__daemon__taken", ["10.10.11.19"], f"{DGX}: 10.10.11.19 is taken by another machine"),
        (
            "networks__daemon__others",
            {"ess-a": "10.10.12.1"},
            "others.ess-a: 10.10.12.1 is outside of 10.10.11.0/24; give",
        ),
        ("networks__daemon__others", {"ess-a": "10.10.11.19"}, f"{DGX}: 10.10.11.19 is taken by ess-a; give"),
        (
            "networks__daemon",
            {"network": "10.10.11.0/24", "port": "mlx5_1", "taken": ["10.10.11.9"], "others": {"ess-a": "10.10.11.9"}},
            "others.ess-a: 10.10.11.9 is taken by another machine",
        ),
        (
            "hosts__release",
            "7.9",
            "site.hosts.dialect: rhel7: release 7.9 … OpenShift 4.4 takes; use 7.6 or 7.7 or 7.8",
        ),
        (
            "hosts__kernel",
            "3.10.0-1062.el7.x86_64",
            "site.hosts.kernel: 3.10.0-1062.el7.x86_64 is one of RHEL 7.7, … release is 7.6; use one of 3.10.0-957",
        ),
        ("hosts__ofed__platform", "rhel7.7-x86_64", "ofed.platform: rhel7.7-x86_64 … release is 7.6; use … rhel7.6"),
        ("hosts__ofed__version", "4.9-0.1.7.0", "ofed.version: 4.9-0.1.7.0, … host_ofed_version is 4.7-3.2.9.0; give"),
        # The last of the smaller network is its broadcast address.
        (
            "networks",
            {
                "admin": {"network": "192.168.1.0/24", "addresses": {DGX: "192.168.1.15"}},
                "daemon": {"network": "10.10.11.0/28", "port": "mlx5_1"},
            },
            f"daemon.addresses.{DGX}: 10.10.11.15 … broadcast address; give",
        ),
        (
            "networks__daemon",
            {"network": "192.168.0.0/16", "port": "mlx5_1"},
            "daemon.network 192.168.0.0/16 overlaps admin.network",
        ),
        (
            "networks__cluster",
            ["10.10.0.0/16"],
            "daemon.network 10.10.11.0/24 overlaps cluster 10.10.0.0/16; use another",
        ),
    ],
)
def test_a_site_that_contradicts_the_lab_is_refused(field: str, value: Any, expected: str) -> None:
    """The message has the path, the value and what to do."""
    expect_refusal(changed("redpaper-4.4", **{f"site__{field}": value}), expected)


@pytest.mark.parametrize(
    ("stack", "dialect", "expected"),
    [
        ("nvaie-roce", "rhel8", "site.hosts.dialect: rhel8: … RHCOS; use rhcos"),
        ("redpaper-4.4", "rhel8", "site.hosts.dialect: rhel8: … RHEL 7 or RHCOS; use rhel7 or rhcos"),
        ("supermicro-3.11", "rhcos", "site.hosts.dialect: rhcos: … use rhel7"),
    ],
)
def test_a_release_takes_its_own_operating_systems(stack: str, dialect: str, expected: str) -> None:
    """An operating system that the release's workers cannot have is refused, with one that they can."""
    expect_refusal(changed(stack, site={"hosts": {"dialect": dialect}}), expected)


def test_two_roads_to_a_driver_are_refused() -> None:
    """The host has its driver, so there is no container's to build a module against; and RoCE has no IPoIB."""
    peer = {"repository": "https://example.com/nv_peer_memory.git", "revision": "1"}
    content = changed("supermicro-3.11", site__hosts__peer_memory=peer)
    expect_refusal(content, "site.hosts.peer_memory: … leave it out")
    daemon = {"daemon": {"network": "10.0.0.0/24", "port": "mlx5_0"}}
    text = message(changed("nvaie-roce", site={"networks": daemon}))
    expect_message(text, "site.networks.daemon: … fabric.kind is roce; leave it out")

"""Which machine a node is, by its labels and its size."""

from typing import Any

import pytest
import yaml

from tests.toolkit.cli.init.kit import H100, dgx, node
from toolkit.cli.hardware.known_machines import catalogue
from toolkit.cli.init import facts
from toolkit.cli.init.machine_kinds import machine_files
from toolkit.cli.init.machines import Group, grouped

REACHED = facts.Connection("kubeconfig", "site")


def one(found: dict[str, Any]) -> Group:
    """Return the only group of a node."""
    (group,) = grouped([facts.node(found)])
    return group


def test_the_firmwares_name_decides() -> None:
    """DGXH100 is a DGX H100, also with a part number behind; the same GPUs in another maker's machine are none."""
    assert one(dgx("n")).machine == "dgx-h100"
    assert one(dgx("n", machine="DGXH100-920-23687")).machine == "dgx-h100"
    other = one(dgx("n", machine="SYS-821GE-TNHR"))
    assert (other.machine, other.candidates, other.families) == (None, (), ("hgx-h100",))


def test_equal_figures_are_no_proof() -> None:
    """Without the firmware's name another maker's HGX with as many CPUs is as likely: none is taken."""
    found = one(dgx("n", machine=""))
    assert (found.machine, found.candidates, found.families) == (None, ("dgx-h100",), ("hgx-h100",))


@pytest.mark.parametrize(
    ("changed", "candidates"),
    [
        ({"product": "NVIDIA-H200", "machine": ""}, ("dgx-h200",)),
        ({"product": f"{H100}-SHARED", "machine": ""}, ("dgx-h100",)),
        ({"product": f"{H100}-MIG-1g.10gb", "machine": ""}, ("dgx-h100",)),
        ({"machine": "", "cpus": 192}, ()),
        ({"machine": "", "gib": 1000}, ()),
        ({"machine": "", "product": "NVIDIA-L40S"}, ()),
    ],
)
def test_what_contradicts_a_machine_excludes_it(changed: dict[str, Any], candidates: tuple[str, ...]) -> None:
    """GPU, CPUs and memory must agree; what sharing and MIG append to the GPU's name does not matter."""
    assert one(dgx("n", **changed)).candidates == candidates


def test_another_number_of_gpus_is_another_machine() -> None:
    """Four H100 are not DGX H100, nor an HGX of eight."""
    found = dgx("n", machine="")
    found["metadata"]["labels"]["nvidia.com/gpu.count"] = "4"
    assert (one(found).candidates, one(found).families) == ((), ())


def test_only_size_is_a_hint_where_nothing_looks_for_gpus() -> None:
    """A bare node of a machine's size may be one; where feature discovery found no GPU it is none."""
    bare = one(node("n", cpus=224, gib=2015))
    assert (bare.machine, {*bare.candidates} >= {"dgx-b200", "dgx-h100", "dgx-h200"}) == (None, True)
    assert "dgx-a100" not in bare.candidates
    labelled = node("n", cpus=224, gib=2015, feature_node_kubernetes_io__cpu="x")
    assert not one(labelled).may_have_gpus


def test_pci_labels_are_evidence_of_gpus() -> None:
    """NVIDIA's vendor id proves GPUs, and that of adapters ports; other devices prove nothing."""
    found = node("n", cpus=10)
    labels = found["metadata"]["labels"]
    labels["feature.node.kubernetes.io/pci-0200_10de.present"] = "true"
    assert one(found).traits.has_gpus is False
    labels["feature.node.kubernetes.io/pci-10de.present"] = "true"
    labels["feature.node.kubernetes.io/pci-0207_15b3.present"] = "true"
    assert (one(found).traits.has_gpus, one(found).traits.link_layer) == (True, "InfiniBand")


def test_every_known_machine_fits_its_own_figures() -> None:
    """No known machine is excluded by its own labels and size."""
    for machine in catalogue():
        if machine.gpu is None or not machine.gpus:
            continue
        size = machine.memory_gib[0] if machine.memory_gib else 1000
        found = node("n", cpus=machine.cpus or 100, gib=int(size * 0.98))
        found["status"]["nodeInfo"]["architecture"] = {"x86_64": "amd64", "aarch64": "arm64"}[machine.architecture]
        found["metadata"]["labels"] |= {
            "nvidia.com/gpu.product": machine.gpu.model.replace(" ", "-"),
            "nvidia.com/gpu.count": str(machine.gpus),
        }
        assert machine.name in (*one(found).candidates, *one(found).families), machine.name


def test_what_is_wrong_in_labels_is_not_known() -> None:
    """A label with a wrong count, and a node without figures, are unknown values and no error."""
    found = dgx("n", machine="")
    found["metadata"]["labels"]["nvidia.com/gpu.count"] = "eight"
    assert one(found).traits.gpus is None
    assert not one({"metadata": {"name": "n"}}).may_have_gpus


def test_a_file_of_an_unknown_machine_lists_what_it_lacks() -> None:
    """A file of an unknown machine lists its open fields; two kinds of machines get two files."""
    nodes = [dgx("a", product="NVIDIA-L40S", machine="X"), dgx("b", product="NVIDIA-L40S", machine="X", cpus=64)]
    one_file, other = machine_files("site", grouped(map(facts.node, nodes)), REACHED)
    assert (one_file.path, other.path) == ("machines/site-x.yaml", "machines/site-x-2.yaml")
    assert "to_complete: [gpu, nvlink, cpu_cores, memory_gib, numa, link_layer, ports, hcas]" in one_file.content
    assert "gpus: 8\n" in one_file.content
    assert "# ./hpc hardware from-logs FILE... -o machines/site-x.yaml\n" in one_file.content


@pytest.mark.parametrize(("gib", "kinds"), [(2014, 1), (1950, 2)])
def test_machines_whose_memory_is_reported_otherwise_are_of_one_kind(gib: int, kinds: int) -> None:
    """A difference below a hundredth of what Linux reports of the memory makes no other machine; a module does."""
    assert len(grouped(map(facts.node, [dgx("a"), dgx("b", gib=gib), dgx("c")]))) == kinds


def test_a_file_over_a_base_says_what_the_base_gives() -> None:
    """A file over a base names the ports that it inherits, and the memory that is installed."""
    b300 = next(each for each in catalogue() if each.name == "dgx-b300")
    assert b300.gpu
    found = dgx("a", product=b300.gpu.model.replace(" ", "-"), machine="", cpus=b300.cpus, gib=2013)
    (file,) = machine_files("site", grouped([facts.node(found)]), REACHED)
    text = " ".join(file.content.replace("\n# ", " ").split())
    assert "base: dgx-b300" in text
    assert "From dgx-b300 are ports (8 of 800 Gb/s, ConnectX-8) and link_layer (InfiniBand); give them here" in text
    assert "memory_gib is what is installed: about 2048." in text


def test_what_no_label_says_is_not_made_up() -> None:
    """A node of which only the vendor of its GPUs is known has neither their number nor a model in its file."""
    found = node("a", cpus=10, feature_node_kubernetes_io__pci_10de="x")
    found["metadata"]["labels"]["feature.node.kubernetes.io/pci-10de.present"] = "true"
    found["status"]["nodeInfo"]["architecture"] = "riscv64"
    (file,) = machine_files("site", grouped([facts.node(found)]), REACHED)
    content = yaml.safe_load(file.content)
    assert content["to_complete"][:3] == ["model", "gpus", "gpu"]
    assert content.keys() == {"to_complete", "cpu_architecture", "pci_vendors", "source"}

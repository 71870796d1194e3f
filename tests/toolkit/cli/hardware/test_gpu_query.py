"""`nvidia-smi -q` as XML; the text form is in test_machine_logs.py."""

import pytest

from tests.support.machines import DGX_A100
from tests.support.node_outputs import readings
from tests.support.simulated_nodes import ran
from toolkit.evidence.tools.nvidia_smi_query.model import NvidiaSmiQuery

HEAD = '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">\n<nvidia_smi_log>\n'
GPU = """\t<gpu id="00000000:{bus}:00.0">
\t\t<product_name>NVIDIA H100 80GB HBM3</product_name>
\t\t<product_architecture>Hopper</product_architecture>
\t\t<mig_devices>
\t\t\tNone
\t\t</mig_devices>
\t\t<uuid>GPU-{bus}</uuid>
\t\t<fb_memory_usage>
\t\t\t<total>81559 MiB</total>
\t\t</fb_memory_usage>
\t\t<bar1_memory_usage>
\t\t\t<total>131072 MiB</total>
\t\t</bar1_memory_usage>
\t\t<accounted_processes/>
\t</gpu>
"""
XML = f"{HEAD}\t<attached_gpus>2</attached_gpus>\n{GPU.format(bus='1B')}{GPU.format(bus='43')}</nvidia_smi_log>\n"


def _only(text: str) -> NvidiaSmiQuery:
    (one,) = readings(text)
    assert isinstance(one, NvidiaSmiQuery)
    return one


@pytest.mark.parametrize(
    "text", [XML, f"$ nvidia-smi -q -x\n{XML}", XML.replace("\n\t", "\t"), XML.replace("\n", "\r\n")]
)
def test_the_xml_form(text: str) -> None:
    """Each GPU has its own memory, not that of its BAR1, in whatever lines the elements are."""
    one = _only(text)
    assert (one.attached, one.complete, one.unread) == (2, True, ())
    assert [(row.bus, row.name, row.architecture, row.uuid, row.memory_mib) for row in one.rows] == [
        (f"00000000:{bus.lower()}:00.0", "NVIDIA H100 80GB HBM3", "Hopper", f"GPU-{bus}", 81559) for bus in ("1B", "43")
    ]


def test_text_and_xml_of_one_node_agree() -> None:
    """Both forms of one node, as the simulated one prints them, have the same figures."""
    text, xml = (_only(ran(DGX_A100, f"nvidia-smi -q {option}")) for option in ("", "-x"))
    assert (text.attached, text.complete, xml.complete) == (8, True, True)
    assert [row.model_dump(exclude={"line"}) for row in text.rows] == [
        row.model_dump(exclude={"line"}) for row in xml.rows
    ]


def test_a_cut_file_is_read_as_far_as_it_goes() -> None:
    """The missing end of a file is named, and what is before it is used."""
    one = _only(XML.partition("\t\t<bar1_memory_usage>")[0])
    assert (one.incomplete, [row.memory_mib for row in one.rows]) == ("no end of the XML", [81559])


def test_a_damaged_element_is_left_out() -> None:
    """A value without its end is none, and does not move others."""
    one = _only(XML.replace("HBM3</product_name>", "HB", 1))
    assert [row.name for row in one.rows] == [None, "NVIDIA H100 80GB HBM3"]
    assert (one.incomplete, [line.text for line in one.unread]) == (
        "1 damaged line",
        ["\t\t<product_name>NVIDIA H100 80GB HB"],
    )


def test_entities_are_not_looked_up() -> None:
    """A document type with entities of its own is not read, and none is expanded."""
    evil = HEAD.replace('"nvsmi_device_v13.dtd"', '"x" [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]')
    one = _only(f"{evil}{GPU.format(bus='1B').replace('NVIDIA H100 80GB HBM3', '&b;')}</nvidia_smi_log>\n")
    assert one.rows[0].name == "&b;"


def test_another_output_of_the_same_begins_a_reading_of_its_own() -> None:
    """Two outputs in one file are two readings."""
    assert [len(one.rows) for one in readings(XML + XML) if isinstance(one, NvidiaSmiQuery)] == [2, 2]

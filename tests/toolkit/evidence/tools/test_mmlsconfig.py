"""mmlsconfig. The frame is that of releases 4.2 to 5.1, as people paste it; the paper prints two groups."""

import io
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.mutated import mutations, only, read_text
from toolkit.evidence.reader import read_stream
from toolkit.evidence.text import clean, raw_lines
from toolkit.evidence.tools.mmlsconfig import MmLsConfig, ScaleSetting

LOG = Path(__file__).parent.parent / "logs" / "mmlsconfig" / "r-3.3-7.log"
TEXT = LOG.read_text()


def parsable(text: str) -> str:
    """Return what -Y prints of the same settings, with one more whose value has a colon."""
    group, lines = "", ["mmlsconfig::HEADER:version:reserved:reserved:configParameter:value:nodeList:"]
    for line in text.partition("\nFile systems")[0].splitlines()[3:]:
        if line.startswith("["):
            group = line[1:-1].replace("common", "")
        elif line:
            name, _, value = line.partition(" ")
            lines.append(f"mmlsconfig::0:1:::{name}:{quote(value, safe=' ')}:{group}:")
    return "\n".join([*lines, "mmlsconfig::0:1:::release:5.0%3A 4::", ""])


PARSABLE = parsable(TEXT)


def test_the_papers_settings() -> None:
    """The printed settings are read."""
    found = only(MmLsConfig, LOG)
    assert (found.complete, found.unread_total, found.cluster) == (True, 0, "SpectrumScale.ocp4.scale.ibm.com")
    assert {row.name: row.value for row in found.rows if row.group == "dgx"} == {
        "pagepool": "128G",
        "workerThreads": "1024",
        "ignorePrefetchLUNCount": "yes",
        "maxFilesToCache": "1M",
        "maxStatCache": "1M",
        "subnets": "10.10.11.0/ess3000.bda.scale.ibm.com;SpectrumScale.ocp4.scale.ibm.com",
        "verbsRdma": "enable",
        "verbsRdmaSend": "yes",
        "verbsPorts": "mlx5_0/1 mlx5_1/1 mlx5_2/1 mlx5_3/1",
    }
    assert ScaleSetting(group="common", name="maxMBpS", value="20000", line=19) in found.rows


def test_a_group_has_the_common_settings_too() -> None:
    """A group of nodes has the common settings, too, and its own alone."""
    found = only(MmLsConfig, TEXT)
    assert found.value("controlSetxattrImmutableSELinux", "dgx") == "yes"
    assert (found.value("pagepool", "dgx"), found.value("pagepool"), found.value("logWrapThreads")) == (
        "128G",
        None,
        None,
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TEXT[: TEXT.index("\nFile systems")], "no list of file systems after them"),
        (TEXT.replace("[dgx]", "[dg"), "10 damaged lines"),
        (TEXT.replace("maxMBpS", "enforceFilesetQuotaOnRoot"), "1 damaged line"),
    ],
    ids=["cut", "group cut", "told twice"],
)
def test_what_is_not_whole_is_not_complete(text: str, why: str) -> None:
    """Settings behind a cut, of an unknown group or repeated make the list incomplete."""
    found = only(MmLsConfig, text)
    assert (found.complete, found.incomplete) == (False, why)


def test_a_single_setting_is_not_read() -> None:
    """`mmlsconfig pagepool`, which prints no frame, is not read."""
    assert all(
        not isinstance(one, MmLsConfig) or not one.rows for one in read_text("# mmlsconfig pagepool\npagepool 1G\n")
    )


def test_the_form_for_programs_says_the_same() -> None:
    """-Y, whose fields are percent-encoded, yields the same settings; an empty list of nodes is all of them."""
    found, other = only(MmLsConfig, TEXT), only(MmLsConfig, PARSABLE)
    assert (other.complete, other.unread_total, other.cluster) == (True, 0, found.cluster)
    assert {(row.group, row.name, row.value) for row in other.rows} == {
        *((row.group, row.name, row.value) for row in found.rows),
        ("common", "release", "5.0: 4"),
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (PARSABLE[: PARSABLE.index("clusterName")], "no clusterName; 1 damaged line"),
        (PARSABLE.replace(":128G:dgx:", ":128G:dg"), "1 damaged line"),
        (PARSABLE.replace(":maxMBpS:", ":enforceFilesetQuotaOnRoot:"), "1 damaged line"),
    ],
    ids=["cut", "record cut", "told twice"],
)
def test_what_is_not_whole_of_the_form_for_programs(text: str, why: str) -> None:
    """Records that are cut or repeated make it incomplete."""
    found = only(MmLsConfig, text)
    assert (found.complete, found.incomplete) == (False, why)


def test_damaged_logs_yield_nothing_that_is_not_there() -> None:
    """Damaged logs do not raise, and add no row."""
    for raw in mutations(TEXT, 300):
        texts = [clean(number, line).text for number, line in enumerate(raw_lines(io.BytesIO(raw)), 1)]
        for one in read_stream(io.BytesIO(raw), "log"):
            for row in one.rows if isinstance(one, MmLsConfig) else ():
                assert f"{row.name} {row.value}" == texts[row.line - 1].rstrip()
                assert row.group == "common" or f"[{row.group}]" in texts

"""Files in a MachineConfig."""

import base64
import gzip

import pytest

from policies.manifests.objects import Obj
from policies.views.nodes import Text, decode, texts


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("data:,a%20b%0A", "a b\n"),
        ("data:text/plain;charset=utf-8,a", "a"),
        ("data:;base64,YSBi", "a b"),
        ("data:text/plain;charset=utf-8;base64,YSBi", "a b"),
        ("data:;base64,YSB", ""),
        ("data:a", ""),
        ("https://example.com", ""),
        ("data:,%ff", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_data_urls(source: str, text: str) -> None:
    """The content of a file is decoded by its encoding."""
    assert decode(source) == text


def test_compressed_file_stays_small() -> None:
    """Compressed content is decoded within a limit."""
    packed = base64.b64encode(gzip.compress(b"a" * 5_000_000)).decode()
    assert len(decode(f"data:;base64,{packed}", gzipped=True)) == 1 << 16


def test_units_and_drop_ins() -> None:
    """Drop-ins belong to their unit, and files without content do not raise."""
    unit = {
        "name": "crio.service",
        "contents": "a",
        "dropins": [{"name": "10.conf", "contents": "b"}, None, {"name": 7}],
    }
    files = [{"path": "/etc/a", "contents": {"source": "data:,c"}}, {"path": "/etc/b"}, "c"]
    config = Obj({"spec": {"config": {"systemd": {"units": [unit, 7]}, "storage": {"files": files}}}})
    found = [each for each in texts(config) if each.text]
    place = ("spec", "config", "systemd", "units", 0)
    assert found == [
        Text("/etc/a", "c", ("spec", "config", "storage", "files", 0, "contents", "source")),
        Text("crio.service", "a", (*place, "contents"), "crio.service"),
        Text("10.conf", "b", (*place, "dropins", 0, "contents"), "crio.service"),
    ]

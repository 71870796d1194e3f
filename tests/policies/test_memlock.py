"""Files in a MachineConfig."""

import base64
import gzip

import pytest

from policies.memlock import content


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
    """A file whose content is taken for another, so that a limit counts as lifted."""
    assert content({"contents": {"source": source}}) == text


def test_compressed_file_stays_small() -> None:
    """A file of some kilobytes that fills the memory."""
    packed = base64.b64encode(gzip.compress(b"a" * 50_000_000)).decode()
    assert len(content({"contents": {"source": f"data:;base64,{packed}", "compression": "gzip"}})) == 1 << 20

"""Values as Go prints and reads them; every expectation here was printed by Go."""

import pytest

from policies.scc.messages import invalid, quoted
from policies.scc.providers import Block, InvalidBlock, block


@pytest.mark.parametrize(
    ("written", "start", "end"),
    [
        ("1/3", 1, 3),
        ("1-2", 1, 2),
        (" 1/ 3", 1, 3),
        ("1/3,4/5", 1, 3),
        ("1/3x", 1, 3),
        ("5/0", 5, 4),
        ("0/0", 0, 2**32 - 1),
        ("\v\u00a01/\u2003\u3000\r3", 1, 3),
        (f"{'0' * 5000}1/3", 1, 3),
    ],
)
def test_blocks(written: str, start: int, end: int) -> None:
    """Blocks of ids are read as the plugin reads annotations."""
    assert block(written) == Block(start, end)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "EOF"),
        (" ", "EOF"),
        ("1", "unexpected EOF"),
        ("1/", "EOF"),
        ("/3", "expected integer"),
        ("a/3", "expected integer"),
        ("-1/3", "expected integer"),
        ("+1/2", "expected integer"),
        ("1 /3", "input does not match format"),
        ("1\n/3", "input does not match format"),
        ("1/\n3", "unexpected newline"),
        ("\r\n1/3", "unexpected newline"),
        ("\x1c1/3", "expected integer"),
        ("\u0661/3", "expected integer"),
        ("99999999999/1", "unsigned integer overflow on token 99999999999"),
        ("1/99999999999", "unsigned integer overflow on token 99999999999"),
        (
            "99999999999999999999999/1",
            'strconv.ParseUint: parsing "99999999999999999999999": value out of range',
        ),
        (f"1-{'9' * 5000}", f'strconv.ParseUint: parsing "{"9" * 5000}": value out of range'),
    ],
)
def test_broken_blocks(written: str, message: str) -> None:
    """Blocks that the plugin refuses are refused."""
    with pytest.raises(InvalidBlock) as caught:
        block(written)
    assert str(caught.value) == message


def test_quotes() -> None:
    """Values in messages are quoted as Go quotes them, without control characters."""
    assert quoted('a"\\\x01\x7fü\u200b\U0001f600\u00a0\n') == r'"a\"\\\x01\x7fü\u200b😀\u00a0\n"'


def test_values() -> None:
    """Values in messages are spelled as in Go, not as in Python."""
    shown = [invalid("p", value, "d") for value in (None, True, 5, (), [1, 2], "<a>")]
    assert shown == [f"p: Invalid value: {value}: d" for value in ("null", "true", "5", "[]", "[1,2]", '"<a>"')]

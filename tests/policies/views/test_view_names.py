"""Grammars of names."""

from collections.abc import Callable

import pytest

from policies.views import grammars


@pytest.mark.parametrize(
    ("fits", "good", "bad"),
    [
        (grammars.is_label, ("a", "a-1", "1a", "a" * 63), ("", "-a", "a-", "A", "a_b", "a.b", "a" * 64, "a\n", "é")),
        (grammars.is_subdomain, ("a.b", "a", f"{'a' * 126}.{'b' * 126}"), ("", "a..b", ".a", "a.", "a" * 254, "a/b")),
        (grammars.is_segment, ("system:a", "A_b"), (".", "..", "a/b", "a%b")),
        (
            grammars.is_qualified,
            ("a", "A.b_c-d", "x.io/a", "nvidia.com/gpu"),
            ("", "/a", "x.io/", "a/b/c", "X.io/a", "-a"),
        ),
        (grammars.is_label_value, ("", "a", "True", "a.b_c"), ("-a", "a b", "a" * 64, "a/b")),
        (grammars.is_port, ("a", "8-a", "http"), ("", "8", "a--b", "-a", "a" * 16, "A")),
    ],
)
def test_grammar(fits: Callable[[str], bool], good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    """Names are valid exactly when the API server accepts them."""
    assert [name for name in good if not fits(name)] == []
    assert [name for name in bad if fits(name)] == []


@pytest.mark.parametrize("name", ["a-" * 100_000, "a." * 100_000, "0" * 100_000 + "/" + "a" * 100_000, "9" * 100_000])
def test_long_names_are_quick(name: str) -> None:
    """Long names are checked in bounded time."""
    for fits in (
        grammars.is_label,
        grammars.is_subdomain,
        grammars.is_qualified,
        grammars.is_label_value,
        grammars.is_port,
    ):
        assert not fits(name)

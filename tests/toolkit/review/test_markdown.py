"""Markdown that keeps what it shows in its place."""

import pytest

from core.wording import plural
from toolkit.review import markdown
from toolkit.review.section import Line, Section
from toolkit.review.sentences import enumerated, name, quoted, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, 8 GPUs (of 16).", "plain words, 8 GPUs (of 16)."),
        ("ask @team, or <b>", "ask `@team`, or `<b>`"),
        ("see http://x.example.", "see `http://x.example`."),
        ("1. one", "`1`. one"),
        ("a_b __c__ *d*", "a_b `__c__` `*d*`"),
        ("tick ` tick", "tick `` ` `` tick"),
        ('Add {name: A, value: "false"} to it.', 'Add `{name: A, value: "false"}` to it.'),
        ("Set `policies: {a: {level: b}}`, or [x, y].", "Set `policies: {a: {level: b}}`, or `[x, y]`."),
        ("open { and @never closed", "open `{` and `@never` closed"),
        (f"{name('a`b')}{name('c')}", "``a`b`` `c`"),
        (name(""), "`   `"),
        (name("a\nb\u202e"), "`a\\nb\\u202e`"),
        (name("\ue001@x\ue000"), "`\\ue001@x\\ue000`"),
    ],
)
def test_sentences(text: str, shown: str) -> None:
    """Names in a sentence are code, so that mentions, links and HTML have no effect."""
    assert markdown.sentence(text) == shown


def test_blocks() -> None:
    """A value cannot end its block."""
    assert markdown.fenced(["+ ````", "+ a"], "diff") == "`````diff\n+ ````\n+ a\n`````"
    assert markdown.folded(f"X {name('</summary>')}", "b") == (
        "<details><summary>X <code>&lt;/summary&gt;</code></summary>\n\nb\n\n</details>"
    )


def test_sections_are_cut_with_counts() -> None:
    """Lines that are left out are counted."""
    section = Section("T", (Line("a", ("1", "2", "3")), Line("b", alarm=True), Line("c")))
    assert markdown.written(section, 1, 1).split("\n") == [
        "### T",
        "",
        "- a",
        "  - 1",
        "  - … 2 more",
        "- … 2 more lines, 1 of them marked ⚠️",
    ]


def test_words() -> None:
    """Lists and counts are written as sentences, on one line."""
    assert [enumerated(["a"]), enumerated(["a", "b", "c"]), enumerated(["a", "b", "c"], 1)] == [
        "a",
        "a, b and c",
        "a and 2 more",
    ]
    assert [plural(1, "node"), plural(1200, "node"), enumerated([])] == ["1 node", "1,200 nodes", ""]
    assert quoted(" one\n\n two\x00") == "one two\\x00"
    assert shortened("abcdefghijkl", 8) == "abcde…kl"

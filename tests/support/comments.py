"""Comments of pull requests, parsed as hosts parse them."""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_OURS = re.compile(
    r"<details><summary>([^<>]|</?code>)*</summary>\n|</details>\n?|<!-- hpc (?:diff|drift) stack=[\w.%-]* -->\n?"
)


def tokens(markdown: str) -> Iterator[Token]:
    """Yield all tokens of a text, nested ones too."""
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(markdown):
        yield token
        yield from token.children or ()


def broken(markdown: str) -> list[str]:
    """Return the tokens of a comment that its writer does not produce."""
    unknown = []
    for token in tokens(markdown):
        if token.type == "html_block" and not _OURS.fullmatch(token.content):
            unknown.append(token.content)
        elif token.type in (
            "html_inline",
            "link_open",
            "image",
            "blockquote_open",
            "table_open",
            "hr",
            "code_block",
            "s_open",
        ):
            unknown.append(f"{token.type} {token.content}")
        elif token.type == "text" and re.search(r"[@#`<>&]|GH-\d", token.content):
            unknown.append(token.content)
        elif token.type == "heading_open" and token.tag not in ("h2", "h3"):
            unknown.append(token.tag)
        elif token.type == "fence" and any(
            line[:1] not in (" ", "+", "-", "…", "") for line in token.content.split("\n")
        ):
            unknown.append(token.content)
    return unknown

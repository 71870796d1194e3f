"""Words and operators of a shell script: as much of the language as decides which programs a pod starts."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t]|\\\n)+|(?<![^\s;&|()])#[^\n]*)"
    r"|(?P<redirection>\d*(?:<<<|<<-?|>>|>&|<&|>\||&>>?|<>|[<>]))"
    r"|(?P<operator>;;|&&|\|\||[;&|()\n])"
)
_PLAIN = re.compile(r"[^\s;&|()<>'\"\\$`]+")


def tokens(script: str) -> Iterator[tuple[str, str]]:
    """Yield ("word", text) with quotes taken away, and ("operator", text); redirections are left out.

    A quote or bracket that is never closed ends with the script.
    """
    at, redirected = 0, False
    while at < len(script):
        match = _TOKEN.match(script, at)
        if match is None:
            word, at = _word(script, at)
            # 2 of `2>` is part of the redirection, and was matched with it.
            if not redirected:
                yield "word", word
            redirected = False
        else:
            at = match.end()
            if match["operator"]:
                yield "operator", match["operator"].replace("\n", ";")
            redirected = bool(match["redirection"]) or (redirected and bool(match["blank"]))


def _word(script: str, at: int) -> tuple[str, int]:
    parts: list[str] = []
    while at < len(script):
        character = script[at]
        if match := _PLAIN.match(script, at):
            part, at = match[0], match.end()
        elif character == "'":
            part, at = _until(script, at + 1, "'")
        elif character == '"':
            part, at = _double_quoted(script, at + 1)
        elif character == "\\":
            part, at = script[at + 1 : at + 2], at + 2
        elif character in "$`":
            part, at = _expansion(script, at)
        else:
            break
        parts.append(part)
    return "".join(parts), at


def _until(script: str, at: int, end: str) -> tuple[str, int]:
    end_at = script.find(end, at)
    return (script[at:], len(script)) if end_at < 0 else (script[at:end_at], end_at + 1)


def _double_quoted(script: str, at: int) -> tuple[str, int]:
    parts: list[str] = []
    while at < len(script) and script[at] != '"':
        if script[at] in "$`":
            part, at = _expansion(script, at)
        elif script[at] == "\\":
            part, at = script[at + 1 : at + 2], at + 2
        else:
            part, at = script[at], at + 1
        parts.append(part)
    return "".join(parts), at + 1


def _expansion(script: str, at: int) -> tuple[str, int]:
    """Return an expansion unchanged, to its closing bracket."""
    if script[at] == "`":
        text, end = _until(script, at + 1, "`")
        return f"`{text}`", end
    opening = script[at + 1 : at + 2]
    closing = {"(": ")", "{": "}"}.get(opening)
    if closing is None:
        return "$", at + 1
    depth, end = 0, at + 1
    while end < len(script):
        depth += (script[end] == opening) - (script[end] == closing)
        end += 1
        if depth == 0:
            break
    return script[at:end], end

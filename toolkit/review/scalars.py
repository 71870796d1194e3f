"""Values of properties on one line or a few, short enough to read: as in YAML, or described where they are long."""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from core.pulumi_values import REDACTED
from toolkit.review.model import CHANGED, UNKNOWN
from toolkit.review.sentences import shortened, visible

LONGEST = 160
"""Characters of a value that are shown on a line."""
_PLAIN = re.compile(r"[\w/.](?:[\w./@+=,;()-]|:(?=[\w/]))*(?: (?:[\w./@+=,;()-]|:(?=[\w/]))+)*", re.ASCII)
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", ".nan", ".inf"})
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{80,}={0,2}")
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----")
_TEXT_URL = re.compile(r"data:(?:text/plain)?(?:;charset=utf-8)?(;base64)?,", re.IGNORECASE)
_MARKS = {REDACTED: "(secret)", CHANGED: "(another secret)", UNKNOWN: "(unknown until the update)"}
_FEW_LINES = 2


def scalar(value: Any) -> str:
    """Return a value that is not a mapping and no list, on one line."""
    if not isinstance(value, str):
        return shortened(json.dumps(value, default=str), LONGEST)
    if value in _MARKS:
        return _MARKS[value]
    if described := _described(value):
        return described
    short = shortened(value, LONGEST)
    if _PLAIN.fullmatch(short) and short.lower() not in _WORDS and not _is_number(short):
        return short
    return visible(json.dumps(short, ensure_ascii=False))


def _is_number(text: str) -> bool:
    try:
        float(text.replace("_", "") if not text.lower().startswith(("0x", "0o")) else "0")
    except ValueError:
        return False
    return True


def lines(value: Any) -> list[str]:
    """Return the lines of a text that has several and is readable; else nothing."""
    text = content(value)
    if not isinstance(text, str) or text.count("\n") < _FEW_LINES or _described(text):
        return []
    return [shortened(visible(line), LONGEST) for line in text.split("\n")]


def content(value: Any) -> Any:
    """Return what a `data:` URL holds, where that is text; other values as they are."""
    match = _TEXT_URL.match(value) if isinstance(value, str) else None
    if not match:
        return value
    rest = unquote(value[match.end() :])
    if not match[1]:
        return rest
    try:
        return base64.b64decode(rest, validate=True).decode()
    except (binascii.Error, ValueError):
        return value


def empty(value: Any) -> str:
    """Return an empty mapping or list as YAML has it; an empty text for all else."""
    if isinstance(value, Mapping | list) and not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    return ""


def _described(text: str) -> str:
    """Return what an unreadable text is, e.g. a certificate; empty for others."""
    pem = _PEM.search(text)
    if not pem and not _BASE64.fullmatch(text):
        return ""
    what = pem[1].lower() if pem else "base64"
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:12]
    return f"({what}, {len(text):,} characters, sha256 {digest})"

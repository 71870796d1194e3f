"""Outcomes in a normal form: without colours, folders of this machine, and frames that are not the program's."""

import re
import sys
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

_PLUGIN_LINE = re.compile(r"^using pulumi-\S+ from \$PATH")
_COLOUR = re.compile(r"<\{%[a-z ]*%\}>")
_FRAME = re.compile(r'(?P<frame>  File "(?P<file>[^"]*)", line \d+(?:, in (?P<what>.*))?\n)(?P<code>(?:    .*\n)*)')
_HOST_FRAME = "  (frames of Python or the SDK)\n"
_LATE = "Resource monitor has terminated, shutting down"
"""What the SDK says where the engine ended before the program that it interrupts: it comes or not, likewise."""


def messages(events: Iterable[Mapping[str, Any]], project: Path) -> tuple[str, ...]:
    """Return the diagnostics as `severity: text`; a preview's and an update's are one.

    Lines of a program's output come in pieces that depend on timing, so neighbours of one severity are joined.
    """
    found = [
        (_severity(event), _text(str(event.get("message", "")), project))
        for event in (each["diagnosticEvent"] for each in events if "diagnosticEvent" in each)
        if event.get("severity") != "debug" and not _is_left_out(str(event.get("message", "")))
    ]
    # Output of the program and messages of the SDK come by different ways: only order within one way is certain.
    ordered = sorted(found, key=lambda each: each[0])
    joined = (
        f"{severity}: {_settled(''.join(text for _, text in group))}"
        for severity, group in groupby(ordered, key=lambda each: each[0])
    )
    return tuple(text for text in joined if not _is_interruption(text))


def policies(events: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the violations of policies."""
    found = (each["policyEvent"] for each in events if "policyEvent" in each)
    return tuple(
        f"{each['enforcementLevel']} {each['policyName']}: {_COLOUR.sub('', each['message']).strip()}" for each in found
    )


def outputs(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stack's outputs in the state; secrets as `secret`."""
    resources = state["checkpoint"]["latest"].get("resources") or ()
    stack: Mapping[str, Any] = next((each for each in resources if each["type"] == "pulumi:pulumi:Stack"), {})
    return {
        key: "secret" if isinstance(value, dict) and "ciphertext" in value else value
        for key, value in (stack.get("outputs") or {}).items()
    }


def _is_left_out(message: str) -> bool:
    return bool(_PLUGIN_LINE.match(message)) or _COLOUR.sub("", message).strip() == _LATE


def _is_interruption(text: str) -> bool:
    """Whether it is the traceback of a program or pack that was interrupted: it comes or not, as the timing has it."""
    return text.startswith("info#err") and "KeyboardInterrupt" in text


def _severity(event: Mapping[str, Any]) -> str:
    return f"{event.get('severity')}{', passing' if event.get('ephemeral') else ''}"


def _text(text: str, project: Path) -> str:
    plain = _COLOUR.sub("", text)
    for folder, name in ((project, "<project>"), (Path(sys.prefix), "<venv>"), (Path(sys.base_prefix), "<python>")):
        plain = plain.replace(str(folder), name)
    return plain


def _settled(text: str) -> str:
    """Leave the frames of the program, and one line for all others, which differ by version."""

    def kept(match: re.Match[str]) -> str:
        return match["frame"] + match["code"] if match["file"].startswith("<project>") else _HOST_FRAME

    lines = re.sub(r"\n[ \n]*\n", "\n", text)  # an event is a line or a part of one
    lines = re.sub(r"Thread-\d+", "Thread-N", lines)
    shortened = _FRAME.sub(kept, lines + "\n")
    return re.sub(f"(?:{re.escape(_HOST_FRAME)})+", _HOST_FRAME, shortened).strip()

"""What is wrong with a field, and the remedy: in place of what pydantic says of it."""

from collections.abc import Mapping
from typing import Any

from core.field_forms import FORMS

_PROBLEMS = {
    "missing": ("is missing", "add it"),
    "extra_forbidden": ("is not a field here", "remove it or correct its name"),
    "literal_error": ("is not {expected}", "write one of these"),
    "enum": ("is not {expected}", "write one of these"),
    "union_tag_invalid": ("is not {expected_tags}", "write one of these"),
    "union_tag_not_found": ("is missing", "add it"),
    "string_type": ("is not text", "write text, a number in quotes"),
    "string_pattern_mismatch": ("is not in the form of this field", "docs/reference/settings.md describes it"),
    "string_too_short": ("needs {min_length} or more characters", "write more"),
    "string_too_long": ("has more than {max_length} characters", "shorten it"),
    "bool_type": ("is not true or false", "write one of them"),
    "bool_parsing": ("is not true or false", "write one of them"),
    "int_type": ("is not a whole number", "write one"),
    "int_parsing": ("is not a whole number", "write one"),
    "int_parsing_size": ("is too large a number", "lower it"),
    "int_from_float": ("is not a whole number", "write one"),
    "float_type": ("is not a number", "write one"),
    "float_parsing": ("is not a number", "write one"),
    "finite_number": ("is not a finite number", "write one"),
    "greater_than": ("is not above {gt}", "raise it"),
    "greater_than_equal": ("is below {ge}", "raise it"),
    "less_than": ("is not below {lt}", "lower it"),
    "less_than_equal": ("exceeds {le}", "lower it"),
    "too_short": ("has {actual_length} entries and needs {min_length}", "add what is missing"),
    "too_long": ("has {actual_length} entries, and may have {max_length}", "leave some out"),
    "tuple_type": ("is not a list", "write a list, e.g. [a, b]"),
    "dict_type": ("is not a map", "write a map, e.g. {{a: b}}"),
    "model_type": ("is not a map of fields", "write its fields below it"),
    "model_attributes_type": ("is not a map of fields", "write its fields below it"),
    "invalid_key": ("has a key that is not text", "write it in quotes"),
    "ip_v4_address": ("is not an IPv4 address", "write one as 192.168.1.2"),
    "ip_v4_interface": ("is not an IPv4 address with its prefix", "write one as 192.168.1.2/24"),
    "ip_v4_network": ("is not an IPv4 network", "write its own address and prefix, as 192.168.1.0/24"),
    "date_type": ("is not a date", "write one as 2027-06-30"),
    "date_parsing": ("is not a date", "write one as 2027-06-30"),
    "date_from_datetime_parsing": ("is not a date", "write one as 2027-06-30"),
    "date_from_datetime_inexact": ("is not a date", "write one as 2027-06-30"),
}
"""By pydantic's name of an error: what is wrong, with fields of its context, and what to do."""
OWN = ("value_error", "assertion_error")
"""Errors that validators of the project raise, whose messages have a remedy."""
_OTHER = ("is not what this field takes", "correct it")


def problem(error: Mapping[str, Any]) -> str:
    """Return what is wrong, to follow the field's name; of a validator's error its message, with the remedy."""
    if error["type"] in OWN:
        text: str = error["msg"]
        return text.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    context = error.get("ctx", {})
    if form := FORMS.get(context.get("pattern", "")):
        return f"is not {form.name}"
    return _PROBLEMS.get(error["type"], _OTHER)[0].format_map(context)


def remedy(error: Mapping[str, Any]) -> str:
    """Return what to do, to follow the problem and the value; nothing where the message has it."""
    if error["type"] in OWN:
        return ""
    context = error.get("ctx", {})
    if form := FORMS.get(context.get("pattern", "")):
        return f"; write e.g. {form.example}" if form.example else "; write it in that form"
    return f"; {_PROBLEMS.get(error['type'], _OTHER)[1].format_map(context)}"


def sentence(error: Mapping[str, Any], place: str) -> str:
    """Return what is wrong at a place, and the remedy, without the value."""
    text = problem(error) + remedy(error)
    return f"{place}: {text}" if place else text


def argument(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a component's argument, and the remedy: validators' messages name it themselves."""
    return sentence(error, "" if error["type"] in OWN else ".".join(map(str, error["loc"])))

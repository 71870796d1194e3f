"""Arguments besides files, refused where they cannot be meant."""

from collections.abc import Callable, Collection, Iterable, Mapping

from core.apis.names import SCC_MCS, SCC_SUPPLEMENTAL_GROUPS, SCC_UID_RANGE
from policies.views.namespaces import ids


class WrongArgument(Exception):
    """An argument that cannot be meant; the message names it and lists the valid ones."""


_EXAMPLE = "1000680000/10000"
# Annotation -> whether a value of it can be read, and one that can.
_FORMS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    SCC_UID_RANGE: (lambda value: ids(value) is not None, _EXAMPLE),
    SCC_SUPPLEMENTAL_GROUPS: (lambda value: all(ids(part) is not None for part in value.split(",")), _EXAMPLE),
    SCC_MCS: (bool, "s0:c26,c15"),
}


def annotations(options: Iterable[str]) -> dict[str, str]:
    """Return annotations written as KEY=VALUE; raises WrongArgument."""
    by_key: dict[str, str] = {}
    for pair in options:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise WrongArgument(f"--annotation {pair}: write KEY=VALUE, e.g. {SCC_UID_RANGE}={_EXAMPLE}")
        readable, example = _FORMS.get(key, (None, ""))
        if readable is not None and not readable(value):
            raise WrongArgument(f"--annotation {key}: {value!r} cannot be read; write it like {example}")
        by_key[key] = value
    return by_key


def usable(requested: Iterable[str], names: Collection[str]) -> frozenset[str]:
    """Return the SCCs that are to be usable, which are among `names`; raises WrongArgument."""
    usable_names = frozenset(requested)
    if lost := sorted(usable_names.difference(names)):
        raise WrongArgument(f"--usable {lost[0]}: no such SCC; known: {', '.join(sorted(names))}")
    return usable_names

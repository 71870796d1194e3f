"""The grammars of names in Kubernetes."""

import re
from functools import lru_cache

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253
PORT_LENGTH = 15

_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})*")
_WORD = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PORT = re.compile(r"(?=[^a-z]*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*")


@lru_cache(maxsize=4096)
def is_label(name: str) -> bool:
    """Return whether it is a label of DNS (RFC 1123), as names of containers, volumes and namespaces are."""
    return len(name) <= LABEL_LENGTH and _LABEL.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_subdomain(name: str) -> bool:
    """Return whether it is labels of DNS (RFC 1123) with dots between, as most names are."""
    return len(name) <= SUBDOMAIN_LENGTH and _SUBDOMAIN.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_segment(name: str) -> bool:
    """Return whether it may be part of a path, as names of RBAC's objects: everything but `/`, `%`, `.` and `..`."""
    return name not in (".", "..") and "/" not in name and "%" not in name


@lru_cache(maxsize=4096)
def is_qualified(name: str) -> bool:
    """Return whether it is a key of labels, or a resource: a name, perhaps after a DNS prefix and `/`."""
    prefix, slash, word = name.rpartition("/")
    return (not slash or is_subdomain(prefix)) and is_label_value(word) and bool(word)


@lru_cache(maxsize=4096)
def is_label_value(value: str) -> bool:
    """Return whether it may be a label's value."""
    return not value or (len(value) <= LABEL_LENGTH and _WORD.fullmatch(value) is not None)


@lru_cache(maxsize=4096)
def is_port(name: str) -> bool:
    """Return whether it is the name of a port (IANA): 15 lowercase letters, digits and single dashes, with a letter."""
    return len(name) <= PORT_LENGTH and _PORT.fullmatch(name) is not None

"""Malformed manifests: what hypothesis makes out of the fixtures of the rules."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml
from hypothesis import strategies as st

from core.apis.kinds import KINDS
from policies.rule import FIXTURES

UNKNOWN_MARK = "<unknown>"

_NUMBERS = (0, -1, 1, 2, 3, 8, 10**18, 2**64, 0.5, 1e300)
_NUMERALS = ("0", "1", "-1", "1.5", "1e9", "1e999", "9" * 80, "1Gi", "100%", "1000/10", "1000-2000")
_WORDS = (
    "",
    " ",
    "x",
    "*",
    "Gi",
    "a/b",
    "a:b",
    "[",
    "{",
    '{"a": 1}',
    "[]",
    "null",
    "yes",
    "\u2028",
    "\U0001f600",
    "x" * 300,
)
_FIELDS = (UNKNOWN_MARK, "ALL", "IPC_LOCK", "system:authenticated", "s0:c1,c2", "mpirun -np 4 -x A --", "-np")
_LISTS: tuple[Any, ...] = ([], [None], [[]], [{}], [""], [{"name": "x"}], [1, "a", None, {}])
_MAPS: tuple[Any, ...] = ({}, {"": None}, {"name": None}, {"a": {"b": [{}]}})
_ODD: tuple[Any, ...] = (None, True, False, *_NUMBERS, *_NUMERALS, *_WORDS, *_FIELDS, *_LISTS, *_MAPS)
_MARKS = "{}[]:,-?|>'\"#%@`\t\n\r ~\0\ufeff\u2028\x85"
_SEQUENCES = ("&a ", "*a", "!x ", "  ", "---\n", "...\n", "<<: *a", "!!binary ", "0x", "{{ .x }}", "- - - ", "? ? ")
_TOKENS = (*_MARKS, *_SEQUENCES)


@cache
def contents() -> tuple[tuple[Path, dict[str, Any]], ...]:
    """Return every fixture's file and content; they are read once, for hundreds of them take a third of a second."""
    files = sorted(FIXTURES.glob("*/*/*.yaml"))
    return tuple((path, yaml.load(path.read_text(), Loader=yaml.CSafeLoader)) for path in files)


@cache
def seeds() -> tuple[Any, ...]:
    """Return all manifests of the fixtures."""
    return tuple(_seeds())


def _seeds() -> Iterator[Any]:
    for _, content in contents():
        yield from content.get("objects") or [content["object"]]


@cache
def words() -> tuple[str, ...]:
    """Return all field names of the fixtures, most of which some rule reads."""
    return tuple(sorted({key for seed in seeds() for _, key, _ in _places(seed) if isinstance(key, str)}))


@st.composite
def mutants(draw: st.DrawFn) -> list[Any]:
    """Return some of the fixtures' manifests, with parts taken out, exchanged, repeated and replaced."""
    random = draw(st.randoms(use_true_random=False))
    manifests = [deepcopy(random.choice(seeds())) for _ in range(random.randint(1, 4))]
    for _ in range(random.randint(0, 6)):
        _mutate(random, random.choice(manifests))
    return [{"apiVersion": "v1", "kind": "List", "items": manifests}] if random.random() < 0.1 else manifests


def inventions() -> st.SearchStrategy[list[Any]]:
    """Return objects of our kinds with any tree in them, made of fields that rules know."""
    key = st.sampled_from(words()) | st.text(max_size=5)
    leaf = (
        st.sampled_from(_ODD)
        | st.text(max_size=8)
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
    )
    tree = st.recursive(leaf, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(key, inner, max_size=5))
    whole = st.builds(
        lambda kind, fields: {**fields, "apiVersion": kind.api_version, "kind": kind.kind},
        st.sampled_from(KINDS),
        st.dictionaries(key, tree, max_size=5),
    )
    return st.lists(whole, min_size=1, max_size=3)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Return the YAML of mutants with characters of the language strewn over it, or any bytes."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
    random = draw(st.randoms(use_true_random=False))
    manifests = draw(mutants())
    text = json.dumps(manifests[0]) if random.random() < 0.2 else yaml.dump_all(manifests, Dumper=yaml.CSafeDumper)
    for _ in range(random.randint(0, 6)):
        begin = random.randint(0, len(text))
        end = begin + random.choice((0, 0, 0, 1, 2, 30))
        text = text[:begin] + random.choice(_TOKENS) * random.choice((1, 1, 1, 2, 200)) + text[end:]
    return text.encode()


def _mutate(random: Random, root: Any) -> None:
    places = list(_places(root))
    if not places:
        return
    parent, key, value = random.choice(places)
    mutation = random.randint(0, 5)
    if mutation == 0:
        del parent[key]
    elif mutation == 1 and isinstance(parent, list):
        parent[key:key] = [deepcopy(value)] * random.choice((1, 2, 20))
    elif mutation == 2 and isinstance(parent, dict):
        parent[random.choice(words())] = parent.pop(key)
    elif mutation == 3:
        others = [other for _, name, other in _places(random.choice(seeds())) if name == key]
        parent[key] = deepcopy(random.choice(others or _ODD))
    elif mutation == 4 and isinstance(value, dict):
        value[random.choice(words())] = deepcopy(random.choice(_ODD))
    else:
        parent[key] = deepcopy(random.choice(_ODD))


def _places(root: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield every value below `root` with what it stands in and under which key."""
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        entries = parent.items() if isinstance(parent, dict) else enumerate(parent) if isinstance(parent, list) else ()
        for key, value in entries:
            yield parent, key, value
            waiting.append(value)

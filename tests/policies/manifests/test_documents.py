"""Reading YAML: values as Kubernetes has them, faults with their places, and nothing that grows out of hand."""

import time
from typing import Any

import pytest
import yaml

from core.yaml.text import resolve
from policies.manifests.documents import DEEPEST, Aliases, Document, NotReadable, documents
from toolkit.cli.check.places import offsets
from toolkit.cli.check.texts import Chunk, chunks, decode


def _documents(text: str) -> list[Document]:
    aliases = Aliases.of(text)
    return [document for chunk in chunks(text) for document in documents(chunk.text, aliases, {})]


def _tree(text: str) -> Any:
    (document,) = _documents(text)
    return document.tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("yes", True), ("off", False), ("y", True), ("N", False), ("null", None), ("~", None), ("", None)),
        *(("0777", 511), ("0o17", 15), ("0x1F", 31), ("0b101", 5), ("1_000", 1000), ("-5", -5), ("+5", 5)),
        *(
            ("08", 8),
            ("1e3", 1000),
            ("1.5", 1.5),
            (".5", 0.5),
            ("8.0", 8),
            ("1:20", "1:20"),
            ("2026-01-01", "2026-01-01"),
        ),
        *(("0b12", "0b12"), ("0x", "0x"), ("1e400", "1e400"), ("9" * 500, "9" * 500), ("16Gi", "16Gi"), ("-", "-")),
        *(
            ("18446744073709551615", 2**64 - 1),
            ("18446744073709551616", 2.0**64),
            (".1_4", 0.14),
            ("._4", "._4"),
            ("nO", "nO"),
            ("=", "="),
        ),
    ],
)
def test_scalars(text: str, value: object) -> None:
    """Scalars have the values that the API server reads: `privileged: yes` is true, `defaultMode: 0644` is 420."""
    found = resolve(text)
    assert (found, type(found)) == (value, type(value))


def test_tree_is_what_yaml_says() -> None:
    """Mappings, lists, block scalars, anchors and merges are read as by the reference parser."""
    text = """
base: &base {a: 1, b: [x, {w: z}]}
derived: {<<: *base, a: 2}
many: {<<: [{k: 1}, {k: 2, l: 3}]}
again: *base
text: |
  one
  two
"quoted": "1"
? plain
: [[], {}, ~]
"""
    assert _tree(text) == yaml.safe_load(text)


def test_keys_are_strings() -> None:
    """Keys are text, as in JSON."""
    assert _tree("{on: 1, 5: 2, 1.5: 3, x: 4}") == {"true": 1, "5": 2, "1.5": 3, "x": 4}


def test_json() -> None:
    """JSON is read, with surrogate pairs, escaped slashes and tabs."""
    assert _tree(decode(b'{\n\t"a": "\\ud83d\\ude00 \\\\ud83d \\/",\n\t"b":[1,true,null]}')) == {
        "a": "\U0001f600 \\ud83d /",
        "b": [1, True, None],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: !!python/object/apply:os.system [id]\n", "the tag"),
        ("!!binary cHJpdmlsZWdlZA==: true", "the tag"),
        ("a: .inf", ".inf is not a number"),
        ("~: 1", "a key is empty"),
        ("<<: [1]", "merges something"),
    ],
)
def test_faults_are_reported(text: str, message: str) -> None:
    """What is not a manifest's content, but YAML, is a fault of a document that is read."""
    (document,) = _documents(text)
    (fault,) = document.faults
    assert message in fault.message


def test_a_duplicate_key_is_reported_and_its_last_value_read() -> None:
    """A duplicate key is reported where it is again, and its last value counts."""
    text = "a: 1\nb: 2\na: 3"
    (document,) = _documents(text)
    (fault,) = document.faults
    assert "the key a is a duplicate" in fault.message
    assert document.tree == {"a": 3, "b": 2}
    assert Chunk(text, 1).position(fault.offset) == (3, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested deeper"),
        ("- " * 100_000, "nested deeper"),
        ("{a: " * 100_000, "nested deeper"),
        ("a: &a [*a]", "inside its own anchor"),
        ("a: *b", "without its anchor"),
        ("? [a]\n: b", "as a key"),
        ("{{ .Values.x }}: 1", "as a key"),
        ("a: &a [x]\nb: {*a : 1}", "as a key"),
        ("a: b: c", "is not YAML: a colon inside a value; quote the value"),
        ('a: "open', "is not YAML: a quote that is never closed; close it"),
    ],
)
def test_unreadable(text: str, message: str) -> None:
    """A text that is not a manifest is an error with a message."""
    with pytest.raises(NotReadable, match=message):
        _documents(text)


def test_aliases_do_not_multiply() -> None:
    """Aliases that expand beyond the limit are refused."""
    lines = ["a0: &a0 [" + "x," * 9 + "x]"]
    lines += [f"a{n}: &a{n} [" + f"*a{n - 1}," * 9 + f"*a{n - 1}]" for n in range(1, 30)]
    with pytest.raises(NotReadable, match="grows too large"):
        _documents("\n".join(lines))
    deep = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, DEEPEST + 1))])
    with pytest.raises(NotReadable, match="by its aliases"):
        _documents(deep)


@pytest.mark.parametrize("text", ["a: " + "9" * 2_000_000, "a: 0x" + "f" * 2_000_000, "a: 1." + "9" * 2_000_000])
def test_long_numbers_take_no_time(text: str) -> None:
    """Numbers with very many digits are read as text in bounded time."""
    begin = time.process_time()
    assert isinstance(_tree(text)["a"], str)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize(
    ("content", "message", "offset"),
    [
        (b"a: b\nc: \xff", "not UTF-8: byte 0xff", 8),
        (b"a: \x00", r"control character, U\+0000", 3),
        (b"a: \xef\xbb\xbf", "U.FEFF", 3),
    ],
)
def test_no_text(content: bytes, message: str, offset: int) -> None:
    """Text that is not UTF-8 or has control characters is refused with its offset."""
    with pytest.raises(NotReadable, match=message) as caught:
        decode(content)
    assert caught.value.offset == offset


def test_byte_order_marks() -> None:
    """Byte order marks of UTF-8 and UTF-16 are accepted."""
    assert _tree(decode("a: 1".encode("utf-8-sig"))) == {"a": 1}
    assert _tree(decode("a: 1".encode("utf-16"))) == {"a": 1}


def test_chunks() -> None:
    """Documents are divided at `---` with the right lines."""
    text = "# head\n---\n---\na: 1\n--- # note\n--- {b: 2}\n...\n---\n|\n  ---\n"
    found = [
        (chunk.line, document.tree) for chunk in chunks(text) for document in documents(chunk.text, Aliases(9), {})
    ]
    assert found == [(3, {"a": 1}), (6, {"b": 2}), (8, "---\n")]
    assert [chunk.line for chunk in chunks("%YAML 1.1\n---\na: 1\n")] == [2]
    assert list(chunks("# only\n\n")) == []


TEXT = """\
spec:
  containers:
    - name: one
      resources: {limits: {nvidia.com/gpu: 1}}
    - *other
  on: [a, b]
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("spec",), (1, 1)),
        (("spec", "containers", 0), (3, 7)),
        (("spec", "containers", 0, "name"), (3, 7)),
        (("spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"), (4, 28)),
        (("spec", "containers", 0, "resources", "requests", "x"), (4, 7)),
        (("spec", "containers", 1, "name"), (5, 7)),
        (("spec", "containers", 7), (2, 3)),
        (("spec", "true", 1), (6, 11)),
        (("metadata", "name"), (1, 1)),
    ],
)
def test_places(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    """A path is located at its field, or where an absent field would be."""
    assert Chunk(TEXT, 1).position(offsets(TEXT, 0, [path])[path]) == place


def test_place_in_a_later_document() -> None:
    """A path is located in its own document."""
    text = "--- {a: 1}\n...\n---\na: 2\n"
    assert Chunk(text, 1).position(offsets(text, 1, [("a",)])[("a",)]) == (4, 1)

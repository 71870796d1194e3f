"""YAML in C: it says what Python's own reader says, of right and of wrong texts."""

import pytest
import yaml

from apis.yaml_text import read
from tests.support.recorded import ROOT


@pytest.mark.parametrize("file", ["Pulumi.prod.yaml", "docs/coverage/redpaper.yaml"])
def test_a_text_means_the_same(file: str) -> None:
    """Both readers return the same content."""
    text = (ROOT / file).read_text()
    assert read(text) == yaml.safe_load(text)


@pytest.mark.parametrize("text", ["a: [1, 2", "a: b: c", "a:\n\t- b", "a: @b"])
def test_an_error_quotes_the_line(text: str) -> None:
    """An error is that of PyYAML's own loader, with the same line."""
    with pytest.raises(yaml.YAMLError) as wanted:
        yaml.safe_load(text)
    with pytest.raises(yaml.YAMLError) as found:
        read(text)
    assert str(found.value) == str(wanted.value)


def test_a_key_that_is_given_twice_is_refused() -> None:
    """One of its values would be lost, so it is named, with its line; what `<<` merges may be overridden."""
    with pytest.raises(yaml.YAMLError, match=r"mtu is given twice; remove one\n.*line 3, column 3"):
        read("ports:\n  mtu: 9000\n  mtu: 9216\n")
    merged = "z: &z {k: 0}\nx:\n  y: &y {<<: *z, k: 1}\nb: {<<: *y, k: 2}\n"
    assert read(merged) == {"z": {"k": 0}, "x": {"y": {"k": 1}}, "b": {"k": 2}}


def test_a_date_that_does_not_exist_is_an_error_of_yaml() -> None:
    """A date that the calendar does not have is an error of YAML like others, with the remedy."""
    with pytest.raises(yaml.YAMLError, match=r"month must be in 1\.\.12.*correct it, or quote it"):
        read("until: 2027-13-31")


@pytest.mark.parametrize("level", ["{a: ", "- ", "? "])
def test_depth_is_an_error(level: str) -> None:
    """Too deep nesting is an error."""
    with pytest.raises(RecursionError):
        read(level * 100_000)

"""YAML in C: it says what Python's own reader says, of right and of wrong texts."""

import pytest
import yaml

from apis.yaml_text import read
from tests.support.recorded import ROOT


@pytest.mark.parametrize("file", ["Pulumi.prod.yaml", "docs/coverage.yaml"])
def test_a_text_means_the_same(file: str) -> None:
    """Prevents a setting that changes with the reader."""
    text = (ROOT / file).read_text()
    assert read(text) == yaml.safe_load(text)


@pytest.mark.parametrize("text", ["a: [1, 2", "a: b: c", "a:\n\t- b", "a: @b"])
def test_an_error_quotes_the_line(text: str) -> None:
    """Prevents an error without the line that is wrong, which libyaml's has not."""
    with pytest.raises(yaml.YAMLError) as wanted:
        yaml.safe_load(text)
    with pytest.raises(yaml.YAMLError) as found:
        read(text)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("level", ["{a: ", "- ", "? "])
def test_depth_is_an_error(level: str) -> None:
    """Prevents a process that ends without a word."""
    with pytest.raises(RecursionError):
        read(level * 100_000)

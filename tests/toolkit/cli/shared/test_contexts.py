"""Kubeconfigs that may be anything."""

from pathlib import Path

import pytest

from tests.toolkit.cli.init.kit import TOKEN, kubeconfig
from toolkit.cli.shared import contexts
from toolkit.cli.shared.errors import Problem


def test_the_context_is_the_only_one_or_the_chosen_one(tmp_path: Path) -> None:
    """The context is the only one or the named one, and never the current one."""
    assert contexts.chosen(kubeconfig(tmp_path, "a"), None) == "a"
    assert contexts.chosen(kubeconfig(tmp_path, "a", "b"), "b") == "b"
    with pytest.raises(Problem, match=r"has 2 contexts\nName one with --context: a, b"):
        contexts.chosen(kubeconfig(tmp_path, "a", "b"), None)
    with pytest.raises(Problem, match=r"has no context 'c'\nName one with --context: a, b"):
        contexts.chosen(kubeconfig(tmp_path, "a", "b"), "c")


@pytest.mark.parametrize(
    "content",
    ["a: [", "", "- x", "contexts: x", "contexts: [1, {x: y}]", f'token: "{TOKEN}\n  - :', "\x00", "[" * 20000],
)
def test_a_file_that_is_no_kubeconfig_is_one_message(tmp_path: Path, content: str) -> None:
    """A file that is not a kubeconfig is refused without a line of it, which may be a token."""
    file = tmp_path / "kubeconfig"
    file.write_text(content)
    with pytest.raises(Problem, match=r"Correct --kubeconfig") as error:
        contexts.chosen(file, None)
    assert TOKEN not in str(error.value)


def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    """A folder is refused with the system's reason."""
    with pytest.raises(Problem, match=r"cannot be read: Is a directory"):
        contexts.chosen(tmp_path, None)

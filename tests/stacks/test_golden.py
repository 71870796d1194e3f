"""Whole manifests of two stacks, one file an object; of every other one what differs; and the number of objects."""

from collections import Counter
from pathlib import Path

import pytest

from tests.stacks import others
from tests.support.golden import STACKS, UPDATE, Golden, compare, files, text, write
from tests.support.recorded import OURS, ROOT, environment, every_operator
from toolkit.render.manifests import manifests
from toolkit.render.reference.components import subjects

FOLDER = ROOT / "tests" / "stacks" / "golden"
IN_NO_STACK = {
    "NicNodePolicy": "it is for pools that differ, which tests/stacks/settings/test_resolved_pool.py declares",
}
"""Components that no stack of this repository declares, and what does."""


@pytest.mark.parametrize("stack", STACKS)
def test_manifests_are_as_reviewed(stack: str, golden: Golden) -> None:
    """A change of any object shows up as a difference that a reviewer reads."""
    golden(files(manifests(environment(stack))), FOLDER / stack)


def test_every_stack_declares_as_many_objects_as_reviewed(golden: Golden) -> None:
    """An object that appears in any stack, or vanishes from it, shows up in a table of kinds."""
    found: dict[str, Counter[str]] = {}
    for stack in OURS:
        for item in environment(stack):
            if item.is_kubernetes:
                found.setdefault(item.type.removeprefix("kubernetes:"), Counter())[stack] += 1
    lines = (
        f"{kind}: {{{', '.join(f'{stack}: {count}' for stack, count in sorted(found[kind].items()))}}}\n"
        for kind in sorted(found)
    )
    golden({"objects.yaml": "".join(lines)}, FOLDER)


def test_other_stacks_declare_what_was_reviewed(golden: Golden) -> None:
    """How each one's platform differs from the golden ones, and what its tenants have, is a file of its own.

    Among them are the platforms of the documents.
    """
    names = [stack for stack in OURS if stack not in STACKS]
    found = {
        f"{stack}.yaml": text({"platform": others.platform(stack), "tenants": others.tenants(stack)}) for stack in names
    }
    golden(found, FOLDER / "others")


def test_every_component_is_composed() -> None:
    """A component that no layer declares, or whose layer `stacks/environment.py` does not call, shows up."""
    recorded = [*map(environment, OURS), every_operator()]
    made = {item.type.rpartition(":")[2] for items in recorded for item in items if item.type.startswith("hpc:")}
    missing = sorted({subject.name for subject in subjects()} - made - IN_NO_STACK.keys())
    assert not missing, (
        f"{', '.join(missing)}: no stack declares it; declare it in stacks/layers/, call that in "
        "stacks/environment.py, and give an example in stacks/examples/ its setting, or name it in IN_NO_STACK of "
        "tests/stacks/test_golden.py with what does declare it"
    )
    listed = sorted(IN_NO_STACK.keys() & made)
    assert not listed, f"{', '.join(listed)}: a stack declares it; remove it from IN_NO_STACK"


def test_no_folder_is_left_over() -> None:
    """A golden folder that nothing is compared with is removed."""
    assert {entry.name for entry in FOLDER.iterdir()} == {*STACKS, "objects.yaml", "others"}


def _config_map(name: str, **data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "here"}, "data": data}


def test_a_difference_names_files_and_the_command(tmp_path: Path) -> None:
    """Objects that appear or vanish are named, and what has changed is a unified diff."""
    write(files([_config_map("gone"), _config_map("kept", text="one\ntwo\n", other="1")]), tmp_path)
    with pytest.raises(pytest.fail.Exception) as caught:
        compare(files([_config_map("new"), _config_map("kept", text="one\nthree\n", other="1")]), tmp_path)
    lines = str(caught.value).splitlines()
    assert UPDATE in lines[0]
    assert {"-    two", "+    three", "     one"} <= {*lines}
    for line in ("appears: {}/configmap-here-new.yaml", "vanishes: {}/configmap-here-gone.yaml"):
        assert line.format(tmp_path) in lines
    assert f"--- {tmp_path}/configmap-here-kept.yaml" in lines


def test_an_update_leaves_what_is_declared_alone(tmp_path: Path) -> None:
    """Files of objects that are no more are removed, and what was written compares as equal."""
    write(files([_config_map("gone")]), tmp_path)
    found = files([_config_map("new", text="one\ntwo\n", quoted="on")])
    write(found, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["configmap-here-new.yaml"]
    compare(found, tmp_path)


def test_an_object_much_like_another_says_what_it_has_otherwise() -> None:
    """Each field of the second object is in its file or in that of the first; JSON is written as what it means."""
    lines = "\n".join(map(str, range(9)))
    first, second = files([_config_map("a", text=lines), _config_map("b", text=lines, page='{"rows": [1]}')]).values()
    assert lines.replace("\n", "\n    ") in first
    assert second == "like: configmap-here-a.yaml\nexcept:\n  data.page: !json\n    rows: [1]\n  metadata.name: b\n"

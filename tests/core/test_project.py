"""Where the project is whose program the product is."""

from pathlib import Path

import pytest

from core import project, simulated
from core.errors import UserError


@pytest.mark.parametrize("main", ["product", "./product/", '"product" # the submodule', "vendor/../product"])
def test_a_site_s_repository_is_the_folder_whose_project_names_the_product(main: str, tmp_path: Path) -> None:
    """The folder of the Pulumi.yaml that names the product as `main` is the project's, however it is written."""
    product = tmp_path / "product"
    product.mkdir()
    (tmp_path / "Pulumi.yaml").write_text(f"name: hpc\nmain: {main}\nruntime: python\n")
    assert project._project_of(product) == tmp_path


@pytest.mark.parametrize("text", [None, "name: other\n", "name: other\nmain: program\n", "\0\xff"])
def test_a_checkout_is_its_own_project_otherwise(text: str | None, tmp_path: Path) -> None:
    """A folder around the checkout without a project, or with one of another program, is not the project's."""
    if text is not None:
        (tmp_path / "Pulumi.yaml").write_bytes(text.encode("latin-1"))
    assert project._project_of(tmp_path / "product") == tmp_path / "product"


def test_this_checkout_is_its_own_project() -> None:
    """Developers have stacks, clusters and locks in the checkout."""
    assert project.FOLDER == project.PRODUCT == project.product_in(project.FOLDER)


def test_paths_of_the_product_begin_at_the_project_s_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a message or a comment names of the product exists from a site's folder; the site's own files come first."""
    for path in (
        "product/docs/guide/state.md",
        "product/docs/schemas/a.json",
        "product/stacks/x.yaml",
        "stacks/x.yaml",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert project.located("docs/guide/state.md") == "docs/guide/state.md"
    monkeypatch.setattr(project, "FOLDER", tmp_path)
    monkeypatch.setattr(project, "PRODUCT", tmp_path / "product")
    text = (
        "see docs/guide/state.md; $schema=docs/schemas/a.json, stacks/x.yaml, docs/other.md and "
        "product/docs/guide/state.md."
    )
    assert project.located(text) == (
        "see product/docs/guide/state.md; $schema=product/docs/schemas/a.json, stacks/x.yaml, docs/other.md and "
        "product/docs/guide/state.md."
    )
    assert (
        str(UserError("no state\nCreate it: docs/guide/state.md."))
        == "no state\nCreate it: product/docs/guide/state.md."
    )


def test_home_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Homes are where the environment says; a name cannot lead elsewhere."""
    monkeypatch.delenv("HPC_SIM_HOME", raising=False)
    assert simulated.home("default") == project.PRODUCT / ".sim" / "default"
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path))
    assert simulated.home("default") == tmp_path / "default"
    for bad in ("", "../up", "A", "x" * 41, "-x"):
        with pytest.raises(UserError, match="cluster name"):
            simulated.home(bad)

"""The two folders of an installation: the project's, with stacks and what belongs to them, and the product's."""

import os
import re
from pathlib import Path

_MAIN = re.compile(r"^main:\s*[\"']?([^\"'\s#]+)", re.MULTILINE)
"""The line of a Pulumi.yaml that names the folder of the program."""


def _project_of(product: Path) -> Path:
    """Return the nearest folder around `product` whose Pulumi.yaml names it as `main`; `product` where none does.

    A file of another user counts only where the product is that user's, too: settings may name code to run.
    """
    trusted = {os.getuid(), *([product.stat().st_uid] if product.exists() else ())}
    for folder in product.parents:
        file = folder / "Pulumi.yaml"
        try:
            main = _MAIN.search(file.read_text()) if file.stat().st_uid in trusted else None
        except (OSError, UnicodeDecodeError):
            continue
        if main and (folder / main[1]).resolve() == product:
            return folder
    return product


PRODUCT = Path(__file__).resolve().parent.parent
"""Folder of this checkout: the program, the policies, the examples, the simulator."""
FOLDER = _project_of(PRODUCT)
"""Folder of the Pulumi project, where all paths of the settings begin: stacks, machines, locks, simulated clusters.

It is a site's own repository, which has the product as a part, or the checkout itself.
"""


_PATH = re.compile(r"(?<![\w./-])(?:docs|core/hardware|stacks)/[\w/-]+(?:\.[\w-]+)*")
"""A path of the product's own in a sentence or a comment."""


def located(text: str) -> str:
    """Return a text in which paths of the product's files begin at the project's folder, as the user's own do."""
    return text if PRODUCT == FOLDER else _PATH.sub(lambda match: _in_project(match[0]), text)


def _in_project(path: str) -> str:
    packaged = (PRODUCT / path).exists() and not (FOLDER / path).exists()
    return (PRODUCT / path).relative_to(FOLDER).as_posix() if packaged else path


def product_in(folder: Path) -> Path:
    """Return the product's folder in another checkout of the project."""
    return folder / PRODUCT.relative_to(FOLDER)

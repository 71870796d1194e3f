"""Writes the reference pages, and removes those of components that are gone: `python -m rendering.reference`."""

from rendering.reference import components, coverage, evidence, programs, settings


def main() -> None:
    """Write all of them."""
    pages = components.pages() | programs.pages() | settings.pages() | coverage.pages() | evidence.pages()
    for file, text in pages.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    for file in components.FOLDER.glob("*.md"):
        if file not in pages:
            file.unlink()


if __name__ == "__main__":
    main()

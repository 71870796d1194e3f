"""Writes the reference pages, and removes those of components that are gone: `python -m rendering.reference`."""

from rendering.reference import components, coverage, evidence, faults, programs, settings


def main() -> None:
    """Write all of them."""
    writers = (components, programs, settings, coverage, evidence, faults)
    pages = {file: text for writer in writers for file, text in writer.pages().items()}
    for file, text in pages.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    for file in components.FOLDER.glob("*.md"):
        if file not in pages:
            file.unlink()


if __name__ == "__main__":
    main()

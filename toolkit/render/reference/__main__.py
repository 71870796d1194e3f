"""Write the reference pages, and remove those of deleted components: `python -m toolkit.render.reference`."""

from toolkit.render.reference import (
    components,
    coverage,
    evidence,
    faults,
    printed_objects,
    programs,
    releases,
    settings,
)


def main() -> None:
    """Write all of them."""
    writers = (components, programs, releases, settings, coverage, printed_objects, evidence, faults)
    pages = {file: text for writer in writers for file, text in writer.pages().items()}
    for file, text in pages.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    for file in components.FOLDER.glob("*.md"):
        if file not in pages:
            file.unlink()


if __name__ == "__main__":
    main()

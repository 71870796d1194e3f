"""Text of several reports."""


def printable(text: str) -> str:
    """Write out line ends and whatever a terminal, a log or an XML parser would act upon or refuse.

    Names and messages come out of the files.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

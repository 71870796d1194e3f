"""One parser a tool. A tool that is to be read is added here."""

from evidence.parser import Parser

PARSERS: tuple[type[Parser], ...] = ()
"""All parsers; where two begin alike, the first that matches is taken."""

"""What the program writes to standard error, without the tracebacks of an interruption.

When an update ends early, because something failed or the user pressed Ctrl-C, the engine interrupts the program that
is still waiting. The official language host (3.250) lets Python print its KeyboardInterrupt then, some 20 lines between
the error and the verdict.
"""

_TRACEBACK = "Traceback (most recent call last):"
_BETWEEN = "During handling of the above exception, another exception occurred:"
_NEVER_AWAITED = "RuntimeWarning: coroutine 'RPCManager."
_ADVICE = "RuntimeWarning: Enable tracemalloc"


class HostOutput:
    """Takes lines as they come, and returns those to show; a traceback is held until its last line is known."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._interrupted = False
        self._warned = False

    def take(self, line: str) -> list[str]:
        """Return the lines that can be shown now."""
        text = line.rstrip("\n")
        if self._held:
            self._held.append(text)
            return [] if text[:1] in ("", " ", "\t") else self._ended(text)
        if text.startswith(_TRACEBACK):
            self._held = [text]
            return []
        if _NEVER_AWAITED in text:
            self._warned = True
            return []
        if self._warned and text[:1] in (" ", "\t"):
            return []
        if self._warned and text.startswith(_ADVICE):
            self._warned = False
            return []
        return [] if self._interrupted and text.startswith(_BETWEEN) else [text]

    def rest(self) -> list[str]:
        """Return what is still held: a traceback that was interrupted."""
        held, self._held = self._held, []
        return held

    def _ended(self, last: str) -> list[str]:
        held = self.rest()
        if last.startswith("KeyboardInterrupt"):
            self._interrupted = True
            return []
        return held

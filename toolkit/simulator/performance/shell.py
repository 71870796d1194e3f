"""A shell, as far as it decides which programs of a script run, in what order, and how the script ends."""

import re
from collections.abc import Sequence
from contextlib import suppress

from toolkit.simulator.performance import shell_words
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed, Program, Steps

MOST_COMMANDS = 10_000
"""Of one script: the rest of a longer one is left out."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))")
_OPTIONS = re.compile(r"([-+])([a-z]+)")


def run(script: str, options: str, job: Launched, program: Program) -> Printed:
    """Return what a script prints whose programs `program` simulates; `options` are the shell's letters.

    Of loops over words each turn is run; of `while` the condition, once, which is met then; an `until` that is not met
    waits for another pod; of `if` the branch that the condition chooses; of a pipe the first program. Functions, `case`
    and `$( )` are not looked into.
    """
    shell = _Shell(script, options, job, program)
    with suppress(_EndedError, RecursionError):
        shell.list_until()
    return Printed(tuple(shell.lines), shell.code, shell.message if shell.code else "", shell.waits, shell.steps)


class _EndedError(Exception):
    """The script ends here: by `exit`, by a failure under -e, or because it is too long."""


class _Shell:
    def __init__(self, script: str, options: str, job: Launched, program: Program) -> None:
        self._tokens = [*shell_words.tokens(script)]
        self._at = 0
        self._job = job
        self._program = program
        self._options = set(options)
        self._left = MOST_COMMANDS
        self.lines: list[str] = []
        self.code = 0
        self.message = ""
        self.waits = False
        self.steps: Steps | None = None

    @property
    def _next(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def list_until(self, *ends: str, active: bool = True, tested: bool = False) -> None:
        """Run commands up to one of the words `ends`, which is left; without `active` only pass over them."""
        before = ";"
        while self._next[0] != "end":
            kind, text = self._next
            if text in ends:
                return
            if kind == "operator" and text not in "()":
                self._at += 1
                continue
            taken = not (before == "|" or (before == "&&" and self.code) or (before == "||" and not self.code))
            start = self._at
            self._command(active=active and taken, tested=tested)
            before = self._next[1] if self._next[0] == "operator" else ";"
            if self._at == start:
                self._at += 1

    def _command(self, *, active: bool, tested: bool) -> None:
        kind, text = self._next
        match text:
            case "(" | "{":
                self._group(")" if text == "(" else "}", active=active, tested=tested)
            case "!":
                self._at += 1
                self._command(active=active, tested=True)
                self.code = int(not self.code) if active else self.code
            case "if":
                self._if(active=active, tested=tested)
            case "for":
                self._for(active=active, tested=tested)
            case "while" | "until":
                self._at += 1
                self.list_until("do", active=active, tested=True)
                if active and text == "until" and self.code:
                    self.waits, self.code = True, 0
                    raise _EndedError
                self.list_until("done", active=False)
                self._at += 1
                self.code = 0 if active else self.code
            case "case":
                self._skip_case()
            case _ if kind == "word":
                self._simple(active=active, tested=tested)

    def _group(self, end: str, *, active: bool, tested: bool) -> None:
        self._at += 1
        self.list_until(end, active=active, tested=tested)
        self._at += 1

    def _if(self, *, active: bool, tested: bool) -> None:
        chosen = False
        while self._next[1] in ("if", "elif"):
            self._at += 1
            self.list_until("then", active=active and not chosen, tested=True)
            met = active and not chosen and not self.code
            chosen = chosen or met
            self._at += 1
            self.list_until("elif", "else", "fi", active=met, tested=tested)
        if self._next[1] == "else":
            self._at += 1
            self.list_until("fi", active=active and not chosen, tested=tested)
        elif active and not chosen:
            self.code = 0
        self._at += 1

    def _for(self, *, active: bool, tested: bool) -> None:
        header = self._words(1)
        self.list_until("do", active=False)
        body = self._at = self._at + 1
        words = header[2:] if active else []
        for word in words:
            self._at = body
            self._trace(["for", *header])
            self._set(header[0], self._expanded(word))
            self.list_until("done", tested=tested)
        if not words:
            self.list_until("done", active=False)
        self._at += 1

    def _skip_case(self) -> None:
        depth = 0
        while self._next[0] != "end":
            depth += (self._next[1] == "case") - (self._next[1] == "esac")
            self._at += 1
            if depth == 0:
                return

    def _words(self, skipped: int = 0) -> list[str]:
        self._at += skipped
        words = []
        while self._next[0] == "word":
            words.append(self._next[1])
            self._at += 1
        return words

    def _simple(self, *, active: bool, tested: bool) -> None:
        words = self._words()
        if self._next[1] == "(":
            self._at += 2  # of a function, whose body follows
            self._command(active=False, tested=tested)
        elif active:
            # What is left of && and || may fail, and the script goes on.
            self._run([self._expanded(word) for word in words], tested=tested or self._next[1] in ("&&", "||"))

    def _run(self, words: list[str], *, tested: bool) -> None:
        self._left -= 1
        if self._left < 0:
            raise _EndedError
        self._trace(words)
        if words[0] == "set":
            self._set_options(words[1:])
            return
        if words[0] == "exit":
            self.code = int(words[1]) if len(words) > 1 and words[1].isdecimal() else self.code
            raise _EndedError
        if words[0] in ("[", "test"):
            self.code = int(not _is_met([word for word in words[1:] if word != "]"]))
            return
        if words[0] in ("exec", "export"):
            words = words[1:]
        outside = self._job
        while words and (assignment := _ASSIGNMENT.fullmatch(words[0])):
            self._set(assignment[1], assignment[2])
            words = words[1:]
        done = self._program(words, self._job) if words else Printed()
        if words:
            self._job = outside  # what precedes a command is for it alone
        self.lines += done.lines
        if done.waits:
            self.waits, self.code = True, 0
            raise _EndedError
        if done.steps is not None:
            self.steps, self.code = done.steps, 0
            raise _EndedError  # what comes after a training that takes its time is not looked into
        self.code, self.message = done.exit_code, done.message or self.message
        if self.code and "e" in self._options and not tested:
            raise _EndedError

    def _trace(self, words: Sequence[str]) -> None:
        if "x" in self._options:
            self.lines.append("+ " + " ".join(words))

    def _set_options(self, words: Sequence[str]) -> None:
        for word in words:
            if match := _OPTIONS.fullmatch(word):
                change = self._options.update if match[1] == "-" else self._options.difference_update
                change(match[2])
        self.code = 0

    def _set(self, name: str, value: str) -> None:
        self._job = self._job.having(**{name: value})

    def _expanded(self, word: str) -> str:
        return _VARIABLE.sub(lambda match: self._job.environment.get(match[1] or match[2], match[0]), word)


def _is_met(words: Sequence[str]) -> bool:
    """Return whether a condition of texts holds; those that are not known are equal, and other conditions hold."""
    match words:
        case ["-z", text]:
            return not text
        case ["-n", text]:
            return bool(text)
        case [left, "=" | "==", other]:
            return left == other or "$" in left + other
        case [left, "!=", other]:
            return left != other and "$" not in left + other
        case _:
            return True

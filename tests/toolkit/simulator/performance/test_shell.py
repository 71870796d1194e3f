"""Which programs of a script run."""

from collections.abc import Sequence

import pytest

from toolkit.simulator.performance import shell
from toolkit.simulator.performance.job import Launched, Machine, Worker
from toolkit.simulator.performance.printed import Printed

JOB = Launched(Worker("p", Machine("n")), "image", (), "run", environment={"HOME": "/h"})


def said(words: Sequence[str], job: Launched) -> Printed:
    """Print the words, and A of the environment; `false` fails."""
    shown = f"{'|'.join(words)} {job.environment.get('A', '')}".strip()
    return Printed((shown,), int(words[0] == "false"), "no" if words[0] == "false" else "")


@pytest.mark.parametrize(
    ("script", "lines", "code"),
    [
        ("a 'b c' \"$HOME\" # d; e\nf > /dev/null 2>&1 g", ["a|b c|/h", "f|g"], 0),
        ("false && a; b; false || c", ["false", "b", "false", "c"], 0),
        ("set -e; false || a; ! false; b; false; c", ["false", "a", "false", "b", "false"], 1),
        ("for i in 1 2; do a $i; done; for i in; do b; done", ["a|1", "a|2"], 0),
        ("until a; do b; done; while false; do c; done", ["a", "false"], 0),
        ("if false; then a; elif true; then b; else c; fi", ["false", "true", "b"], 0),
        ("if false; then a; else if true; then b; fi; fi; c", ["false", "true", "b", "c"], 0),
        ("f(){ a; { b; }; }; (c; d) | e; case x in y) g;; esac; h", ["c", "d", "h"], 0),
        ("A=1 a; b; A=2; c; export A=3; d", ["a 1", "b", "c 2", "d 3"], 0),
        ("x=$(a; b 'c') d $(e || f) `g`; exit 4; h", ["d|$(e || f)|`g`"], 4),
        (
            '[ -z "" ] && a; [ -n "" ] || b; [ x = y ] || c; [ "${i:=$j}" != "$j" ] || d; [ -e f ] && e',
            list("abcde"),
            0,
        ),
        ("set -x; a; set +x; b", ["+ a", "a", "+ set +x", "b"], 0),
    ],
)
def test_programs_of_a_script(script: str, lines: list[str], code: int) -> None:
    """A script starts the programs that a shell would start, and ends as it would."""
    ended = shell.run(script, "", JOB, said)
    assert (list(ended.lines), ended.exit_code) == (lines, code)


@pytest.mark.parametrize(
    "script", ["", "'", '"$(', "((((", "if", "for", "for x", "case", "do done fi ) }", "a |", "\\"]
)
def test_half_a_script(script: str) -> None:
    """No script raises."""
    shell.run(script, "ex", JOB, said)
    shell.run(script * 3000, "", JOB, said)


def test_an_until_that_is_not_met_waits() -> None:
    """An `until` that is not met waits: the client does not start before its listener has a name."""
    ended = shell.run("a; until false; do sleep 1; done; b", "ex", JOB, said)
    assert (list(ended.lines), ended.waits) == (["+ a", "a", "+ false", "false"], True)

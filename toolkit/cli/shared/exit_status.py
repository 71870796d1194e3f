"""Exit statuses of commands that judge: 0 to 2 are a judgement, so that there is none needs one of its own."""

import traceback
from typing import Any

import typer
from typer.core import TyperCommand

from toolkit.cli.shared.errors import explain, print_error

UNJUDGED = 3
"""Nothing was judged: wrong options, a cluster that does not answer, files that cannot be read, a fault of hpc."""


class Judging(TyperCommand):
    """A command that ends with UNJUDGED where others end with 1, or with 2 for wrong options."""

    unjudged = UNJUDGED

    def make_context(self, *args: Any, **others: Any) -> Any:
        """Read the command line."""
        try:
            return super().make_context(*args, **others)
        except typer.TyperException as error:
            error.exit_code = self.unjudged
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            message = explain(error)
            if message is None:
                traceback.print_exc()
            else:
                print_error(message)
            raise typer.Exit(self.unjudged) from None

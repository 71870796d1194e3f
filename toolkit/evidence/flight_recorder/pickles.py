"""Reads pickles of plain data alone: a pickle may name any function to be called while it is read."""

import io
import pickle
import pickletools
import re
from typing import Any, NoReturn

LARGEST = 256 << 20
"""Bytes: 2000 operations with their stacks are a megabyte."""
_ALLOWED = re.compile(
    r"PROTO|FRAME|STOP|MARK|POP|POP_MARK|DUP|MEMOIZE|(?:BIN|LONG_BIN)?(?:PUT|GET)|NONE|NEWTRUE|NEWFALSE"
    r"|INT|BININT[12]?|LONG[14]?|FLOAT|BINFLOAT|UNICODE|(?:SHORT_)?BINUNICODE8?|STRING|(?:SHORT_)?BIN(?:STRING|BYTES8?)"
    r"|(?:EMPTY_)?(?:LIST|TUPLE|DICT)|TUPLE[123]|APPENDS?|SETITEMS?"
)
"""Operations that make numbers, text, lists, tuples and dictionaries."""
_MEMO = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})


class UnsafeError(ValueError):
    """A pickle that is damaged, or that is more than plain data."""


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse every class and function."""
        raise UnsafeError(f"it is no plain data: it names {module}.{name}")

    def persistent_load(self, _identity: object) -> NoReturn:
        """Refuse every outside object."""
        raise UnsafeError("it is no plain data: it refers to outside objects")


def load(content: bytes) -> Any:
    """Return the data of a pickle; raise UnsafeError before anything of it is executed."""
    if len(content) > LARGEST:
        raise UnsafeError(f"it has more than {LARGEST >> 20} MiB")
    try:
        for operation, argument, _ in pickletools.genops(content):
            if _ALLOWED.fullmatch(operation.name) is None:
                raise UnsafeError(f"it is no plain data: it has the operation {operation.name}")
            if operation.name in _MEMO and int(argument or 0) > len(content):
                raise UnsafeError("it is damaged: more is remembered than there is")
        return _Plain(io.BytesIO(content)).load()
    except UnsafeError:
        raise
    except Exception as error:  # a damaged pickle raises whatever its bytes lead to
        raise UnsafeError(f"it is damaged or cut: {error}") from None

"""Where the stand-in of the language host differs from the official one on purpose, by case, with the reason."""

_SIGNAL = "the error names the signal that ended the program, where the official one is exit code -1"
_SDK = "the error names the interpreter that has no SDK, and what to do"

DIFFERENCES: dict[str, str] = {
    "keyboard-interrupt": _SIGNAL,
    "killed": _SIGNAL,
    "terminated": _SIGNAL,
    "aborted": _SIGNAL,
    "environment-without-sdk": _SDK,
    "sdk-of-the-path": _SDK,
}

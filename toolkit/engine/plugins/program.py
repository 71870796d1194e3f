"""Runs a Pulumi program in its own interpreter: `python -u program.py PIPE DESCRIPTION PROGRAM [ARGUMENT ...]`.

Started by path by the language host (language.py), possibly with another interpreter than the host's, so it imports
nothing but the standard library and the Pulumi SDK. PIPE is a file descriptor that is closed when the host ends.
DESCRIPTION is JSON: the addresses and the stack. Configuration is in the environment (PULUMI_CONFIG,
PULUMI_CONFIG_SECRET_KEYS), where the SDK looks for it and other users do not see it.
"""

import asyncio
import json
import logging
import os
import runpy
import signal
import sys
import threading
import traceback

# The exit status that means to the host that the error is already in the engine's log.
LOGGED = 32
NO_SDK = (
    "The Pulumi SDK is not installed in {executable}. Install the program's requirements there "
    "(pip install -r requirements.txt), or name the right environment in Pulumi.yaml: runtime.options.virtualenv."
)


def user_traceback(error: BaseException, folder: str) -> str:
    """Return the traceback from the first frame of the program in `folder` on; the whole one where it has none."""
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    first = next((place for place, file in enumerate(files) if file.startswith(folder)), 0)
    # The limit cuts the tracebacks of causes, too: they begin in the program.
    return "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=first - len(files)))


def _exit_with_host(pipe: int) -> None:
    """End when the pipe from the host is closed: the host is gone, nothing waits for this program."""
    while os.read(pipe, 1024):
        pass
    os._exit(1)


def main() -> int:
    """Run the program; the exit status is 0, LOGGED, 1 after a RunError, or what the program itself chose."""
    # The engine interrupts the whole process group at the end; KeyboardInterrupt would print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_exit_with_host, args=(int(sys.argv[1]),), daemon=True).start()
    description, program, arguments = json.loads(sys.argv[2]), sys.argv[3], sys.argv[4:]
    try:
        import pulumi  # noqa: PLC0415 (its absence is to be explained)
        import pulumi.runtime  # noqa: PLC0415
    except ImportError:
        sys.stderr.write(NO_SDK.format(executable=sys.executable) + "\n")
        return 1
    pulumi.runtime.set_all_config(pulumi.runtime.get_config_env(), pulumi.runtime.get_config_secret_keys_env())
    pulumi.runtime.configure(pulumi.runtime.Settings(**description))
    sys.argv = [program, *arguments]
    folder = program if os.path.isdir(program) else os.path.dirname(program)  # noqa: PTH112, PTH120 (starts fast)
    sys.path[0] = folder
    program_folder = os.path.abspath(folder)  # noqa: PTH100 (starts fast)
    # A program that ends early leaves futures behind; asyncio's complaints about them are not the user's problem.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()

    def run() -> None:
        runpy.run_path(program, run_name="__main__")

    asyncio.set_event_loop(loop)
    if os.path.isdir(program) and not os.path.exists(os.path.join(program, "__main__.py")):  # noqa: PTH110, PTH112, PTH118
        pulumi.log.error(f"unable to find main python program `__main__.py` in `{os.path.abspath(program)}`")  # noqa: PTH100
        return LOGGED
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(run))
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return 1
    except SystemExit:
        raise
    except Exception as error:
        pulumi.log.error("Program failed with an unhandled exception:\n" + user_traceback(error, program_folder))
        return LOGGED
    finally:
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

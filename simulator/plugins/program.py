"""Runs a Pulumi program in the program's own interpreter: `python -u program.py DESCRIPTION PROGRAM [ARGUMENT ...]`.

Started by path by the language host (language.py), possibly with another interpreter than the host's, so it imports
nothing but the standard library and the Pulumi SDK. DESCRIPTION is JSON: the addresses and the stack. Configuration is
in the environment (PULUMI_CONFIG, PULUMI_CONFIG_SECRET_KEYS), where the SDK looks for it and other users do not see it.
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

# The exit status that tells the host that the error is already in the engine's log.
LOGGED = 32
# Files whose frames come before the program's in every traceback.
_NOT_THE_PROGRAM = (__file__, "runpy", "/asyncio/", "/pulumi/runtime/")
NO_SDK = (
    "The Pulumi SDK is not installed in {executable}. Install the program's requirements there "
    "(pip install -r requirements.txt), or name the right environment in Pulumi.yaml: runtime.options.virtualenv."
)


def user_traceback(error: BaseException) -> str:
    """Return the traceback from the first frame of the program on."""
    trace = error.__traceback__
    while trace is not None and any(part in trace.tb_frame.f_code.co_filename for part in _NOT_THE_PROGRAM):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))


def _end_with_the_host() -> None:
    """End when standard input, a pipe from the host, is closed: the host is gone, nobody waits for this program."""
    while os.read(0, 1024):
        pass
    os._exit(1)


def main() -> int:
    """Run the program; the exit status is 0, LOGGED, or what the program itself chose."""
    # The engine interrupts the whole process group at the end; KeyboardInterrupt would print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_the_host, daemon=True).start()
    description, program, arguments = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:]
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
    # A program that ends early leaves futures behind; asyncio's complaints about them are not the user's problem.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()

    def run() -> None:
        runpy.run_path(program, run_name="__main__")

    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(run))
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return LOGGED
    except SystemExit:
        raise
    except Exception as error:
        pulumi.log.error("Program failed with an unhandled exception:\n" + user_traceback(error))
        return LOGGED
    finally:
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

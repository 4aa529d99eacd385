"""usage: run.py [WORD...]  runs the tests of the Python package, those with a WORD in their name. After all of them
every function of plaq.capi must have been called."""

import faulthandler
import importlib
import inspect
import sys
import time
import traceback
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))

from plaq import capi  # noqa: E402

SECONDS = 300  # of a test, after which the run ends
called = set()


def counted(name, function):
    def wrapper(*arguments, **more):
        called.add(name)
        return function(*arguments, **more)

    wrapper.__doc__ = function.__doc__
    return wrapper


functions = [name for name, value in vars(capi).items() if inspect.isfunction(value) and name.startswith("plaq_")]
for name in functions:
    setattr(capi, name, counted(name, getattr(capi, name)))


def every_function_was_called():
    missing = sorted(set(functions) - called)
    assert len(functions) > 150 and not missing, f"never called: {', '.join(missing)}"


def main(words):
    passed = failed = ignored = 0
    tests = []
    for file in sorted(here.glob("test_*.py")):
        module = importlib.import_module(file.stem)
        for name, value in vars(module).items():
            if name.startswith("test_") and inspect.isfunction(value):
                tests.append((f"{file.stem[5:]}::{name[5:]}", value))
    if words:
        tests = [(name, test) for name, test in tests if any(word in name for word in words)]
    else:
        tests.append(("every_function_was_called", every_function_was_called))
    for name, test in tests:
        begin = time.perf_counter()
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            test()
        except ModuleNotFoundError as error:
            print(f"test {name} ... ignored, {error}")
            ignored += 1
        except Exception:
            print(f"test {name} ... FAILED")
            traceback.print_exc(file=sys.stdout)
            failed += 1
        else:
            print(f"test {name} ... ok ({time.perf_counter() - begin:.1f} s)")
            passed += 1
        sys.stdout.flush()
    print(f"test result: {passed} passed; {failed} failed; {ignored} ignored;")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

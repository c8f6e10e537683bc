"""Jobs that the tests give to other processes.

They are not in a test's module: pytest names such a module after the folder of the checkout, where
no process finds it.
"""

import os
import time
from fractions import Fraction
from pathlib import Path

from ithaca.files.errors import InputError
from ithaca.solver.progress import Progress


def double(number, options, report):
    report(Progress(Fraction(number), None, number, 0.0))
    time.sleep(0.3)  # so that what is reported is read before the outcome is
    return 2 * number


def refuse(text, options, report):
    raise InputError(text)


def die(options, report):
    os._exit(1)


def until_stopped(begun, options, report):
    Path(begun).touch()
    while options.stop is None or not options.stop():
        time.sleep(0.01)
    return "what it has"


def linger(seconds, options, report):
    time.sleep(seconds)
    return seconds


def report_process(path, options, report):
    Path(path).write_text(str(os.getpid()))


class Deadly:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (1,)


class Loaded:
    """Writes down each time that it is unpickled; has no opinion on what it equals."""

    def __init__(self, path):
        self.path = path

    def __eq__(self, other):
        raise ValueError

    def __reduce__(self):
        return load, (self.path,)


def load(path):
    with Path(path).open("a") as file:
        file.write(".")
    return Loaded(path)


def loaded_in(number, common, options, report):
    return number, common.path

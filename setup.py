"""The packages follow from the tree: the root is `ithaca`, every folder below it with an
`__init__.py` a part.

Where the tree itself is installed (``pip install -e .``), the package is its link in ``.typing``:
a folder with the package in it is all that type checkers need to find its types.
"""

import sys
from pathlib import Path

from setuptools import find_packages, setup

OUTSIDE = ("tests", "tests.*", "benchmarks", "benchmarks.*", "docs", "docs.*")

LINK = Path(__file__).parent / ".typing"
LINKED = "editable_wheel" in sys.argv and (LINK / "ithaca" / "cli.py").is_file()

# named, the script itself is left out of the package, in whose folder it lies
setup(
    script_name="setup.py",
    packages=["ithaca", *(f"ithaca.{name}" for name in find_packages(exclude=OUTSIDE))],
    package_dir={"": LINK.name} if LINKED else {"ithaca": "."},
)

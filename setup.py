"""The packages follow from the tree: the root is `ithaca`, every folder below it with an
`__init__.py` a part."""

from setuptools import find_packages, setup

OUTSIDE = ("tests", "tests.*", "benchmarks", "benchmarks.*", "docs", "docs.*")

# named, the script itself is left out of the package, in whose folder it lies
setup(
    script_name="setup.py",
    packages=["ithaca", *(f"ithaca.{name}" for name in find_packages(exclude=OUTSIDE))],
)

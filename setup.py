"""The packages of the wheel follow from the tree: the root is the package `ithaca`, every folder with an `__init__.py` below it a part."""

from setuptools import find_packages, setup

OUTSIDE = ("tests", "tests.*", "benchmarks", "benchmarks.*", "docs", "docs.*")

setup(packages=["ithaca", *(f"ithaca.{name}" for name in find_packages(exclude=OUTSIDE))])

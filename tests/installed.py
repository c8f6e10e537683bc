"""Tests of plug-ins that may be deleted."""

import pytest

from ithaca.files.plugin import plugins
from ithaca.solver.engines import ENGINES


def needs(*names):
    """Skips a test of the core, or a case of it, without plug-ins that it uses, too."""
    missing = [name for name in names if name not in plugins()]
    return pytest.mark.skipif(bool(missing), reason=f"no plug-in {', '.join(missing)}")


def installed_engines(*names):
    """Engines by name, but those of deleted plug-ins."""
    return [ENGINES[name] for name in names if name in ENGINES]

"""The toy family is installed for tools that search every family."""

from __future__ import annotations

from tests.families.conftest import _installed as _installed

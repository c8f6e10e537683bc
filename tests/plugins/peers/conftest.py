"""The toy family is installed for tools that search every family."""

from tests.families.conftest import _installed as _installed

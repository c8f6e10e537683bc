"""The toy is one of the registry here, as far as its words go."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from ithaca.formulations.families import FAMILIES
from tests.studies.codesign.toy import ToyProfile


@pytest.fixture(autouse=True, scope="module")
def _registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FAMILIES, "toy", SimpleNamespace(profile=ToyProfile))
        yield

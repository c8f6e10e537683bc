"""The toy family is one of the registry here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ithaca.formulations.families import FAMILIES, QUESTION_KINDS, QUESTIONS
from tests.families.fir import KIND, FirFamily, FirQuestion


@pytest.fixture(autouse=True, scope="module")
def _registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FAMILIES, "fir", FirFamily())
        patch.setitem(QUESTIONS, "fir", FirQuestion)
        patch.setitem(QUESTION_KINDS, "fir", KIND)
        yield

"""The toy family is installed here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ithaca.files.plugin import plugins
from tests.families.stranger import install


@pytest.fixture(autouse=True, scope="module")
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("site")
    install(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        plugins.cache_clear()
        yield
    plugins.cache_clear()

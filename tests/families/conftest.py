"""The toy family is installed here."""

import pytest

from ithaca.files.plugin import plugins
from tests.families.stranger import install


@pytest.fixture(autouse=True, scope="module")
def _installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    install(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        plugins.cache_clear()
        yield
    plugins.cache_clear()

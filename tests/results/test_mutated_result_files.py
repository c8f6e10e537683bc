"""Result files that were mutated: whatever they hold, they load and agree with the model, or are
refused in one line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.results.files import load_result
from tests.refusals import MISSING, edited
from tests.results.test_result_files import DOCUMENT, TEXT, write


def places(value, steps=()):
    """Paths to everything inside a document."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        found for key, child in items for found in ((*steps, key), *places(child, (*steps, key)))
    ]


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=200)
@given(steps=st.sampled_from(places(DOCUMENT)), value=ANYTHING, remove=st.booleans())
def test_mutated_documents_load_or_are_refused(tmp_path, steps, value, remove):
    document = edited(DOCUMENT, steps, MISSING if remove else value)
    check_loads_or_is_refused(write(tmp_path / "fuzz.json", document))


@pytest.mark.ci
@given(
    start=st.integers(0, len(TEXT)),
    length=st.integers(0, 60),
    inserted=st.text(max_size=10) | st.integers().map(str),
)
def test_mutated_texts_load_or_are_refused(tmp_path, start, length, inserted):
    path = tmp_path / "fuzz.json"
    path.write_bytes(
        (TEXT[:start] + inserted + TEXT[start + length :]).encode("utf-8", "surrogatepass")
    )
    check_loads_or_is_refused(path)


def check_loads_or_is_refused(path):
    """Check that any file gives a result that agrees with the model, or one line."""
    try:
        loaded = load_result(path)
    except InputError as refused:
        message = str(refused)
    else:
        message = loaded.platform_name.encode("unicode_escape").decode()
        assert loaded.best is None or loaded.best.configuration is not None
    assert message.isprintable()

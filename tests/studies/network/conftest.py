"""The results of the tiny network, solved once for all tests that read or edit them."""

import json

import pytest

from tests.command_line import succeed
from tests.studies.network.tiny import QUICK, tiny_file


@pytest.fixture(scope="session")
def solved(tmp_path_factory):
    """Writes the result of the tiny network, solved in some mode, and edited."""
    folder = tmp_path_factory.mktemp("results")
    network, known = tiny_file(folder), {}

    def write(*words, edit=lambda document: None):
        if words not in known:
            limits = () if "--limit" in words else QUICK[2:]
            done = succeed("network", network, *QUICK[:2], *limits, *words, "--json")
            known[words] = done.stdout
        document = json.loads(known[words])
        edit(document)
        (path := folder / "edited.json").write_text(json.dumps(document))
        return path

    return write

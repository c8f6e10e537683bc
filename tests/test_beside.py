"""Files that others name: within the folder of the file on the command line, or one of
``--include-from``."""

import pytest

import ithaca
from ithaca.files.beside import beside
from ithaca.files.errors import InputError
from ithaca.files.inclusions import including

OUTSIDE = "which is outside of .*; allowed: files inside, or of folders that (--include-from|include_from) names"


def test_a_file_names_none_outside_of_its_folder(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "out.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "out.txt")
    own = folder / "own.yaml"
    assert beside(own, "in.txt") == (folder / "in.txt").resolve()
    for name in ("../out.txt", str(tmp_path / "out.txt"), "link.txt"):
        with pytest.raises(InputError, match=OUTSIDE):
            beside(own, name)
    with including(tmp_path):
        assert beside(own, "../out.txt") == (tmp_path / "out.txt").resolve()


@pytest.mark.parametrize(
    ("command", "text", "allowed"),
    [
        (
            "unroll",
            "OnnxModel: NAME\nHLSConfig: {Model: {ReuseFactor: 2}}\n",
            "allowed: one in the folder",
        ),
        (
            "codesign",
            "name: s\narchitecture: NAME\nquantities: {n: [1]}\nfigures: {rf.words: n}\n",
            OUTSIDE,
        ),
    ],
    ids=["unroll", "codesign"],
)
@pytest.mark.parametrize("name", ["/etc/hostname", "../out.txt"], ids=["absolute", "above"])
def test_strangers_files_read_no_others(command, text, allowed, name, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "out.txt").write_text("secret")
    path = tmp_path / "folder" / "own.yaml"
    path.write_text(text.replace("NAME", name))
    ask = {
        "codesign": lambda: ithaca.codesign(path, "alexnet"),
        "unroll": lambda: ithaca.unroll(path),
    }
    with pytest.raises(InputError, match=allowed) as refused:
        ask[command]()
    assert "secret" not in str(refused.value)

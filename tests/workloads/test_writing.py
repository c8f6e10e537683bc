"""Files are written whole or not at all.

The tests may run as root, whom permissions do not stop: failures are simulated in the calls
that would report them.
"""

import errno
import os
import stat
from pathlib import Path

import pytest

from ithaca.files import staging
from ithaca.files.errors import InputError
from ithaca.files.writing import write_folder, write_text_atomically

FILES = {"one.txt": "1\n", "two.sh": "#!/bin/sh\n", "three.txt": "3\n"}


def content(folder):
    return {
        str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def fail_at(monkeypatch, owner, name, call, error):
    """Let the call of a function raise; calls count from 1, other calls go through."""
    real, count = getattr(owner, name), [0]

    def wrapped(*arguments, **keywords):
        count[0] += 1
        if count[0] == call:
            raise error
        return real(*arguments, **keywords)

    monkeypatch.setattr(owner, name, wrapped)


FULL = OSError(errno.ENOSPC, "No space left on device")
READ_ONLY = OSError(errno.EROFS, "Read-only file system")


class TestOneFile:
    def test_writes_and_replaces(self, tmp_path):
        path = tmp_path / "result.json"
        write_text_atomically(path, "old é\n")
        write_text_atomically(str(path), "new é\n")
        assert path.read_bytes() == "new é\n".encode()
        assert content(tmp_path) == {"result.json": "new é\n"}

    @pytest.mark.parametrize("error", [FULL, READ_ONLY], ids=lambda e: e.strerror)
    @pytest.mark.parametrize(("owner", "name"), [(os, "fsync"), (os, "open"), (Path, "replace")])
    def test_a_failure_keeps_the_old_file(self, owner, name, error, tmp_path, monkeypatch):
        path = tmp_path / "result.json"
        path.write_text("old")
        fail_at(monkeypatch, owner, name, 1, error)
        with pytest.raises(InputError) as caught:
            write_text_atomically(path, "new")
        assert str(caught.value) == f"cannot write {path}: {error.strerror}"
        assert content(tmp_path) == {"result.json": "old"}

    @pytest.mark.parametrize(("owner", "name"), [(os, "fsync"), (Path, "replace")])
    def test_ctrl_c_leaves_no_temporary_file(self, owner, name, tmp_path, monkeypatch):
        fail_at(monkeypatch, owner, name, 1, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            write_text_atomically(tmp_path / "result.json", "new")
        assert content(tmp_path) == {}

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            (".", "it is a directory; give the name of a file"),
            ("missing/result.json", "is not an existing folder"),
            ("file/result.json", "is not an existing folder"),
            ("x" * 300, "File name too long"),
            ("null\0byte", "null"),
        ],
    )
    def test_impossible_paths(self, name, reason, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError, match="cannot write") as caught:
            write_text_atomically(f"{tmp_path}/{name}", "new")
        assert reason in str(caught.value)
        assert "\n" not in str(caught.value)
        assert content(tmp_path) == {"file": ""}

    def test_text_that_is_no_unicode(self, tmp_path):
        with pytest.raises(InputError, match="cannot write"):
            write_text_atomically(tmp_path / "result.json", "\ud800")
        assert content(tmp_path) == {}

    def test_links_are_followed_and_permissions_kept(self, tmp_path):
        path, link = tmp_path / "result.json", tmp_path / "link"
        path.write_text("old")
        path.chmod(0o640)
        link.symlink_to(path)
        write_text_atomically(link, "new")
        assert link.is_symlink()
        assert path.read_text() == "new"
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_a_loop_of_links_is_refused(self, tmp_path):
        (tmp_path / "a").symlink_to(tmp_path / "b")
        (tmp_path / "b").symlink_to(tmp_path / "a")
        with pytest.raises(InputError, match="cannot write"):
            write_text_atomically(tmp_path / "a" / "result.json", "new")

    def test_devices_are_written_in_place(self):
        write_text_atomically("/dev/null", "new")
        assert Path("/dev/null").is_char_device()

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
    def test_a_full_device(self):
        with pytest.raises(InputError, match="cannot write /dev/full: No space left on device"):
            write_text_atomically("/dev/full", "new")


class TestFolder:
    def test_new_folder(self, tmp_path):
        write_folder(tmp_path / "out", FILES)
        assert content(tmp_path / "out") == FILES
        assert os.access(tmp_path / "out" / "two.sh", os.X_OK)
        assert not stat.S_IMODE((tmp_path / "out" / "one.txt").stat().st_mode) & 0o111
        assert [p.name for p in tmp_path.iterdir()] == ["out"]

    def test_existing_folder_keeps_other_files(self, tmp_path):
        (tmp_path / "one.txt").write_text("old")
        (tmp_path / "other.txt").write_text("other")
        write_folder(tmp_path, FILES)
        write_folder(str(tmp_path), FILES)
        assert content(tmp_path) == {**FILES, "other.txt": "other"}

    @pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()], ids=["full", "ctrl-c"])
    @pytest.mark.parametrize(
        ("owner", "name", "call"), [(os, "fsync", 2), (os, "open", 3), (Path, "rename", 1)]
    )
    def test_a_new_folder_is_whole_or_absent(self, owner, name, call, error, tmp_path, monkeypatch):
        fail_at(monkeypatch, owner, name, call, error)
        with pytest.raises(InputError if error is FULL else KeyboardInterrupt):
            write_folder(tmp_path / "out", FILES)
        monkeypatch.undo()
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()], ids=["full", "ctrl-c"])
    @pytest.mark.parametrize(
        ("owner", "name", "call"),
        [
            (os, "fsync", 2),
            (Path, "rename", 1),
            (Path, "rename", 2),
            *((Path, "replace", n) for n in (1, 2, 3)),
        ],
    )
    def test_an_existing_folder_is_put_back(self, owner, name, call, error, tmp_path, monkeypatch):
        before = {"one.txt": "old", "other.txt": "other"}
        for file, text in before.items():
            (tmp_path / file).write_text(text)
        monkeypatch.chdir(tmp_path)  # so that it is not exchanged as a whole
        fail_at(monkeypatch, owner, name, call, error)
        with pytest.raises(InputError if error is FULL else KeyboardInterrupt):
            write_folder(tmp_path, FILES)
        monkeypatch.undo()
        assert content(tmp_path) == before
        assert not [p for p in tmp_path.iterdir() if p.is_dir()]

    def test_ctrl_c_in_the_exchange_leaves_the_old_folder(self, tmp_path, monkeypatch):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "one.txt").write_text("old")
        fail_at(monkeypatch, staging, "_rename_exchange", 1, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            write_folder(tmp_path / "out", FILES)
        assert content(tmp_path) == {"out/one.txt": "old"}
        assert [p.name for p in tmp_path.iterdir()] == ["out"]

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("file", "it is a file; give the name of a folder"),
            ("file/out", "is not an existing folder"),
            ("missing/out", "is not an existing folder"),
            ("taken", "one.txt in it is a directory"),
        ],
    )
    def test_impossible_folders(self, name, reason, tmp_path):
        (tmp_path / "file").write_text("")
        (tmp_path / "taken" / "one.txt").mkdir(parents=True)
        with pytest.raises(InputError, match="cannot write") as caught:
            write_folder(tmp_path / name, FILES)
        assert reason in str(caught.value)
        assert content(tmp_path) == {"file": ""}

    def test_a_read_only_place(self, tmp_path, monkeypatch):
        fail_at(monkeypatch, Path, "mkdir", 1, OSError(errno.EACCES, "Permission denied"))
        with pytest.raises(InputError, match=r"cannot write .*: Permission denied"):
            write_folder(tmp_path / "out", FILES)

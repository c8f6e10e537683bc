"""Memory of freed arrays."""

import ctypes
import platform

from ithaca.solver.exact.freed_memory import keep_freed_memory


def test_the_c_library_keeps_memory_where_it_can(monkeypatch):
    if platform.libc_ver()[0] == "glibc":
        assert keep_freed_memory()

    def none(name):
        raise OSError

    for library in (none, lambda name: object()):
        monkeypatch.setattr(ctypes, "CDLL", library)
        assert not keep_freed_memory()

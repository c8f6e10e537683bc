"""Memory of arrays that were freed, kept for the next ones."""

from __future__ import annotations

import ctypes

#: Numbers of the parameters in `mallopt` of the GNU C library, and their values (bytes). Smaller
#: blocks do not come from the system each for itself, and as much that is free at the end of its
#: memory does not go back. Versions that refuse the first are left as they are.
PARAMETERS = {-3: 1 << 30, -1: 1 << 30}


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory, where it can; says whether it does.

    Searches of wide tables make and drop arrays of megabytes by the thousand. Fetched from the
    system each time, every page of them is a fault.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return False
    return all(mallopt(number, value) == 1 for number, value in PARAMETERS.items())

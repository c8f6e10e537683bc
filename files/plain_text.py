"""Characters that an output cannot encode, as others that say the same."""

from __future__ import annotations

import codecs
from typing import TextIO
from unicodedata import combining, normalize

#: The name of the error handler.
PLAIN = "ithaca.plain"

_WRITTEN_AS = str.maketrans(
    {
        "×": "x",
        "·": "*",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "≈": "~",
        "±": "+-",
        "−": "-",
        "–": "-",
        "—": "-",
        "…": "...",
        "→": "->",
        "←": "<-",
        "µ": "u",
        "μ": "u",
        "Δ": "delta",
        "Σ": "sum",
        "∞": "inf",
        "⌈": "ceil(",
        "⌉": ")",
        "•": "*",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
    }
)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Characters that the encoding of an output has, in place of those that it has not."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = normalize("NFKD", error.object[error.start : error.end].translate(_WRITTEN_AS))
    plain = "".join(c if c.isascii() else "?" for c in text if not combining(c))
    return plain, error.end


def degrade(stream: TextIO) -> None:
    """Have a stream write what its encoding cannot say as characters that it can."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=PLAIN)


codecs.register_error(PLAIN, _plain)

"""Files that other files name: those of strangers name none outside of their own folder."""

from pathlib import Path

from ithaca.files.inclusions import INCLUDED
from ithaca.files.messages import quoted, refuse


def inside(path: Path, name: str) -> Path | None:
    """A file that another one names; None if it is neither within that one's folder, nor within one
    of ``--include-from``."""
    allowed = (
        path.resolve().parent,
        *(each for each in INCLUDED.get() if isinstance(each, Path)),
    )
    every = [(each / name).resolve() for each in allowed]
    places = [place for place in every if any(map(place.is_relative_to, allowed))]
    return next((place for place in places if _exists(place)), next(iter(places), None))


def beside(path: Path, name: str) -> Path:
    """A file that another one names, within that one's folder or one of ``--include-from``.

    Raises `InputError` if it is outside of these, or no file can have its name.
    """
    if "\0" in name:
        raise refuse(path, f"names {quoted(name)}; allowed: names of files")
    place = inside(path, name)
    if place is None:
        raise refuse(
            path,
            f"names {quoted(name)}, which is outside of {path.resolve().parent}; allowed: files "
            "inside, or of folders that --include-from names",
        )
    return place


def _exists(place: Path) -> bool:
    """Whether there is a file, which there is none of where its name is too long."""
    try:
        return place.exists()
    except OSError:
        return False

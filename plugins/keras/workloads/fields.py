"""Fields of a Keras layer's configuration, checked as they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted

#: Extents of a tensor, its batch first.
Shape = tuple[int, ...]

#: Largest number that a configuration may state, and largest extent of a tensor.
LARGEST = 1 << 40

#: Most dimensions of a tensor.
MOST_DIMENSIONS = 32

#: Longest name of a layer, a class or a choice (characters): each is written for every call.
LONGEST = 1000

#: What lines say of longer ones.
TEXT = f"text of at most {LONGEST} characters"


@dataclass(frozen=True, slots=True)
class Fields:
    """The configuration of a layer."""

    values: Mapping[str, Any]

    def number(self, name: str, default: int | None = None, least: int = 1) -> int:
        """An integer, or its default value where none is stated.

        Parameters
        ----------
        name : str
            Name of the field.
        default : int, optional
            What stands for it where it is missing or null; None: it must be there.
        least : int, optional
            The least integer that is allowed.
        """
        value = self.values.get(name)
        return whole(default if value is None else value, name, least)

    def each(
        self, name: str, dimensions: int, default: int | Sequence[int], least: int = 1
    ) -> list[int]:
        """An integer for each dimension; one stands for all.

        Parameters
        ----------
        name : str
            Name of the field.
        dimensions : int
            How many there are.
        default : int or sequence of int
            What stands for it where it is missing or null.
        least : int, optional
            The least integer that is allowed.
        """
        value = self.values.get(name)
        value = default if value is None else value
        several = value if isinstance(value, list | tuple) else [value] * dimensions
        if len(several) != dimensions:
            raise InputError(f"{name} is {quoted(value)}; allowed: {dimensions} integers")
        return [whole(each, name, least) for each in several]

    def text(self, name: str, default: str, allowed: Sequence[str] = ()) -> str:
        """A word in lower case, or its default value where none is stated.

        Parameters
        ----------
        name : str
            Name of the field.
        default : str
            What stands for it where it is missing or null.
        allowed : sequence of str, optional
            Words that it may be; any by default.
        """
        value = self.values.get(name)
        word = default if value is None else value
        if (
            not isinstance(word, str)
            or len(word) > LONGEST
            or (allowed and word.lower() not in allowed)
        ):
            raise InputError(f"{name} is {quoted(word)}; allowed: {', '.join(allowed) or TEXT}")
        return word.lower()

    def flag(self, name: str, default: bool = False) -> bool:
        """Whether something is so."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise InputError(f"{name} is {quoted(value)}; allowed: true or false")
        return default if value is None else value

    def inside(self, name: str) -> tuple[str, Fields]:
        """The class and the configuration of a layer within this one."""
        value = self.values.get(name)
        return parts(value, name)

    @property
    def first(self) -> bool:
        """Whether channels stand before the dimensions of a map."""
        orders = ("channels_last", "channels_first")
        return self.text("data_format", orders[0], orders) == orders[1]


def whole(value: object, name: str, least: int) -> int:
    """An integer of a configuration.

    Parameters
    ----------
    value : object
        What the configuration states.
    name : str
        Name of the field.
    least : int
        The least integer that is allowed.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        raise InputError(
            f"{name} is {quoted(value)}; allowed: an integer from {least} to {LARGEST}"
        )
    return value


def bounded(shape: Sequence[object], what: str) -> None:
    """Refuse a shape of more dimensions, or of larger extents, than tensors have.

    Parameters
    ----------
    shape : sequence
        Its extents; what is no integer is not looked at.
    what : str
        What has it, as the error line calls it.
    """
    if len(shape) > MOST_DIMENSIONS:
        raise InputError(f"{what} has {len(shape)} dimensions; allowed: at most {MOST_DIMENSIONS}")
    for extent in shape:
        if isinstance(extent, int) and extent > LARGEST:
            raise InputError(
                f"{what} has an extent of {quoted(extent)}; allowed: at most {LARGEST}"
            )


def parts(value: object, name: str) -> tuple[str, Fields]:
    """The class and the configuration that an entry states."""
    if isinstance(value, dict):
        kind, config = value.get("class_name"), value.get("config")
        if isinstance(kind, str) and isinstance(config, dict):
            if len(kind) > LONGEST:
                raise InputError(f"{name}: class_name is {quoted(kind)}; allowed: {TEXT}")
            return kind, Fields(config)
    raise InputError(f"{name} is {quoted(value)}; allowed: class_name and config")

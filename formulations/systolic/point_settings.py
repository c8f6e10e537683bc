"""The words and the technology of points: what options ask for, and what columns state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.reading import parse_json
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.data_models import built
from ithaca.formulations.data_types import DataType, data_type
from ithaca.formulations.machine import Machine
from ithaca.formulations.platform import Platform
from ithaca.formulations.systolic.ports import MemoryPorts, with_channels
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.technology import Technology


@dataclass(frozen=True, slots=True)
class PointSetting:
    """The words and the technology of points, unless columns state them."""

    data: DataType | None
    machine: Machine | None
    platform: Platform | None

    def words(self, row: Mapping[str, str]) -> DataType:
        """The data type of a row. Raises `InputError` if a column contradicts what is given."""
        text = row.get("dtype", "").strip()
        if not text:
            return self.data or data_type("fp32")
        read = data_type(text)
        if self.data is not None and read.published != self.data.published:
            raise InputError(
                f"dtype is {quoted(text)}; allowed: {self.data.name}, the data type asked for"
            )
        return read

    def technology(
        self, row: Mapping[str, str], data: DataType, array: SystolicArray, ports: Mapping[str, int]
    ) -> tuple[Technology, MemoryPorts | None]:
        """The technology of a row but for its machine, and the ports that the memory has.

        Parameters
        ----------
        row : mapping of str to str
            Cells by column.
        data : DataType
            The data type of the row.
        array : SystolicArray
            The array.
        ports : mapping of str to int
            Memory ports by I/O group, where the row states any.

        Raises
        ------
        InputError
            If a column contradicts the platform, which has too few channels, say.
        """
        text = row.get("technology", "").strip()
        device, memory = self.platform, None
        own = data.energies() if device is None else data.on(device)
        if ports:
            others = [m for g, m in array.modules if m.dram and g.name not in ports]
            memory = MemoryPorts(max(ports.values()), sum(ports.values()) + len(others))
        if memory is not None and device is not None:
            has = 0 if device.memory is None else device.memory.channels
            if has < memory.most:
                raise InputError(
                    f"ports are {memory.most} of a tensor; allowed: up to {has}, the memory "
                    f"channels of platform {device.name}"
                )
            memory = replace(memory, channels=has)
            own = with_channels(own, device, memory)
        if not text:
            return own, memory
        read = read_technology(parse_json(text, "technology"), data.energies())
        if device is not None and technology_text(read, own):
            raise InputError(
                f"technology is not that of platform {device.name}; allowed: without --platform"
            )
        return read, memory


def read_technology(document: Any, usual: Technology) -> Technology:
    """A technology that a document states, where it is not as usual.

    Raises `InputError` if it is none.
    """
    from ithaca.formulations.systolic.documents import TechnologyDocument

    read = validated(TechnologyDocument, document, "technology")
    stated = built(Technology, read)
    names = (name.rstrip("_") for name in read.model_fields_set)  # a model has a `register`
    return replace(usual, **{name: getattr(stated, name) for name in names})


def technology_text(technology: Technology, usual: Technology) -> str:
    """The unusual settings of a technology as text, but for those with columns of their own; empty
    where there are none."""
    from ithaca.formulations.systolic.documents import TechnologyDocument

    other = {
        field.name: getattr(technology, field.name)
        for field in fields(Technology)
        if field.name not in ("machine", "uram")
        and getattr(technology, field.name) != getattr(usual, field.name)
    }
    if not other:
        return ""
    document = TechnologyDocument.model_validate(other, from_attributes=True)
    stated = document.model_dump(mode="json", by_alias=True)
    return json.dumps({name: value for name, value in stated.items() if name in other})

"""Fields that configurations share; unknown ones are those of training and of other tools."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from ithaca.files.documents import InputDocument
from ithaca.workloads.nest import MAX_EXTENT

#: An extent of a loop, or a factor of one.
Size = Annotated[int, Field(ge=1, le=MAX_EXTENT)]

#: Layers of a model.
Layers = Annotated[int, Field(ge=1, le=1000)]

#: Experts of a layer; of more the exact shares of `--experts skewed` take long.
Experts = Annotated[int, Field(ge=1, le=4096)]

#: A choice that may be left to the kind of model.
Flag = bool | None


class Configuration(InputDocument):
    """A configuration as model hubs keep it (``config.json``)."""

    model_config = ConfigDict(extra="ignore", protected_namespaces=())

    model_type: str
    """The kind of model."""

"""Services of later layers that earlier ones call, such as drawing their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

find: Callable[[str], Any]
"""Finds it by its name: the package, which joins the layers, says how."""

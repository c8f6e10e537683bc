"""Seeds for OpenTuner (https://opentuner.org): configuration files.

``--seed-configuration`` takes a JSON file that holds one configuration, and may be given several
times; hence a folder with one file per seed, named in order::

    python tuner.py $(printf -- '--seed-configuration=%s ' seeds/seed-*.json)

In a program, let ``MeasurementInterface.seed_configurations`` return ``ithaca.seed(result,
"opentuner")``, or `opentuner_seeds` of a file's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ithaca.files.extras import peer
from ithaca.plugins.seeds.exports.parameters import ParameterSpace, Seeds


def opentuner_files(seeds: Seeds) -> dict[str, str]:
    """The folder: one configuration per file."""
    width = len(str(len(seeds.configurations)))
    numbered = enumerate(seeds.parameters, start=1)
    return {
        f"seed-{number:0{width}}.json": json.dumps(seed, indent=2) + "\n"
        for number, seed in numbered
    }


def opentuner_seeds(parameters: Iterable[Mapping[str, int]]) -> list[dict[str, int]]:
    """Seeds for ``seed_configurations``, last first: OpenTuner takes them from the end."""
    return [dict(seed) for seed in parameters][::-1]


def opentuner_manipulator(space: ParameterSpace) -> Any:
    """The parameters as OpenTuner's. Raises `InputError` if OpenTuner is not installed."""
    search = peer("opentuner.search.manipulator")
    manipulator = search.ConfigurationManipulator()
    for p in space.parameters:
        manipulator.add_parameter(search.IntegerParameter(p.name, p.low, p.high))
    return manipulator

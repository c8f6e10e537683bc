"""Facts about the modes of networks whose layers share arrays, apart from their searches."""

from ithaca.studies.network.result import ArrayMode

SHARED = ArrayMode(False, ("arrays", "hardware on which every layer was solved"))
MULTI = ArrayMode(True, ("plans", "ways to cut the layers and share the budget"))

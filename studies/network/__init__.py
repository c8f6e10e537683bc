"""Networks: every layer solved, each for itself or on arrays they share.

Each layer under each design is a problem of its own (`problems`), solved here or on a cluster and
kept as it is found (`runner`). A mode (`modes`) says which problems to pose and what follows from
their answers; all modes give a `NetworkResult` (`result`), which is one JSON document (`documents`)
and one table (`table`).
"""

"""Start populations: diverse, feasible configurations in the formats of other search tools.

Every tool sees the same integer parameters (`parameters`), the same exact score (`scoring`) and the
same seeds (`diverse`); a module ``for_<tool>`` makes them that tool's objects, or a file in its
format. No tool needs to be installed to write a file for it.
"""

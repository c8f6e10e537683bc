"""Start populations: diverse, feasible configurations in the formats of other search tools.

Every tool sees the same integer parameters (`parameters`), the same exact score (`scoring`) and the
same seeds (`diverse`); a module ``for_<tool>`` writes them in that tool's format and holds the one
call that hands them over. No tool needs to be installed to write a file for it.
"""

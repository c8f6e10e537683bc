"""Edition `dmazerunner`: the model of Dave et al., "dMazeRunner" (TECS 2019), as it was published,
and proofs by it."""

"""Edition `dmazerunner`: the published model of Dave et al. (TECS 2019), and proofs by it."""

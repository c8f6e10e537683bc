"""Models of sequences without attention (Mamba, Mamba 2)."""

from __future__ import annotations

from ithaca.files.errors import InputError
from ithaca.plugins.hub.workloads.fields import Configuration, Flag, Layers, Size
from ithaca.plugins.hub.workloads.parts import (
    GATE,
    MAP,
    NORM,
    Block,
    Convolution,
    Elementwise,
    Matrix,
    Model,
    vocabulary,
)
from ithaca.plugins.hub.workloads.phases import Phase


class MambaConfiguration(Configuration):
    """The configuration of Mamba."""

    hidden_size: Size
    num_hidden_layers: Layers
    state_size: Size
    conv_kernel: Size
    expand: Size
    time_step_rank: Size
    vocab_size: Size
    tie_word_embeddings: Flag = None


def mamba(c: MambaConfiguration, phase: Phase) -> Model:
    """Mamba: its matrices and short convolutions; the scan is element by element."""
    width, rows = c.hidden_size, phase.rows
    inner, runs = c.expand * width, ((rows, 1),)
    size = (1, phase.tokens)
    parts = (
        Matrix("in", 2 * inner, width, runs),
        Convolution("conv", inner, inner, (1, c.conv_kernel), size, phase.batch, depthwise=True),
        Matrix("x", c.time_step_rank + 2 * c.state_size, inner, runs),
        Matrix("dt", inner, c.time_step_rank, runs, bias=True),
        Matrix("out", width, inner, runs),
    )
    vectors = inner * (c.state_size + 1) + width
    shape = (phase.batch, phase.tokens, inner)
    own = (
        Elementwise("SiLU", MAP, shape, 2),
        Elementwise("Softplus", MAP, shape),
        Elementwise("Scan", GATE, (phase.batch, phase.tokens, inner * c.state_size)),
        Elementwise("Mul", GATE, shape),
        Elementwise("RMSNorm", NORM, (phase.batch, phase.tokens, width)),
        Elementwise("Add", GATE, (phase.batch, phase.tokens, width)),
    )
    norm = Elementwise("RMSNorm", NORM, (phase.batch, 1, width))
    state = phase.batch * inner * (c.state_size + c.conv_kernel)
    return Model(
        (
            Block("layer", c.num_hidden_layers, parts, vectors, own),
            vocabulary(c.vocab_size, norm, tied=c.tie_word_embeddings is not False),
        ),
        c.vocab_size * width,
        c.num_hidden_layers * state,
    )


class Mamba2Configuration(Configuration):
    """The configuration of Mamba 2."""

    hidden_size: Size
    num_hidden_layers: Layers
    state_size: Size
    conv_kernel: Size
    expand: Size
    num_heads: Size
    head_dim: Size
    n_groups: Size
    vocab_size: Size
    tie_word_embeddings: Flag = None


def mamba2(c: Mamba2Configuration, phase: Phase) -> Model:
    """Mamba 2: its matrices and short convolutions; the scan is element by element."""
    width, runs = c.hidden_size, ((phase.rows, 1),)
    inner, states = c.expand * width, c.n_groups * c.state_size
    if c.num_heads * c.head_dim != inner:
        raise InputError(
            f"num_heads is {c.num_heads}, of {c.head_dim} words each; allowed: {inner} words "
            "together, expand times hidden_size"
        )
    mixed, size = inner + 2 * states, (1, phase.tokens)
    parts = (
        Matrix("in", inner + mixed + c.num_heads, width, runs),
        Convolution("conv", mixed, mixed, (1, c.conv_kernel), size, phase.batch, depthwise=True),
        Matrix("out", width, inner, runs),
    )
    shape = (phase.batch, phase.tokens, inner)
    own = (
        Elementwise("SiLU", MAP, (phase.batch, phase.tokens, mixed)),
        Elementwise("SiLU", MAP, shape),
        Elementwise("Softplus", MAP, (phase.batch, phase.tokens, c.num_heads)),
        Elementwise("Scan", GATE, (phase.batch, phase.tokens, inner * c.state_size)),
        Elementwise("Mul", GATE, shape),
        Elementwise("RMSNorm", NORM, shape),
        Elementwise("RMSNorm", NORM, (phase.batch, phase.tokens, width)),
        Elementwise("Add", GATE, (phase.batch, phase.tokens, width)),
    )
    norm = Elementwise("RMSNorm", NORM, (phase.batch, 1, width))
    state = phase.batch * (inner * c.state_size + mixed * c.conv_kernel)
    # of a head: its decay, what passes by, a bias of its step
    vectors = 3 * c.num_heads + inner + width
    return Model(
        (
            Block("layer", c.num_hidden_layers, parts, vectors, own),
            vocabulary(c.vocab_size, norm, tied=bool(c.tie_word_embeddings)),
        ),
        c.vocab_size * width,
        c.num_hidden_layers * state,
    )

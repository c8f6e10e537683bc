"""A small hardware space as files: buffers and lanes of a machine of sixteen multipliers, and a
layer."""

SPACE = """name: small
description: buffers and lanes of a small machine
source: made for tests
architecture:
  version: 0.4
  nodes:
  - !Component
    name: DRAM
    class: DRAM
    attributes: {datawidth: 16, read_bandwidth: 4, write_bandwidth: 4, read_energy: 200, write_energy: 200}
  - !Component
    name: Buffer
    class: SRAM
    attributes: {datawidth: 16, entries: 1024, read_energy: 6, write_energy: 6}
  - !Container
    name: PE
    spatial: {meshX: 2}
  - !Component
    name: RF
    class: regfile
    attributes: {datawidth: 16, entries: 4, vector_access_energy: 1}
  - !Component
    name: mac
    class: intmac
    attributes: {energy: 1}
quantities:
  buffer_words: {powers_of_two: [32, 128], unit: words}
  lanes: {values: [1, 2, 4]}
figures:
  Buffer.words: buffer_words
  Buffer.read_energy: {of: buffer_words, table: {32: 2, 64: 3, 128: 4.5}}
  RF.mesh_x: lanes
rules: [32 * lanes <= buffer_words]
costs:
  area: {of: 0.01 * buffer_words + lanes, unit: mm²}
workloads: [product.yaml]
objective: edp
divisors_only: true
"""

PRODUCT = """problem:
  version: 0.4
  shape:
    name: product
    dimensions: [M, N, K]
    data_spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 4, N: 2, K: 4}
"""


def small_space(folder):
    """The files of the space; its own is returned."""
    (folder / "product.yaml").write_text(PRODUCT)
    path = folder / "small.yaml"
    path.write_text(SPACE)
    return path

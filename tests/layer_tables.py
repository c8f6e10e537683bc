"""Tables of layers as other tools have them."""

#: A topology of SCALE-Sim.
TOPOLOGY = """Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
Conv1, 8, 9, 3, 3, 4, 8, 2,
DP1, 8, 8, 3, 3, 4, 1, 1,
"""
PRODUCTS = "Layer, M, N, K,\nq, 4, 6, 8,\n"
COLUMNS = "name,Cin,Cout,H,W,R,S,stride,pad\na,3,16,32,32,3,3,2,1\n"

MAESTRO = """
Constant T 4; // steps
Network n {
  Layer a { Type: CONV Stride { X: 2, Y: 1 } Dimensions { N: T, K: 8, C: 4, R: 3, S: 3, Y: 8, X: 9 }
    Dataflow { TemporalMap(1,1) K; Cluster(4, P); SpatialMap(1,1) C; } }
  Layer b { Type: GEMM Dimensions { M: 4, N: T, K: 8 } }
}
"""

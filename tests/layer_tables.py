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

#: Loop nests in C, with what its preprocessor does.
SCOP = """
#define N 8
#if N > 4 && !defined(M)
#define M(x) ((x) + 1)
#endif
const int K = N / 2;
#pragma scop
for (int i = 1; i <= N; i++) { y[i] = 0;
  for (int j = 0; j < M(K); j += 2) y[i] = y[i] + A[i][j + 1] * x[j]; }
#pragma endscop
"""

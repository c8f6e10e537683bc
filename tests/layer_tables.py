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

#: Layers as ZigZag and Stream state them.
EQUATIONS = """
- id: 0
  name: stem
  operator_type: Conv
  equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=3*oy+2*fy]
  loop_dims: [B, K, C, OY, OX, FY, FX]
  loop_sizes: [2, 8, 3, 7, 5, 3, 3]
  operand_precision: {W: 8, I: 8, O: 32}
- id: 1
  operator_type: Conv_downsample
  equation: O[b][k][oy][ox]+=W[k][c]*I[b][c][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
  loop_dims: [B, K, C, OY, OX, FY, FX]
  loop_sizes: [1, 4, 8, 3, 3, 1, 1]
- id: 2
  operator_type: Add
  equation: O[b][g][oy][ox]=W[b][g][oy][ox]+I[b][g][oy][ox]
  loop_dims: [B, G, OY, OX]
  loop_sizes: [1, 4, 3, 3]
- id: 3
  operator_type: Pooling
  equation: O[b][g][oy][ox]+=W[fx][fy]*I[b][g][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
  loop_dims: [B, G, OY, OX, FX, FY]
  loop_sizes: [1, 4, 3, 3, 2, 2]
- id: 4
  operator_type: Gemm
  equation: O[d0][d1]+=I[d0][d2]*W[d2][d1]
  dimension_relations: []
  loop_dims: [D0, D1, D2]
  loop_sizes: [16, 8, 32]
- id: 5
  operator_type: Conv1d
  equation: O[k][x]+=W[k][c][f]*I[c][ix]
  dimension_relations: [ix=2*x + f]
  loop_dims: [K, C, X, F]
  loop_sizes: [4, 2, 9, 3]
"""

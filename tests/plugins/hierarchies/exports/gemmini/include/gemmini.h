// A functional model of the parts of Gemmini's interface that exported programs call. Ours: it stands
// in for the library's header in tests, with the sizes of the accelerator given to the compiler.

#ifndef GEMMINI_H
#define GEMMINI_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BANK_NUM
#define BANK_NUM 4
#endif
typedef int8_t elem_t;
typedef int32_t acc_t;
#define row_align(n)
#define row_align_acc(n)
#define OUTPUT_STATIONARY 0
#define WEIGHT_STATIONARY 1
#define NO_ACTIVATION 0
#define MVIN_SCALE_IDENTITY 1.0
#define ACC_SCALE_IDENTITY 1.0
#define GARBAGE_ADDR ((uint32_t)-1)
enum tiled_matmul_type_t { OS, WS, CPU };

static struct {
  elem_t scratchpad[BANK_NUM * BANK_ROWS][DIM];
  acc_t sums[ACC_ROWS][DIM];
  acc_t held[DIM][DIM];  // weights, or sums
  size_t load_stride[3], store_stride;
  int flow;
  bool across_a, across_b;
  uint32_t out;
  size_t out_columns, out_rows;
} g;

static void gemmini_must(bool holds, const char *what) {
  if (!holds) {
    printf("gemmini: %s\n", what);
    exit(3);
  }
}
static void gemmini_flush(int skip) { (void)skip; memset(&g, 0x55, sizeof g); }
static void gemmini_fence(void) {}
static void gemmini_extended_config_ex(int flow, int act, int shift, int step, bool a, bool b) {
  gemmini_must(act == 0 && shift == 0 && step == 1, "config_ex");
  gemmini_must(flow == WEIGHT_STATIONARY ? !(a && b) : !(a || b), "transposed");
  g.flow = flow, g.across_a = a, g.across_b = b;
}
static void gemmini_extended_config_st(size_t stride, int act, double scale) {
  gemmini_must(act == 0 && scale == 1, "config_st");
  g.store_stride = stride;
}
static void gemmini_extended3_config_ld(size_t stride, double scale, bool shrunk, int id) {
  gemmini_must(scale == 1 && !shrunk && id < 3, "config_ld");
  g.load_stride[id] = stride;
}
static void gemmini_move_in(const void *from, uint32_t to, size_t columns, size_t rows, int id) {
  gemmini_must(columns <= DIM && rows <= DIM, "mvin of more than a block");
  for (size_t row = 0; row < rows; row++) {
    const char *line = (const char *)from + row * g.load_stride[id];
    if (to >> 31) {
      const size_t at = (to & 0x1fffffff) + row;
      gemmini_must(at < ACC_ROWS && !(to >> 30 & 1), "mvin beyond accumulators");
      memset(g.sums[at], 0x55, sizeof g.sums[at]);
      memcpy(g.sums[at], line, columns * sizeof(acc_t));
    } else {
      gemmini_must(to + row < BANK_NUM * BANK_ROWS, "mvin beyond the scratchpad");
      memset(g.scratchpad[to + row], 0x55, DIM);
      memcpy(g.scratchpad[to + row], line, columns * sizeof(elem_t));
    }
  }
}
static void gemmini_extended_mvin(const void *from, uint32_t to, size_t columns, size_t rows) {
  gemmini_move_in(from, to, columns, rows, 0);
}
static void gemmini_extended_mvin2(const void *from, uint32_t to, size_t columns, size_t rows) {
  gemmini_move_in(from, to, columns, rows, 1);
}
static void gemmini_extended_mvin3(const void *from, uint32_t to, size_t columns, size_t rows) {
  gemmini_move_in(from, to, columns, rows, 2);
}
static void gemmini_extended_mvout(void *to, uint32_t from, size_t columns, size_t rows) {
  gemmini_must(from >> 31 && from >> 29 & 1, "mvout of less than whole sums");
  for (size_t row = 0; row < rows; row++)
    memcpy((char *)to + row * g.store_stride, g.sums[(from & 0x1fffffff) + row],
           columns * sizeof(acc_t));
}
// An element of a block in the scratchpad of so many rows and columns of the matrix; 0 beyond them.
static acc_t gemmini_at(uint32_t block, bool across, size_t row, size_t column, size_t rows,
                        size_t columns) {
  if (row >= rows || column >= columns) return 0;
  return across ? g.scratchpad[block + column][row] : g.scratchpad[block + row][column];
}
static void gemmini_extended_preload(uint32_t from, uint32_t to, size_t columns, size_t rows,
                                     size_t out_columns, size_t out_rows) {
  g.out = to, g.out_columns = out_columns, g.out_rows = out_rows;
  if (g.flow == WEIGHT_STATIONARY && from != GARBAGE_ADDR)
    for (size_t row = 0; row < DIM; row++)
      for (size_t column = 0; column < DIM; column++)
        g.held[row][column] = gemmini_at(from, g.across_b, row, column, rows, columns);
  else
    gemmini_must(from == GARBAGE_ADDR, "preload of sums");
}
static void gemmini_compute(uint32_t a, uint32_t b, size_t a_columns, size_t a_rows,
                            size_t b_columns, size_t b_rows, bool first) {
  for (size_t row = 0; row < DIM; row++)
    for (size_t column = 0; column < DIM; column++) {
      acc_t sum = g.flow == OUTPUT_STATIONARY && !first ? g.held[row][column] : 0;
      for (size_t k = 0; k < DIM; k++)
        sum += gemmini_at(a, g.across_a, row, k, a_rows, a_columns) *
               (g.flow == WEIGHT_STATIONARY ? g.held[k][column]
                                            : gemmini_at(b, false, k, column, b_rows, b_columns));
      if (g.flow == OUTPUT_STATIONARY) g.held[row][column] = sum;
      if (g.out != GARBAGE_ADDR && row < g.out_rows && column < g.out_columns) {
        acc_t *to = &g.sums[(g.out & 0x1fffffff) + row][column];
        *to = (g.out >> 30 & 1 ? *to : 0) + sum;
      }
    }
}
static void gemmini_extended_compute_preloaded(uint32_t a, uint32_t b, size_t ac, size_t ar,
                                               size_t bc, size_t br) {
  gemmini_compute(a, b, ac, ar, bc, br, true);
}
static void gemmini_extended_compute_accumulated(uint32_t a, uint32_t b, size_t ac, size_t ar,
                                                 size_t bc, size_t br) {
  gemmini_compute(a, b, ac, ar, bc, br, false);
}
static void tiled_matmul(size_t i, size_t j, size_t k, const elem_t *a, const elem_t *b,
                         const void *d, void *c, size_t sa, size_t sb, size_t sd, size_t sc,
                         double a_scale, double b_scale, double d_scale, int act, double scale,
                         double bert, bool repeating, size_t ti, size_t tj, size_t tk, bool ta,
                         bool tb, bool full_c, bool low_d, uint8_t weight_a,
                         enum tiled_matmul_type_t type) {
  const size_t half = type == WS ? 2 : 1;
  gemmini_must(a_scale == 1 && b_scale == 1 && d_scale == 1 && scale == 1, "scales");
  gemmini_must(!act && bert == 0 && !repeating && full_c && !low_d && !weight_a, "options");
  gemmini_must(type == WS ? !(ta && tb) : !(ta || tb), "transposed");
  gemmini_must(ti && tj && tk, "empty tiles");
  gemmini_must(ti <= (i + DIM - 1) / DIM && tj <= (j + DIM - 1) / DIM && tk <= (k + DIM - 1) / DIM,
               "tiles beyond the matrices");
  gemmini_must((ti + tj) * tk * DIM <= BANK_NUM * BANK_ROWS / half, "scratchpad");
  gemmini_must(ti * tj * DIM <= ACC_ROWS / half, "accumulators");
  for (size_t x = 0; x < i; x++)
    for (size_t y = 0; y < j; y++) {
      acc_t sum = ((const acc_t *)d)[x * sd + y];
      for (size_t z = 0; z < k; z++)
        sum += a[ta ? z * sa + x : x * sa + z] * b[tb ? y * sb + z : z * sb + y];
      ((acc_t *)c)[x * sc + y] = sum;
    }
}
#endif

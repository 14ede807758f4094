/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole transform over ranks: the bits of the resident engine on one process, of plans over ranks and of rank 0 that leads. */
#include "volume/global.h"

/* ---- one process ---- */

static void alone(setup *t)
{
  kugel_volume *p = NULL;
  kugel_volume_info info = {.size = sizeof info};
  int64_t a[4], b[4];
  t->opts.engine = t->opts.tile ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_RESIDENT;
  CHECK_OK(kugel_volume_create(NULL, 3, lengths, t->k, &t->kernel, &t->opts, &p));
  CHECK_OK(kugel_volume_get_info(p, &info));
  memcpy(t->m, info.results, sizeof t->m);
  kugel_array x = image(t, t->image, a), y = results(t, t->want, b);
  CHECK_OK(kugel_volume_execute(p, &x, &y, &t->want_clipped, NULL));
  x = image(t, t->back, a);
  if (!t->opts.tile)
    CHECK_OK(kugel_volume_adjoint(p, &y, &x, NULL, NULL));
  kugel_volume_destroy(p);
}

/* ---- parts on the ranks ---- */

static void parts(kugel_comm *comm, void *arg)
{
  setup *t = arg;
  int rank = rank_of(comm), bad = 0;
  kugel_volume *p = NULL;
  kugel_volume_opts o = t->opts;
  kugel_volume_info info = {.size = sizeof info};
  o.engine = t->opts.tile ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_AUTO;
  o.comm = comm;
  if (kugel_volume_create(NULL, 3, lengths, t->k, &t->kernel, &o, &p)) {
    t->bad[rank] = 1000;
    return;
  }
  bad += !!kugel_volume_get_info(p, &info) ||
         info.engine != (t->opts.tile ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_GLOBAL);
  kugel_layout *in = NULL, *out = NULL, *all_in = NULL, *all_out = NULL;
  int64_t total = t->m[0] * t->m[1] * t->m[2], a[4], b[4], clipped = 0;
  bad += !!kugel_volume_layout(p, KUGEL_VOLUME_IMAGE, &in) +
         !!kugel_volume_layout(p, KUGEL_VOLUME_RESULTS, &out);
  bad +=
      !!kugel_layout_whole(comm, NZ * NY * NX, 0, &all_in) + !!kugel_layout_whole(comm, total, 0, &all_out);
  int64_t n_in = kugel_layout_count(in, rank), n_out = kugel_layout_count(out, rank), q = kernels(t);
  bad += n_in != info.image_count * NY * NX || n_out != info.results_count * t->m[1] * t->m[2];
  char *x = calloc(MOST, 16), *y = calloc(MOST, 16), *all = calloc(MOST, 16);
  bad += !!kugel_layout_move(all_in, rank ? NULL : KUGEL_ARRAY(t->image, t->in, 1, NZ * NY * NX), in,
                             KUGEL_ARRAY(x, t->in, 1, n_in));
  kugel_array vx = image(t, x, a), vy = results(t, y, b);
  vx.shape[0] = info.image_count;
  vy.shape[vy.ndim - 3] = info.results_count;
  bad += !!kugel_volume_execute(p, &vx, &vy, &clipped, NULL) + (clipped != t->want_clipped);
  bad += !!kugel_layout_move(out, KUGEL_ARRAY(y, t->out, q, n_out), all_out,
                             rank ? NULL : KUGEL_ARRAY(all, t->out, q, total));
  bad += rank == 0 && memcmp(all, t->want, (size_t)(q * total) * size_of(t->out)) != 0;
  if (t->opts.tile) {
    bad += kugel_volume_adjoint(p, &vy, &vx, NULL, NULL) != KUGEL_ENOTSUP;
  } else {
    bad += !!kugel_volume_adjoint(p, &vy, &vx, NULL, NULL);
    bad += !!kugel_layout_move(in, KUGEL_ARRAY(x, t->in, 1, n_in), all_in,
                               rank ? NULL : KUGEL_ARRAY(all, t->in, 1, NZ * NY * NX));
    bad += rank == 0 && memcmp(all, t->back, NZ * NY * NX * size_of(t->in)) != 0;
  }
  free(x), free(y), free(all);
  kugel_layout *layouts[] = {in, out, all_in, all_out};
  for (int i = 0; i < 4; i++)
    kugel_layout_destroy(layouts[i]);
  kugel_volume_destroy(p);
  t->bad[rank] = bad;
}

static void check(setup t)
{
  static const int counts[] = {1, 2, 3, 4, 5, 7, 12};
  static double kernel[4 * 16 * 16 * 16];
  begin(&t, kernel);
  alone(&t);
  for (int i = 0; i < 7; i++) {
    memset(t.bad, 0, sizeof t.bad);
    run_ranks(NULL, counts[i], parts, &t);
    for (int r = 0; r < counts[i]; r++)
      if (t.bad[r])
        CHECK_FAIL("rank %d of %d: %d results differ or failed: %s", r, counts[i], t.bad[r],
                   kugel_last_error());
    if (counts[i] == 1 || counts[i] == 4 || counts[i] == 5 || t.opts.tile)
      continue;
    for (int stream = 0; stream < 2; stream++) {
      t.stream = stream;
      t.clipped = 0;
      memset(t.got, 0, MOST * 16);
      CHECK_OK(run_led(counts[i], 0, lead, &t));
      CHECK(t.clipped == t.want_clipped);
    }
  }
  finish(&t);
}

int main(void)
{
  alarm(100); /* a rank that waits for ever ends the test */
  kugel_volume_opts same = {.extent = KUGEL_CONV_SAME}, full = {.extent = KUGEL_CONV_FULL},
                    valid = {.extent = KUGEL_CONV_VALID};
  CASE("kernels as large as the image, zero and periodic boundaries")
  {
    check((setup){.opts = same, .in = KUGEL_F64, .out = KUGEL_F64, .k = {9, 11, 14}});
    check((setup){.opts = full, .in = KUGEL_F32, .out = KUGEL_F64, .k = {9, 11, 14}});
    same.boundary = KUGEL_BOUNDARY_PERIODIC;
    check((setup){.opts = same, .in = KUGEL_F64, .out = KUGEL_F64, .k = {9, 11, 14}});
    check((setup){.opts = same, .in = KUGEL_F64, .out = KUGEL_F64, .k = {13, 4, 15}}); /* larger */
  }
  CASE("other extents, boundaries, types, correlation, kernels, complex data")
  {
    valid.precision = KUGEL_PRECISION_F32;
    check((setup){.opts = valid, .in = KUGEL_U16, .out = KUGEL_U16, .k = {3, 5, 4}}); /* clipped */
    same.boundary = KUGEL_BOUNDARY_REFLECT;
    same.correlate = 1;
    check((setup){.opts = same, .in = KUGEL_F32, .out = KUGEL_F64, .k = {4, 5, 3}});
    kugel_volume_opts repeats = same; /* the lowest lines of the adjoint go to all ranks */
    repeats.precision = KUGEL_PRECISION_F32;
    check((setup){.opts = repeats, .in = KUGEL_F32, .out = KUGEL_F64, .k = {4, 5, 3}});
    repeats.kernels = 2;
    repeats.boundary = KUGEL_BOUNDARY_REPLICATE;
    check((setup){.opts = repeats, .in = KUGEL_F64, .out = KUGEL_F64, .k = {3, 8, 4}});
    same.boundary = KUGEL_BOUNDARY_UNKNOWN;
    same.kernels = 2;
    same.scale = 0.5;
    check((setup){.opts = same, .in = KUGEL_F32, .out = KUGEL_F32, .k = {5, 4, 3}});
    full.complex_data = 1;
    full.correlate = 1;
    check((setup){.opts = full, .in = KUGEL_C128, .out = KUGEL_C128, .k = {2, 3, 5}});
  }
  CASE("kernels by depth, whose window divides by their own sums")
  {
    static const double planes[2] = {2, 6.5};
    kugel_volume_opts deep = {.extent = KUGEL_CONV_SAME, .depths = 2, .depth = planes};
    for (int boundary = KUGEL_BOUNDARY_ZERO; boundary <= KUGEL_BOUNDARY_UNKNOWN; boundary++) {
      deep.boundary = (kugel_boundary)boundary;
      deep.correlate = boundary % 2;
      deep.precision = boundary == KUGEL_BOUNDARY_REFLECT ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
      check((setup){.opts = deep, .in = KUGEL_F32, .out = KUGEL_F64, .k = {5, 4, 3}});
    }
    deep.extent = KUGEL_CONV_FULL;
    deep.boundary = KUGEL_BOUNDARY_ZERO;
    deep.precision = KUGEL_PRECISION_F64;
    check((setup){.opts = deep, .in = KUGEL_F64, .out = KUGEL_F64, .k = {3, 5, 4}});
  }
  CASE("tiles: all boundaries, rows that ranks do not divide, kernels with several rows' reach")
  {
    static const int64_t tile[3] = {2, 5, 6};
    for (int boundary = KUGEL_BOUNDARY_ZERO; boundary <= KUGEL_BOUNDARY_UNKNOWN; boundary++) {
      kugel_volume_opts o = {.extent = KUGEL_CONV_SAME, .boundary = (kugel_boundary)boundary, .tile = tile};
      check((setup){.opts = o, .in = KUGEL_F32, .out = KUGEL_F64, .k = {7, 4, 5}});
      o.depths = 2;
      o.depth = (const double[]){2, 6.5};
      check((setup){.opts = o, .in = KUGEL_F32, .out = KUGEL_F64, .k = {7, 4, 5}});
    }
    kugel_volume_opts o = {
        .extent = KUGEL_CONV_FULL, .kernels = 2, .tile = tile, .precision = KUGEL_PRECISION_F32};
    check((setup){.opts = o, .in = KUGEL_U16, .out = KUGEL_U16, .k = {3, 3, 3}}); /* clipped */
  }
  END();
}

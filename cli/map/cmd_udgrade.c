/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel udgrade: another nside, by averaging or repeating pixels. */
#include <stdlib.h>
#include "batch/each.h"
#include "commands.h"
#include "map/npymap.h"
#include "map/skyops.h"

#define UDGRADE_OPTIONS(X)                                                                                   \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY)")                                \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "the map at the other resolution (FITS, NPY)")             \
  X(nside, 'N', ARG_INT, "N", NULL, 1, 536870912, "resolution of the output, a power of two")                \
  X(columns, 'c', ARG_TEXT, "LIST", "all", 0, 0, "columns by name or number with commas between")            \
  X(order, 'o', ARG_CHOICE, "input|ring|nested", "input", 0, 0, "ordering of the output")                    \
  X(power, 'p', ARG_REAL, "X", "0", -100, 100,                                                               \
    "scale values by (nside out / nside in)^X; -2 keeps the sum, as for counts")                             \
  X(pessimistic, 0, ARG_FLAG, NULL, NULL, 0, 0, "an output pixel is unseen if any of its input pixels is")   \
  MAP_OUTPUT_OPTIONS(X)                                                                                      \
  DEVICE_OPTION(X)                                                                                           \
  EACH_OPTIONS(X, NULL)

OPTIONS(udgrade, UDGRADE_OPTIONS);

static int udgrade(const void *args)
{
  const udgrade_args *o = args;
  SKY s = {0}, t = {0};
  stopwatch watch = stopwatch_start();
  if (!o->nside.given)
    return fail_usage("give --nside, the resolution of the output");
  int64_t nside = o->nside.n;
  STEP(sky_open(&s, o->input.s, o->columns.s, false));
  if ((nside & (nside - 1)) || (s.nside & (s.nside - 1)))
    return fail_usage("nside %lld is no power of two; kugel regrid goes between any two",
                      (long long)(nside & (nside - 1) ? nside : s.nside));
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  json_int("nside_out", nside);
  fact("to", "nside %lld", (long long)nside);
  STEP(session_device(&o->device, NULL));
  if (run.dry_run)
    return report_plan((double)(s.n * (s.npix + 12 * nside * nside)) * (sky_is_float(&s) ? 4 : 8) +
                           BASE_MEMORY,
                       (double)(s.n * s.npix) * 10e-9);
  STEP(check_output(o->output.s));
  sky_costs(&s, (double)(s.n * s.npix) * 4);
  STEP(sky_read(&s, KUGEL_ORDER_ANY, false));
  stopwatch_lap(&watch, "read");
  kugel_order order = output_nested(o->output.s, &s, &o->order) ? KUGEL_ORDER_NESTED : KUGEL_ORDER_RING;
  if (o->device.given) { /* it turns the orderings; the means are sums over consecutive pixels, for the CPU */
    STEP(sky_reorder_on(run.ctx, &s, KUGEL_ORDER_NESTED));
    STEP(sky_udgrade(&s, nside, KUGEL_ORDER_NESTED, o->power.x, o->pessimistic.given, &t));
    STEP(sky_reorder_on(run.ctx, &t, order));
  } else {
    STEP(sky_udgrade(&s, nside, order, o->power.x, o->pessimistic.given, &t));
  }
  stopwatch_lap(&watch, "udgrade");
  output out = output_like(&s);
  out.nside = nside;
  out.maps = t.maps;
  out.order = t.order;
  STEP(output_write(o->output.s, &out));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_udgrade = {
    .name = "udgrade",
    .summary = "change nside by averaging or repeating pixels",
    .about = "Degrades (mean of the seen pixels) or upgrades (repeats pixels) all columns of a HEALPix "
             "map.",
    .examples = "kugel udgrade sky.fits small.fits --nside 64\n"
                "kugel udgrade counts.fits small.fits --nside 64 --power -2\n"
                "kugel udgrade mask.fits mask64.fits --nside 64 --pessimistic",
    .options = udgrade_options,
    .n_options = sizeof udgrade_options / sizeof udgrade_options[0],
    .run = udgrade,
};

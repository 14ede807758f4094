/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel reorder: RING to NESTED and back, all columns. */
#include <string.h>
#include "batch/each.h"
#include "commands.h"
#include "map/npymap.h"
#include "map/skyops.h"

#define REORDER_OPTIONS(X)                                                                                   \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY)")                                \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "the same map in the other ordering (FITS, NPY)")          \
  X(to, 't', ARG_CHOICE, "other|ring|nested", "other", 0, 0, "ordering of the output")                       \
  X(columns, 'c', ARG_TEXT, "LIST", "all", 0, 0, "columns by name or number with commas between")            \
  X(coordsys, 0, ARG_CHOICE, "G|E|C", NULL, 0, 0,                                                            \
    "write this coordinate system, where the input's is missing or wrong")                                   \
  X(unit, 'u', ARG_TEXT, "TEXT", NULL, 0, 0, "write this unit, likewise")                                    \
  MAP_OUTPUT_OPTIONS(X)                                                                                      \
  DEVICE_OPTION(X)                                                                                           \
  EACH_OPTIONS(X, NULL)

OPTIONS(reorder, REORDER_OPTIONS);

static int reorder(const void *args)
{
  const reorder_args *o = args;
  SKY s = {0};
  stopwatch watch = stopwatch_start();
  STEP(sky_open(&s, o->input.s, o->columns.s, false));
  kugel_order from = s.info->order == KUGEL_ORDER_NESTED ? KUGEL_ORDER_NESTED : KUGEL_ORDER_RING;
  kugel_order to = o->to.n                    ? (kugel_order)o->to.n
                   : from == KUGEL_ORDER_RING ? KUGEL_ORDER_NESTED
                                              : KUGEL_ORDER_RING;
  if (to == KUGEL_ORDER_NESTED && (s.nside & (s.nside - 1)))
    return fail("%s: nside %lld is no power of two, so there is no NESTED ordering", o->input.s,
                (long long)s.nside);
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  json_text("to", order_name(to));
  fact("to", "%s", order_name(to));
  STEP(session_device(&o->device, NULL));
  if (run.dry_run)
    return report_plan((double)((s.n + 1) * s.npix) * (sky_is_float(&s) ? 4 : 8) + BASE_MEMORY,
                       (double)(s.n * s.npix) * 10e-9);
  STEP(check_output(o->output.s));
  sky_costs(&s, (double)(s.n * s.npix) * 4);
  STEP(sky_read(&s, KUGEL_ORDER_ANY, false));
  stopwatch_lap(&watch, "read");
  STEP(sky_reorder_on(run.ctx, &s, to));
  stopwatch_lap(&watch, "reorder");
  output out = output_like(&s);
  out.coordsys = o->coordsys.s;
  for (int64_t i = 0; o->unit.given && i < s.n; i++)
    out.units[i] = o->unit.s;
  STEP(output_write(o->output.s, &out));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_reorder = {
    .name = "reorder",
    .summary = "RING to NESTED ordering, or back",
    .about = "Reorders all columns of a HEALPix map. With --to its own ordering, it only copies the map: "
             "useful with --unit and --coordsys.",
    .examples = "kugel reorder ring.fits nested.fits\n"
                "kugel reorder sky.fits ring.fits --to ring\n"
                "kugel reorder sky.fits labelled.fits --to ring --unit mK --coordsys G",
    .options = reorder_options,
    .n_options = sizeof reorder_options / sizeof reorder_options[0],
    .run = reorder,
};

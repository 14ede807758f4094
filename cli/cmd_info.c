/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel info: this machine as Kugel sees it, or what files hold. */
#include <kugel/kugel.h>
#include "commands.h"
#include "describe.h"
#include "session.h"

#define INFO_OPTIONS(X)                                                                                      \
  X(files, 0, ARG_OPERAND, "FILE", NULL, 0, 1000, "files to describe; none: describe Kugel and this machine")

OPTIONS(info, INFO_OPTIONS);

/* ---- this machine -------------------------------------------------------------------------------------- */

static int describe_devices(void)
{
  json_array("devices");
  for (int i = 0; i < kugel_device_count(); i++) {
    kugel_device_info device = {.size = sizeof device};
    char memory[32];
    LIB(kugel_device_describe(i, &device));
    json_object(NULL);
    json_text("name", device.name);
    json_text("description", device.description);
    json_flag("available", device.available);
    json_int("memory_bytes", (int64_t)device.memory);
    json_int("units", device.units);
    json_text("why", device.why);
    json_end();
    if (device.available)
      say("device %-8s %s, %d threads, %s\n", device.name, device.description, device.units,
          bytes_text((double)device.memory, memory, sizeof memory));
    else
      say("device %-8s not available: %s\n", device.name, device.why);
  }
  json_end();
  return EXIT_DONE;
}

static int describe_machine(void)
{
  json_text("version", kugel_version());
  json_text("isa", kugel_isa());
  json_int("threads", kugel_get_num_threads());
  say("kugel           %s\n", kugel_version());
  say("instructions    %s\n", kugel_isa());
  say("threads         %d\n", kugel_get_num_threads());
  return describe_devices();
}

static int info(const void *args)
{
  const info_args *o = args;
  if (!o->files.given)
    return describe_machine();
  json_array("files");
  for (int64_t i = 0; i < o->files.n; i++) {
    json_object(NULL);
    STEP(describe_file(o->files.list[i]));
    json_end();
  }
  json_end();
  return EXIT_DONE;
}

const command command_info = {
    .name = "info",
    .summary = "describe a file, or Kugel and this machine",
    .about = "With files: what each holds (a map, coefficients, spectra), its size, units, ordering and "
             "coordinate system, and the range of every column. Without: version, instruction set, "
             "threads and devices.",
    .examples = "kugel info\nkugel info sky.fits\nkugel info --json sky.fits",
    .options = info_options,
    .n_options = sizeof info_options / sizeof info_options[0],
    .run = info,
};

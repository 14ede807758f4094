/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel info: this machine as Kugel sees it, or what files hold. */
#include <kugel/kugel.h>
#include "commands.h"
#include "common/ranks.h"
#include "info/describe.h"
#include "common/session.h"

#define INFO_OPTIONS(X)                                                                                      \
  X(files, 0, ARG_OPERAND, "FILE", NULL, 0, 1000,                                                            \
    "files to describe, or folders of stacks; none: describe Kugel and this machine")                        \
  X(stats, 0, ARG_FLAG, NULL, NULL, 0, 0, "also the range and mean of every channel of stacks")              \
  X(ranks, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                    \
    "under mpirun or srun: the processes that share transforms, and their MPI")

OPTIONS(info, INFO_OPTIONS);

/* ---- this machine -------------------------------------------------------------------------------------- */

static void describe_in_json(const kugel_device_info *d)
{
  json_object(NULL);
  json_text("name", d->name);
  json_text("description", d->description);
  json_flag("available", d->available);
  json_text("why", d->why);
  json_flag("gpu", d->is_gpu);
  json_int("memory_bytes", (int64_t)d->memory);
  json_int("units", d->units);
  json_flag("kernels", d->kernels);
  json_flag("double_precision", d->fp64);
  json_int("lanes", d->lanes);
  json_int("max_threads", d->max_threads);
  json_int("shared_bytes", (int64_t)d->shared_bytes);
  json_int("cache_bytes", (int64_t)d->cache_bytes);
  json_int("max_alloc_bytes", (int64_t)d->max_alloc);
  json_number("bandwidth_bytes_per_second", d->bandwidth);
  json_int("compute_capability", d->compute_capability);
  json_text("driver", d->driver);
  json_text("compiler", d->compiler);
  json_end();
}

static void describe_in_words(const kugel_device_info *d)
{
  char memory[32], shared[32];
  bool cpu = d->device.type == KUGEL_CPU;
  if (!d->available) {
    say("device %-8s not available: %s\n", d->name, d->why);
    return;
  }
  say("device %-8s %s, %d %s, %s\n", d->name, d->description, d->units,
      d->is_gpu ? "multiprocessors" : "threads", bytes_text((double)d->memory, memory, sizeof memory));
  if (cpu)
    return;
  say("  driver        %s%s\n", d->driver, d->fp64 ? "" : ", no double precision");
  if (d->kernels)
    say("  kernels       %s, blocks of up to %d threads with %s of shared memory\n", d->compiler,
        d->max_threads, bytes_text((double)d->shared_bytes, shared, sizeof shared));
  else
    say("  no kernels    %s\n", d->why);
}

static int describe_devices(void)
{
  json_array("devices");
  for (int i = 0; i < kugel_device_count(); i++) {
    kugel_device_info device = {.size = sizeof device};
    LIB(kugel_device_describe(i, &device));
    describe_in_json(&device);
    describe_in_words(&device);
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

static int describe_ranks(void)
{
  char line[256];
  kugel_comm *own = NULL, *comm = ranks_comm();
  kugel_comm_info i = {.size = sizeof i};
  if (!comm)
    LIB(kugel_comm_open(NULL, &(kugel_comm_opts){.size = sizeof(kugel_comm_opts), .kind = KUGEL_COMM_SELF},
                        &own));
  comm = comm ? comm : own;
  kugel_comm_describe(comm, line, sizeof line);
  kugel_comm_get_info(comm, &i);
  json_text("ranks_are", line);
  json_int("ranks", i.ranks);
  json_int("nodes", i.nodes);
  json_int("threads_per_rank", kugel_get_num_threads());
  say("ranks           %s\n", line);
  say("threads         %d on rank 0\n", kugel_get_num_threads());
  kugel_comm_destroy(own);
  return EXIT_DONE;
}

static int info(const void *args)
{
  const info_args *o = args;
  if (o->ranks.given)
    return describe_ranks();
  if (!o->files.given)
    return describe_machine();
  json_array("files");
  for (int64_t i = 0; i < o->files.n; i++) {
    json_object(NULL);
    STEP(describe_file(o->files.list[i], o->stats.given));
    json_end();
  }
  json_end();
  return EXIT_DONE;
}

const command command_info = {
    .name = "info",
    .summary = "describe a file, or Kugel and this machine",
    .about =
        "With files: what each holds (a map, coefficients, spectra, a stack of images), its size, units, "
        "ordering and coordinate system, and the range of every column; of stacks shape, type, voxel size "
        "and "
        "channels; of a folder a line for each stack in it. Without: version, instruction set, "
        "threads and devices.",
    .examples = "kugel info\nkugel info sky.fits\nkugel info --json sky.fits\nkugel info stacks/",
    .options = info_options,
    .n_options = sizeof info_options / sizeof info_options[0],
    .run = info,
};

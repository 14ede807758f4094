/* SPDX-License-Identifier: BSD-3-Clause */
/* Pencils on devices: the passes of pencil.h, each piece of which is copied to a device, worked on there, and copied back,
 * while others are on their way (device/lanes.h); the devices of a context share the pieces. What lies between the passes is in
 * host memory, or in a file if there is too much of it. */
#ifndef KUGEL_VOLUME_PENCIL_DEVICE_H
#define KUGEL_VOLUME_PENCIL_DEVICE_H

#include "device/lanes.h"
#include "volume/gpu/device_plan.h"
#include "volume/gpu/lane_voxels.h"
#include "volume/plan/pencil.h"

typedef struct kugel__pencil_lane { /* of one device */
  kugel_volume
      part; /* the plan in that device's context; its kernels work on slices and on blocks of lines */
  kugel__moves fold; /* of slices of the adjoint, along y and x */
  void *extended;    /* such slices before; NULL: nothing is extended along y and x */
  void *counter;
} kugel__pencil_lane;

typedef struct kugel__pencil_bytes {
  int64_t number; /* of a complex number; what follows to `sources` are numbers */
  int64_t lines, blocks, tall;
  int64_t kernel[3];      /* lengths, folded into those of the axes */
  int64_t wide[3];        /* of the image, extended as the boundary says */
  uint64_t slices, plane; /* bytes of a slot's slices, without a window; of a window's slices */
  uint64_t in, out;       /* of a slot, on the device and on the host */
  uint64_t extended, spectra, device;
  uint64_t volume, kernels,
      window; /* between the passes: of a volume of slices, of all kernels, of the window */
} kugel__pencil_bytes;

typedef struct kugel__pencil_device {
  pthread_mutex_t lock; /* of all that follows */
  kugel__pencil_bytes size;
  kugel__device_lanes *lanes;
  int count;
  kugel__pencil_lane *lane; /* [count] */
} kugel__pencil_device;

kugel_status kugel__pencil_device_choose(kugel_volume *p, uint64_t limit);
void kugel__pencil_device_figures(const kugel_volume *p, kugel_volume_info *info);
/* The lanes; then the kernels' slices to the plan's file. */
kugel_status kugel__pencil_device_create(kugel_volume *p);
kugel_status kugel__pencil_device_kernels(const kugel_volume *p, const kugel__volume_box *kernels);
/* `count` planes of a kernel, of which `box` begins with the first one in memory, in the order of the transform and folded into
 * the lengths of y and x: put into `planes`, or added. */
kugel_status kugel__pencil_fold_planes(const kugel_volume *p, const kugel__volume_box *box, int64_t count,
                                       bool adds, double *planes);
void kugel__pencil_device_destroy(kugel_volume *p);
kugel_status kugel__pencil_device_run(const kugel_volume *p, bool adjoint, const kugel__pencil_ends *ends,
                                      atomic_llong *clipped);

/* Slices [z, z + count) of a volume of `tall` slices that begins at byte `base`, to or from packed memory; and block `block` of
 * lines, elements [0, count). */
typedef struct kugel__pencil_place {
  const kugel_volume *p;
  const kugel__volume_file *file;
  int64_t base, tall;
} kugel__pencil_place;
kugel_status kugel__pencil_move_slices(const kugel__pencil_place *at, int64_t z, int64_t count, char *memory,
                                       bool put);
kugel_status kugel__pencil_move_lines(const kugel__pencil_place *at, int64_t block, int64_t count,
                                      char *memory, bool put);
int64_t kugel__pencil_lines_of(const kugel_volume *p, int64_t block);

/* ---- one execution: pencil_device_run.c, lines along axis 0 in pencil_device_lines.c ---- */

typedef struct kugel__pencil_piece { /* in a slot, from its loading to its delivery */
  kugel__lane_voxels voxels;
  size_t window; /* bytes from the start of what is copied in */
  bool direct;   /* results go to the array itself, which is page-locked */
} kugel__pencil_piece;

enum { KUGEL__PENCIL_LANES = 16 };

typedef struct kugel__pencil_course {
  const kugel_volume *p;
  const kugel__pencil_ends *ends;
  kugel__pencil_device *d;
  bool adjoint;
  int64_t tall[2], first; /* planes of what goes in and of results; the first slab of results */
  int64_t sources,
      sinks; /* volumes that lines are read from and written to: one of each kernel, or their sum */
  kugel__volume_file *file;
  kugel__pencil_piece piece[KUGEL__PENCIL_LANES][KUGEL__LANE_SLOTS];
} kugel__pencil_course;

kugel__fused_job kugel__pencil_job(const kugel__pencil_course *r, const kugel__lane *on);
kugel__pencil_place kugel__pencil_volume(const kugel__pencil_course *r, int64_t which);
kugel_status kugel__pencil_up(kugel__lane *on, kugel__lane_slot *slot, size_t at, size_t bytes);
kugel_status kugel__pencil_down(kugel__lane *on, kugel__lane_slot *slot, size_t bytes);
/* All lines along axis 0. */
kugel__lane_job kugel__pencil_lines_job(kugel__pencil_course *r);

#endif

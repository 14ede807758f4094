/* SPDX-License-Identifier: BSD-3-Clause */
/* An execution: the arrays of the caller, the tile at work, and its state. */
#ifndef KUGEL_DECONV_JOB_H
#define KUGEL_DECONV_JOB_H

#include "deconv/deconv.h"
#include "deconv/device.h"

typedef struct kugel__deconv_box { // an array of 3 axes, of which leading ones may have length 1
  char *data;
  kugel_dtype dtype;
  int64_t step[3];
} kugel__deconv_box;

typedef struct
    kugel__deconv_slice { // sums over one: values less background, of results, missing or clipped voxels
  double sum, flux;
  int64_t missing;
} kugel__deconv_slice;

typedef struct kugel__deconv_job {
  const kugel_deconv *p;
  kugel__deconv_box image, mask, start, out;
  kugel__deconv_state s;
  kugel__deconv_device *device; // NULL: on the CPU
  int64_t from[3], lo[3], n[3]; // of the tile: where its image starts; where results start and how many
  double *row;                  // [workers][2][cut[2]]
  kugel__deconv_slice *slices;  // [cut[0]]
  int64_t workers;
  int64_t skipped; // elements of `out` before its first one, which is that of the tile's first result
  const void *result;
  bool started; // `start` is given, to all ranks
  int64_t clipped;
  double flux_in, flux_out;
} kugel__deconv_job;

typedef struct kugel__deconv_led kugel__deconv_led;

/* A tile with its arrays, which begin where its image does. */
typedef struct kugel__deconv_piece {
  kugel__deconv_box image, mask, start, out; // out: of its results alone
  int64_t from[3], lo[3], n[3];              // in the whole; in the piece, where results start and how many
} kugel__deconv_piece;

/* Arguments of an execution to the job's boxes. */
kugel_status kugel__deconv_take(kugel__deconv_job *j, const kugel_array *image, const kugel_array *mask,
                                const kugel_array *start, const kugel_array *out);
kugel_status kugel__deconv_check_known(const kugel_deconv *p, const kugel_deconv_info *info);
int64_t kugel__deconv_tiles(const kugel_deconv *p);
kugel__deconv_piece kugel__deconv_piece_of(const kugel_deconv *p, int64_t tile);
/* All of info but its size, and that no voxel may be known. */
kugel_status kugel__deconv_run_piece(const kugel_deconv *p, const kugel__deconv_piece *t,
                                     kugel_deconv_info *info);

/* The tile's image, mask and start to its state. */
kugel_status kugel__deconv_load(kugel__deconv_job *j);
kugel_status kugel__deconv_begin(kugel__deconv_job *j);
/* Its results, or zeros where nothing is known, to `out`. */
kugel_status kugel__deconv_store(kugel__deconv_job *j);
void kugel__deconv_blank(kugel__deconv_job *j);
/* Whether a voxel of the tile's image is one of its results. */
bool kugel__deconv_results_at(const kugel__deconv_job *j, int64_t z, int64_t y, int64_t x);

#endif

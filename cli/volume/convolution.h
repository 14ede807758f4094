/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution of the channels of a stack from file to file, box by box. */
#ifndef KUGEL_CLI_VOLUME_CONVOLUTION_H
#define KUGEL_CLI_VOLUME_CONVOLUTION_H

#include <kugel/volume.h>
#include "volume/kernel.h"

/* Kernels, and their plans for images of one shape, which the next image may have too. */
typedef struct convolution {
  kugel_volume_opts opts;
  kernels kernels;
  kugel_volume **plans;      /* of each kernel, or NULL */
  double depth[MOST_DEPTHS]; /* planes of kernels by depth */
  int64_t n[3];              /* of the plans */
  double limit;              /* bytes that the work may take, 0: any */
  int64_t in_bytes,
      out_bytes; /* of them, those of a thread that reads the image, and of one that writes results */
  bool resume;
  int not_finite; /* NaN and infinite voxels: 0 is a failure, 1 they count as 0, 2 they stay */
} convolution;

void convolution_close(convolution *v);

/* What an image of lengths n with kernel `which` takes. bytes: with the voxels in memory. */
typedef struct cost {
  kugel_volume_info info;
  uint64_t library; /* the part of the limit that plans may take */
  double bytes;
} cost;
int convolution_estimate(const convolution *v, int64_t which, const int64_t n[3], kugel_dtype in,
                         kugel_dtype out, cost *c);

/* Of a limit, what is for the plan of this engine and the voxels beside it. */
double convolution_room(const convolution *v, const kernel *k, kugel_volume_engine engine);

/* What is done to one stack: results of channels first ... of `in` go to a stack that opts describes. */
typedef struct passage {
  const stack *in;
  int64_t first;
  const char *target;
  const kugel_image_opts *opts;
  const char *words;           /* options on which results depend */
  int64_t clipped, not_finite; /* receive how many results saturated, how many voxels are NaN or infinite */
} passage;
int convolution_run(convolution *v, passage *p);
kugel_dtype stream_type(kugel_dtype t); /* in which voxels of a type are read, or written */
/* Over all processes, each with its planes from file to file, where `target` is a Zarr; opts has its shape in t and c alone. Collective; this
 * process may have failed before: `code`. */
int convolution_together(convolution *v, passage *p, kugel_image_opts *opts, int code);

#endif

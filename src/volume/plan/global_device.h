/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans over ranks that have a device each: the engines of global.h on these devices, exchanges by wire/wire.h.
 *
 * Tiles: planes of a row of tiles along axis 0 are read where they are, in this rank's image and in the messages that arrived. Rows
 * that need no message are convolved while these are on their way.
 *
 * The whole transform: a rank transforms its slices along y and x, then its lines along z of all slices, whose numbers ranks send each
 * other in pieces of slices, while other pieces are transformed. A slice has points_y rows of `pitch` numbers, of which each rank has
 * a block; the passes along y write rows to the messages where they go, and read them where they arrive. */
#ifndef KUGEL_VOLUME_GLOBAL_DEVICE_H
#define KUGEL_VOLUME_GLOBAL_DEVICE_H

#include "device/lend.h"
#include "volume/gpu/device_plan.h"
#include "volume/plan/global.h"
#include "wire/wire.h"

/* Tiles that share a place along an axis: what they read and write there. */
typedef struct kugel__global_stretch {
  kugel__fused_span data, results;
  int64_t from;   /* where element 0 of the data is in the rank's image */
  int64_t result; /* of the rank's own */
  int64_t part,
      parts; /* axis 0: the data are so many parts, from this one of t->runs[READ] on; 0: they are all in the image */
} kugel__global_stretch;

/* Planes [from, from + count), of the rank's image or of messages that arrived, are [to, ...) of a message or of a row's data. */
typedef struct kugel__global_planes {
  int64_t from, to, count;
  bool arrived;
} kugel__global_planes;

/* Own planes that go to messages; planes of rows whose data are in several places. */
enum { KUGEL__GLOBAL_PACK, KUGEL__GLOBAL_READ, KUGEL__GLOBAL_LISTS };

typedef struct kugel__global_tiles {
  kugel__global_stretch *axis[KUGEL__VOLUME_DIMS]; /* [count[d]] own tiles along each axis */
  int64_t count[KUGEL__VOLUME_DIMS];
  kugel__global_planes *runs[KUGEL__GLOBAL_LISTS];
  int64_t run_count[KUGEL__GLOBAL_LISTS];
  int64_t *sent, *received;     /* [ranks] planes of messages, */
  int64_t *sent_at, *landed_at; /* and where they begin */
  size_t *table;                /* [4][ranks] the same in bytes, of an execution */
  uint32_t *map;                /* host, until it is on the device */
  int64_t words;                /* of the map */
  int64_t *window;              /* [own tiles] where factors begin; -1: a tile has none */
  int64_t factors;
  bool *used; /* [own rows][kernels] by depth */
  kugel__fused *fused;
  void *work[2], *map_memory, *weights, *windows;
} kugel__global_tiles;

enum { KUGEL__GLOBAL_PLANES = 16 }; /* of a kernel, on the host at a time */
/* Slices that are exchanged. */
enum { KUGEL__GLOBAL_DATA, KUGEL__GLOBAL_RESULTS, KUGEL__GLOBAL_KERNEL, KUGEL__GLOBAL_SIDES };
enum { KUGEL__GLOBAL_PIECES = 8 };
typedef struct kugel__global_lines {
  kugel_volume part; /* the plan with spectra of own lines */
  int64_t slice, block,
      own; /* complex numbers of a slice, of what a rank has of it; own lines: a block, or none */
  int64_t rows,
      blocks; /* rows of a block, and ranks that have one: the last one's may have rows beyond the slice */
  int64_t kernel[KUGEL__VOLUME_DIMS],
      *planes;                      /* lengths, folded into those of the axes; [ranks + 1] planes */
  int64_t wide[KUGEL__VOLUME_DIMS]; /* of the image, extended as the boundary says */
  kugel__moves slices, along;       /* of the adjoint: add up what was extended along y and x, and along z */
  kugel_volume flat[2];             /* whose moves these are */
  size_t *table;                    /* [4][ranks] of the messages of a piece */
  kugel__hops *hops[KUGEL__GLOBAL_SIDES][KUGEL__GLOBAL_PIECES][2]; /* of pieces to lines, and back */
  void *
      far; /* u32 [KUGEL__GLOBAL_SIDES][points_y], device memory: where rows are among messages; NULL: one rank has all */
  void *window; /* of own results */
} kugel__global_lines;

typedef struct kugel__global_device {
  kugel__wire *wire;
  kugel_queue *post; /* of messages */
  void *counter;
  kugel__global_tiles *tiles; /* one of both */
  kugel__global_lines *lines;
} kugel__global_device;

/* Device memory of an execution: of tiles messages out and in; of the whole transform a piece of own slices, messages, own
 * lines, those of sums over kernels or folded ones, slices before they are folded. */
enum { KUGEL__GLOBAL_OUT, KUGEL__GLOBAL_IN };
enum {
  KUGEL__GLOBAL_SLICES,
  KUGEL__GLOBAL_MESSAGES,
  KUGEL__GLOBAL_LINES,
  KUGEL__GLOBAL_MORE,
  KUGEL__GLOBAL_WIDE,
  KUGEL__GLOBAL_ROOMS
};

/* Whether the device has room for the plan, of which more is known when the wire has hops. */
kugel_status kugel__global_device_fits(const kugel_volume *p);
/* Collective, within an agreement. */
kugel_status kugel__global_device_create(kugel_volume *p, const kugel_array *kernel);
void kugel__global_device_destroy(kugel_volume *p);
/* Collective, within an agreement: a batch of arrays, in host memory in C order or in that of the rank's device. Returns when it
 * is done. */
kugel_status kugel__global_device_execute(const kugel_volume *p, bool adjoint,
                                          const kugel__volume_argument *in, const kugel__volume_argument *out,
                                          atomic_llong *clipped, kugel_queue *queue);
void kugel__global_device_figures(const kugel_volume *p, kugel_volume_info *info);

/* One image of an execution: arrays of the device, in elements from its buffers' starts. */
typedef struct kugel__global_item {
  const kugel_volume *p;
  bool adjoint;
  kugel__fused_voxels in, out;
  kugel__mem room[KUGEL__GLOBAL_ROOMS];
  kugel_queue *queue;
} kugel__global_item;

/* Gets its memory; settles how this rank has fared, waits for all that is queued, and gives back memory and two loans (NULL: none). count:
 * receives clipped values; NULL: not asked for. */
kugel_status kugel__global_begin(kugel__global_item *it, const size_t *room);
kugel_status kugel__global_end(kugel__global_item *it, kugel_status s, const size_t *room, kugel__loan *loans,
                               uint32_t *count);

/* ---- global_device_tiles.c, with the lists of global_device_rows.c ---- */
kugel_status kugel__global_tiles_create(kugel_volume *p, const kugel_array *kernel);
void kugel__global_tiles_destroy(kugel_volume *p);
/* For voxels of so many bytes. */
void kugel__global_tiles_room(const kugel_volume *p, int64_t size, size_t *room);
/* Queues one image; a failure may be this rank's alone, unless the communicator says that it is settled. */
kugel_status kugel__global_tiles_item(const kugel__global_item *it);
/* Stretches, runs, messages: what each rank works out alike. */
kugel_status kugel__global_rows(const kugel_volume *p, kugel__global_tiles *t);

/* ---- global_device_lines.c ---- */
kugel_status kugel__global_lines_create(kugel_volume *p, const kugel_array *kernel); /* the wire is open */
void kugel__global_lines_destroy(kugel_volume *p);
void kugel__global_lines_room(const kugel_volume *p, bool adjoint, size_t *room);
/* Of the plan, and of an execution of one rank, without the caller's arrays. */
uint64_t kugel__global_lines_bytes(const kugel_volume *p, int ranks);

/* ---- global_device_pieces.c: exchanges of slices and lines ---- */

typedef struct kugel__global_side kugel__global_side;
/* Transforms own slices [z, z + count) to, or from, `work` and the place that kugel__global_place says. */
typedef kugel_status (*kugel__global_step)(const kugel__global_side *side, int64_t z, int64_t count,
                                           kugel__mem work);
struct kugel__global_side {
  const kugel__global_item *it;
  int which;          /* KUGEL__GLOBAL_DATA ... */
  const int64_t *cut; /* [ranks + 1] slices of each rank */
  kugel__global_step step;
  void *arg;
};
/* Where slice z and those behind it are in work memory and in messages. */
void kugel__global_place(const kugel__global_side *side, int64_t z, kugel__fused_job *job);
/* Where messages go in two steps. Collective. */
kugel_status kugel__global_hops(const kugel_volume *p, kugel__global_lines *l);
/* The lists of rows: `far`. */
kugel_status kugel__global_far(const kugel_volume *p, kugel__global_lines *l);
/* The most slices that a step gets, of `count` of a rank. */
int64_t kugel__global_piece(int64_t count);
/* Own slices of all ranks to own lines of all slices, and back. s: how this rank has fared. */
kugel_status kugel__global_to_lines(const kugel__global_side *side, kugel_status s, kugel__mem lines);
kugel_status kugel__global_to_slices(const kugel__global_side *side, kugel_status s, kugel__mem lines);

/* ---- global_device_run.c ---- */
kugel_status kugel__global_lines_item(const kugel__global_item *it);

#endif

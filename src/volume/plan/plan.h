/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of volumes above their engines: which one, tiles, streams; what runs an engine. */
#ifndef KUGEL_VOLUME_PLAN_PLAN_H
#define KUGEL_VOLUME_PLAN_PLAN_H

#include "volume/cpu/volume.h"

/* Planes of a kernel from opts.read_kernel, [count][k[1]][k[2]] of the kernel array's type. */
kugel_status kugel__volume_read_kernel(const kugel_volume *p, int which, int64_t z, int64_t count,
                                       void *values);
/* All of them, in memory of kugel__alloc: the array gets its data. */
kugel_status kugel__volume_whole_kernel(const kugel_volume *p, kugel_array *kernel, char **memory);
/* Takes opts.engine, or what is predicted to be the fastest within the limit of memory, and chooses its parts or tiles. */
kugel_status kugel__volume_choose_engine(kugel_volume *p, const int64_t *n, const int64_t *k);
/* Of memory on the CPU, 0: none. */
uint64_t kugel__volume_limit(const kugel_volume *p);
/* A plan with everything but transforms and spectra; *out is set on failure too. */
kugel_status kugel__volume_start(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                 const kugel_volume_opts *opts, kugel_volume **out);
/* H applied to ones, inverted, in p->window: of plans that hold one, in host memory. */
kugel_status kugel__volume_window(kugel_volume *p);
/* All of info but its size. */
void kugel__volume_figures(const kugel_volume *p, kugel_volume_info *info);
/* Chooses the tile, or takes opts.tile: the fastest one by prediction within `limit` bytes (0: none), at least one voxel. */
kugel_status kugel__volume_choose_tile(kugel_volume *p, const int64_t *k, uint64_t limit);
kugel_status kugel__volume_tiles_create(kugel_volume *p, const kugel_array *kernel);
/* `source`: room for tile + k - 1 numbers. */
kugel__volume_reach kugel__volume_reach_of(const kugel_volume *p, int d, int64_t tile, int64_t *source);
/* The tile with these reaches. in: its image's element 0, or element 0 of `in` itself where an axis has a source. */
kugel_status kugel__volume_run_tile(const kugel_volume *p, const kugel__volume_reach *reach, bool adjoint,
                                    const kugel__volume_box *in, const kugel__volume_box *out,
                                    atomic_llong *clipped);
/* Adds the data of a tile of the adjoint, [reach] in C order of the plan's own type, to the image, whose reals have so many bytes:
 * doubles where many tiles meet, or a boundary repeats a voxel, since each addition rounds. */
size_t kugel__volume_tile_sum_real(const kugel_volume *p);
kugel_status kugel__volume_add_tile(const kugel_volume *p, const kugel__volume_reach *reach, const char *tile,
                                    char *image);
kugel_status kugel__volume_run_tiles(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                     const kugel__volume_box *out, atomic_llong *clipped);
/* Applies H ([n] -> [kernels][m]), or its adjoint. */
kugel_status kugel__volume_run(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                               const kugel__volume_box *out, atomic_llong *clipped);
/* The same between arrays in C order of the plan's own precision (float or double, complex with complex_data) in host
 * memory: iterations that apply H and its adjoint in turn keep their arrays in this form, without padding. */
kugel_status kugel__volume_apply(const kugel_volume *p, bool adjoint, const void *in, void *out);
/* The same of kernels by depth, for an image whose plane 0 is plane `shift` of what the depths count. */
kugel_status kugel__volume_apply_at(const kugel_volume *p, int64_t shift, bool adjoint, const void *in,
                                    void *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution and deconvolution of volumes over the ranks of any engine: how many results are wrong. */
#ifndef KUGEL_TESTS_COMM_VOLUMES_H
#define KUGEL_TESTS_COMM_VOLUMES_H

#include <kugel/deconv.h>
#include <kugel/volume.h>
#include "ranks.h"

// The whole transform of a volume, and tiles: own planes of the results of one process.
static inline int convolution(kugel_comm *comm)
{
  enum { NZ = 12, NY = 7, NX = 9, K = 3 };
  static const int64_t n[3] = {NZ, NY, NX}, k[3] = {K, K, K}, tile[3] = {2, 7, 9};
  static const kugel_volume_engine shared[] = {KUGEL_VOLUME_GLOBAL, KUGEL_VOLUME_TILES};
  double x[NZ * NY * NX], want[NZ * NY * NX], got[NZ * NY * NX], h[K * K * K];
  uint64_t seed = 9;
  int bad = 0;
  for (int i = 0; i < NZ * NY * NX; i++)
    x[i] = check_random(&seed);
  for (int i = 0; i < K * K * K; i++)
    h[i] = check_random(&seed);
  for (int i = 0; i < 2; i++) {
    kugel_volume_opts o = {.size = sizeof o, .extent = KUGEL_CONV_SAME, .tile = tile};
    kugel_volume_info info = {.size = sizeof info};
    kugel_volume *one = NULL, *many = NULL;
    o.engine = i ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_RESIDENT;
    bad += kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(h, KUGEL_F64, K, K, K), &o, &one) != KUGEL_OK;
    o.engine = shared[i];
    o.comm = comm;
    bad += kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(h, KUGEL_F64, K, K, K), &o, &many) != KUGEL_OK;
    bad += kugel_volume_get_info(many, &info) != KUGEL_OK;
    bad += kugel_volume_execute(one, KUGEL_ARRAY(x, KUGEL_F64, NZ, NY, NX),
                                KUGEL_ARRAY(want, KUGEL_F64, NZ, NY, NX), NULL, NULL) != KUGEL_OK;
    bad += kugel_volume_execute(
               many, KUGEL_ARRAY(x + info.image_first * NY * NX, KUGEL_F64, info.image_count, NY, NX),
               KUGEL_ARRAY(got, KUGEL_F64, info.results_count, NY, NX), NULL, NULL) != KUGEL_OK;
    bad += memcmp(got, want + info.results_first * NY * NX, (size_t)(info.results_count * NY * NX) * 8) != 0;
    kugel_volume_destroy(one);
    kugel_volume_destroy(many);
  }
  if (bad)
    printf("rank %d: %d convolutions are wrong: %s\n", rank_of(comm), bad, kugel_last_error());
  return bad;
}

// Three steps of Biggs and Andrews: own planes of the result of one process, or by tiles of one rank.
static inline int sharpening(kugel_comm *comm)
{
  enum { NZ = 70, NY = 6, NX = 5, K = 3 };
  static const int64_t n[3] = {NZ, NY, NX}, k[3] = {K, K, K};
  static double x[NZ * NY * NX], want[NZ * NY * NX], got[NZ * NY * NX], h[K * K * K];
  uint64_t seed = 10;
  int bad = 0;
  for (int i = 0; i < NZ * NY * NX; i++)
    x[i] = 20 + check_random(&seed);
  for (int i = 0; i < K * K * K; i++)
    h[i] = 1.5 + check_random(&seed);
  kugel_comm *self = NULL;
  kugel_comm_opts alone = {.size = sizeof alone, .kind = KUGEL_COMM_SELF};
  bad += kugel_comm_open(NULL, &alone, &self) != KUGEL_OK;
  for (int i = 0; i < 2; i++) {
    kugel_deconv_opts o = {.size = sizeof o, .method = KUGEL_DECONV_BIGGS, .iterations = 3};
    kugel_deconv *one = NULL, *many = NULL;
    kugel_layout *layout = NULL;
    int64_t first = 0, length = 0;
    o.comm = i ? self : NULL;
    o.engine = i ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_AUTO;
    bad += kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(h, KUGEL_F64, K, K, K), &o, &one) != KUGEL_OK;
    o.comm = comm;
    o.engine = i ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_GLOBAL;
    bad += kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(h, KUGEL_F64, K, K, K), &o, &many) != KUGEL_OK;
    bad += kugel_deconv_layout(many, &layout) != KUGEL_OK;
    bad += kugel_layout_runs(layout, rank_of(comm), 1, &first, &length, NULL) != KUGEL_OK;
    bad += kugel_deconv_execute(one, KUGEL_ARRAY(x, KUGEL_F64, NZ, NY, NX), NULL, NULL,
                                KUGEL_ARRAY(want, KUGEL_F64, NZ, NY, NX), NULL) != KUGEL_OK;
    int64_t planes = length / (NY * NX);
    bad += kugel_deconv_execute(many, KUGEL_ARRAY(x + first, KUGEL_F64, planes, NY, NX), NULL, NULL,
                                KUGEL_ARRAY(got, KUGEL_F64, planes, NY, NX), NULL) != KUGEL_OK;
    bad += memcmp(got, want + first, (size_t)length * 8) != 0;
    kugel_layout_destroy(layout);
    kugel_deconv_destroy(one);
    kugel_deconv_destroy(many);
  }
  kugel_comm_destroy(self);
  if (bad)
    printf("rank %d: %d deconvolutions are wrong: %s\n", rank_of(comm), bad, kugel_last_error());
  return bad;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The four linear transforms: arrays are checked once, and go to the plan's device or set by set to the CPU. */
#include "core/alloc.h"
#include "core/parallel.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/gpu.h"
#include "sphere/sht/sht.h"

static kugel_status check_analysis(const kugel_sht *plan)
{
  KUGEL_CHECK(plan->n_alm == plan->n_map, KUGEL_ENOTSUP,
              "gradient modes have no analysis: use kugel_sht_synthesis_adjoint, or a plan of mode SCALAR");
  KUGEL_CHECK(plan->weight_north, KUGEL_ENOTSUP,
              "the grid has no quadrature weights: give ring_weight, or use kugel_sht_solve");
  KUGEL_CHECK(!plan->dist || !plan->resampled, KUGEL_ENOTSUP,
              "lmax is %lld: beyond what the weights of the %lld rings are exact to, analysis resamples in "
              "theta, which "
              "works without ranks only",
              (long long)plan->lmax, (long long)plan->grid->nrings);
  return KUGEL_OK;
}

static kugel_status one_set(const kugel_sht *plan, kugel__sht_verb verb, const kugel__alms *alm,
                            kugel__maps map)
{
  void *clean = NULL;
  if (verb == KUGEL__SHT_SYNTHESIS)
    return plan->ops->synthesis(plan, alm, &map);
  if (verb == KUGEL__SHT_ANALYSIS_ADJOINT)
    return kugel__sht_analyse_adjoint(plan, alm, &map);
  kugel_status s = kugel__sht_clean(plan, &map, &clean);
  if (!s)
    s = verb == KUGEL__SHT_ADJOINT ? plan->ops->adjoint(plan, &map, false, alm, false)
                                   : kugel__sht_analyse(plan, &map, alm);
  kugel__scratch_put(plan->ctx, clean);
  return s;
}

/* Arrays in host memory. */
static kugel_status each_set(const kugel_sht *plan, kugel__sht_verb verb, const kugel_array *alm,
                             const kugel_array *map, int64_t batch, void *arg)
{
  (void)arg;
  for (int64_t b = 0; b < batch; b++) {
    kugel__alms a = kugel__sht_alms(plan, alm, b);
    kugel__span outer = kugel__progress_enter((double)b / (double)batch, (double)(b + 1) / (double)batch);
    kugel_status s = one_set(plan, verb, &a, kugel__sht_maps(plan, map, b));
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

static kugel_status check(const kugel_sht *plan, kugel__sht_verb verb, const kugel_array *alm,
                          const kugel_array *map, int64_t *batch)
{
  KUGEL_TRY(kugel__sht_check(plan, alm, map, batch));
  if (verb == KUGEL__SHT_ANALYSIS || verb == KUGEL__SHT_ANALYSIS_ADJOINT)
    KUGEL_TRY(check_analysis(plan));
  return verb == KUGEL__SHT_ANALYSIS ? kugel__sht_check_band(plan) : KUGEL_OK;
}

/* Collective: all ranks make the transform, or none. */
static kugel_status run_ranks(const kugel_sht *plan, kugel__sht_verb verb, const kugel_array *alm,
                              const kugel_array *map, kugel_queue *queue)
{
  kugel_comm *comm = plan->dist->comm;
  int64_t batch = 0;
  kugel__comm_enter(comm);
  kugel_status s = check(plan, verb, alm, map, &batch);
  kugel__same same[] = {{"the transform", verb},
                        {"the batch", batch},
                        {"the precision of alm", s ? 0 : alm->dtype.bits / 2},
                        {"the precision of maps", s ? 0 : map->dtype.bits},
                        {"the type of memory of alm", s ? 0 : alm->device.type},
                        {"the type of memory of maps", s ? 0 : map->device.type}};
  s = kugel__comm_same(comm, s, sizeof same / sizeof *same, same);
  bool there = !s && (kugel__sht_there(alm) || kugel__sht_there(map));
  if (!s)
    s = there ? plan->ops->arrays(plan, verb, alm, map, batch, queue)
              : each_set(plan, verb, alm, map, batch, NULL);
  return kugel__comm_leave(comm, s);
}

static kugel_status run(const kugel_sht *plan, kugel__sht_verb verb, const kugel_array *alm,
                        const kugel_array *map, kugel_queue *queue)
{
  int64_t batch;
  bool analysis = verb == KUGEL__SHT_ANALYSIS || verb == KUGEL__SHT_ANALYSIS_ADJOINT;
  if (plan && plan->dist)
    return run_ranks(plan, verb, alm, map, queue);
  KUGEL_TRY(check(plan, verb, alm, map, &batch));
  if (!kugel__sht_there(alm) && !kugel__sht_there(map))
    return each_set(plan, verb, alm, map, batch, NULL);
  // Rows of equal angles that lack rings are resampled in theta on the CPU.
  return analysis && plan->latlon ? kugel__sht_gpu_by_host(plan, verb, alm, map, batch, each_set, NULL, queue)
                                  : plan->ops->arrays(plan, verb, alm, map, batch, queue);
}

kugel_status kugel_sht_synthesis(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                 kugel_queue *queue)
{
  return run(plan, KUGEL__SHT_SYNTHESIS, alm, map, queue);
}

kugel_status kugel_sht_synthesis_adjoint(const kugel_sht *plan, const kugel_array *map,
                                         const kugel_array *alm, kugel_queue *queue)
{
  return run(plan, KUGEL__SHT_ADJOINT, alm, map, queue);
}

kugel_status kugel_sht_analysis(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                                kugel_queue *queue)
{
  return run(plan, KUGEL__SHT_ANALYSIS, alm, map, queue);
}

kugel_status kugel_sht_analysis_adjoint(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                        kugel_queue *queue)
{
  return run(plan, KUGEL__SHT_ANALYSIS_ADJOINT, alm, map, queue);
}

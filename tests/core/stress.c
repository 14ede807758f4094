/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads at once: plans of every kind that all share, contexts and plans of their own made and destroyed meanwhile,
 * calls cancelled, scratch memory trimmed, numbers of threads changed. Results are those of one thread, bit by bit.
 * Under TSan (preset tsan) no access races. */
#include <pthread.h>
#include <stdatomic.h>
#include "check.h"
#include <kugel/kugel.h>

enum {
  THREADS = 12,
  ROUNDS = 6,
  LMAX = 24,
  NSIDE = 8,
  NPIX = 12 * NSIDE * NSIDE,
  ROWS = 200,
  SYSTEMS = 5,
  LINE = 1500,
  TAPS = 31
};
enum { FFT, REAL_FFT, CONV, SHT, SMOOTH, RADIAL, BANDED, JOBS };
enum {
  NALM = (LMAX + 1) * (LMAX + 2) / 2,
  LARGEST = 2 * 48 * 50,
  LONG_NSIDE = 64,
  LONG_PIXELS = 12 * 64 * 64
};

typedef struct plans {
  kugel_ctx *ctx;
  kugel_fft *fft, *real_fft;
  kugel_conv *conv;
  kugel_grid *grid;
  kugel_sht *sht;
  kugel_radial *radial;
  kugel_banded *banded;
} plans;

static double input[LARGEST], want[JOBS][LARGEST];
static plans shared;
static kugel_sht *slow; // analysis with many iterations, to be cancelled
static double slow_map[LONG_PIXELS];
static atomic_int wrong, failures, cancelled;

static kugel_status make(int threads, plans *p)
{
  *p = (plans){.ctx = NULL};
  kugel_ctx_opts co = {.size = sizeof co, .threads = threads};
  kugel_status s = kugel_ctx_create(&co, &p->ctx);
  s = s ? s : kugel_ctx_limit_memory(p->ctx, 1 << 26);
  const int64_t n[2] = {48, 50}, line = LINE, taps = TAPS;
  s = s ? s : kugel_fft_create(p->ctx, 2, n, NULL, &p->fft);
  kugel_fft_opts fo = {.size = sizeof fo, .kind = KUGEL_FFT_R2C};
  s = s ? s : kugel_fft_create(p->ctx, 1, &line, &fo, &p->real_fft);
  s = s ? s : kugel_conv_create(p->ctx, 1, &line, &taps, KUGEL_ARRAY(input, KUGEL_F64, TAPS), NULL, &p->conv);
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE};
  s = s ? s : kugel_grid_create(p->ctx, &go, &p->grid);
  kugel_sht_opts so = {.size = sizeof so, .grid = p->grid, .lmax = LMAX, .iterations = 1};
  s = s ? s : kugel_sht_create(p->ctx, &so, &p->sht);
  kugel_radial_opts ro = {.size = sizeof ro, .grid = p->grid, .width = 0.2};
  s = s ? s : kugel_radial_create(p->ctx, &ro, &p->radial);
  static const double off[ROWS] = {0.25, -0.5, 0.125};
  kugel_banded_opts bo = {
      .size = sizeof bo, .kind = KUGEL_BANDED_TRIDIAGONAL, .n = ROWS, .lower = off, .upper = off};
  return s ? s : kugel_banded_create(p->ctx, &bo, &p->banded);
}

static void destroy(plans *p)
{
  kugel_ctx_destroy(p->ctx); // the plans keep it
  kugel_fft_destroy(p->fft);
  kugel_fft_destroy(p->real_fft);
  kugel_conv_destroy(p->conv);
  kugel_sht_destroy(p->sht);
  kugel_radial_destroy(p->radial);
  kugel_banded_destroy(p->banded);
  kugel_grid_destroy(p->grid);
}

static kugel_status run(const plans *p, int job, double *out)
{
  double *in = input;
  switch (job) {
  case FFT:
    return kugel_fft_execute(p->fft, KUGEL_FORWARD, KUGEL_ARRAY(in, KUGEL_C128, 48, 50),
                             KUGEL_ARRAY(out, KUGEL_C128, 48, 50), NULL);
  case REAL_FFT:
    return kugel_fft_execute(p->real_fft, KUGEL_FORWARD, KUGEL_ARRAY(in, KUGEL_F64, 3, LINE),
                             KUGEL_ARRAY(out, KUGEL_C128, 3, LINE / 2 + 1), NULL);
  case CONV:
    return kugel_conv_execute(p->conv, KUGEL_ARRAY(in, KUGEL_F64, 3, LINE),
                              KUGEL_ARRAY(out, KUGEL_F64, 3, LINE + TAPS - 1), NULL);
  case SHT:
    return kugel_sht_analysis(p->sht, KUGEL_ARRAY(in, KUGEL_F64, NPIX), KUGEL_ARRAY(out, KUGEL_C128, NALM),
                              NULL);
  case SMOOTH: {
    kugel_smooth_opts o = {.size = sizeof o, .grid = p->grid, .lmax = LMAX, .fwhm = 0.2};
    return kugel_smooth(p->ctx, &o, KUGEL_ARRAY(in, KUGEL_F64, 3, NPIX), KUGEL_ARRAY(out, KUGEL_F64, 3, NPIX),
                        NULL);
  }
  case RADIAL:
    return kugel_radial_execute(p->radial, KUGEL_ARRAY(in, KUGEL_F64, NPIX),
                                KUGEL_ARRAY(out, KUGEL_F64, NPIX), NULL);
  default:
    return kugel_banded_solve(p->banded, KUGEL_ARRAY(in, KUGEL_F64, SYSTEMS, ROWS),
                              KUGEL_ARRAY(out, KUGEL_F64, SYSTEMS, ROWS), NULL);
  }
}

static void run_all(const plans *p, int first, double *out)
{
  for (int i = 0; i < JOBS; i++) {
    int job = (first + i) % JOBS;
    memset(out, 0, sizeof want[0]);
    failures += run(p, job, out) != KUGEL_OK;
    wrong += memcmp(out, want[job], sizeof want[0]) != 0;
  }
}

static int stop(double fraction, const char *stage, void *user)
{
  (void)stage, ++*(int *)user;
  return fraction > 0; // in the first report of a call that began 20 ms ago
}

static int go_on(double fraction, const char *stage, void *user)
{
  (void)fraction, (void)stage, ++*(int *)user;
  return 0;
}

static void cancel_one(double *alm)
{
  int reports = 0;
  kugel_set_progress(stop, &reports);
  kugel_status s = kugel_sht_analysis(slow, KUGEL_ARRAY(slow_map, KUGEL_F64, LONG_PIXELS),
                                      KUGEL_ARRAY(alm, KUGEL_C128, NALM), NULL);
  kugel_set_progress(NULL, NULL);
  failures += s != KUGEL_OK && s != KUGEL_ECANCELED;
  cancelled += s == KUGEL_ECANCELED;
}

static void *work(void *arg)
{
  int me = *(const int *)arg, reports = 0;
  double *out = malloc(sizeof want[0]);
  for (int round = 0; out && round < ROUNDS; round++) {
    plans own;
    uint64_t now, peak;
    switch ((me + round) % 4) {
    case 0:
      failures += make(1 + me % 3, &own) != KUGEL_OK;
      run_all(&own, me, out);
      destroy(&own);
      break;
    case 1:
      if (round < 2)
        cancel_one(out);
      break;
    case 2:
      failures += kugel_set_num_threads(1 + (me + round) % 4) != KUGEL_OK;
      kugel_ctx_trim(me % 2 ? shared.ctx : NULL);
      kugel_ctx_memory(shared.ctx, &now, &peak);
      failures += now > peak;
      break;
    default:
      kugel_set_progress(go_on, &reports);
    }
    run_all(&shared, me + round, out);
    kugel_set_progress(NULL, NULL);
  }
  failures += !out;
  free(out);
  return NULL;
}

static int more_threads(double fraction, const char *stage, void *user)
{
  (void)fraction, (void)stage, ++*(int *)user;
  kugel_set_num_threads(16);
  return 0;
}

/* Scratch memory that a call has for one worker stays that of one, though the number of threads grows meanwhile. */
static void grow_within_call(void)
{
  static double want_alm[2 * NALM], alm[2 * NALM];
  int reports = 0;
  kugel_set_num_threads(1);
  CHECK_OK(kugel_sht_analysis(slow, KUGEL_ARRAY(slow_map, KUGEL_F64, LONG_PIXELS),
                              KUGEL_ARRAY(want_alm, KUGEL_C128, NALM), NULL));
  kugel_set_progress(more_threads, &reports);
  CHECK_OK(kugel_sht_analysis(slow, KUGEL_ARRAY(slow_map, KUGEL_F64, LONG_PIXELS),
                              KUGEL_ARRAY(alm, KUGEL_C128, NALM), NULL));
  kugel_set_progress(NULL, NULL);
  kugel_set_num_threads(0);
  CHECK(reports > 0);
  CHECK(!memcmp(alm, want_alm, sizeof alm));
}

int main(void)
{
  uint64_t seed = 3;
  for (int i = 0; i < LARGEST; i++)
    input[i] = check_random(&seed);
  for (int i = 0; i < LONG_PIXELS; i++)
    slow_map[i] = check_random(&seed);
  CASE("one thread, then twelve that share plans and make their own")
  {
    plans serial;
    CHECK_OK(make(1, &serial));
    for (int job = 0; job < JOBS; job++)
      CHECK_OK(run(&serial, job, want[job]));
    destroy(&serial);
    kugel_grid *grid = NULL;
    kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = LONG_NSIDE};
    CHECK_OK(kugel_grid_create(NULL, &go, &grid));
    kugel_sht_opts o = {.size = sizeof o, .grid = grid, .lmax = LMAX, .iterations = 2000};
    CHECK_OK(kugel_sht_create(NULL, &o, &slow));
    grow_within_call();
    CHECK_OK(make(3, &shared));
    pthread_t t[THREADS];
    int id[THREADS];
    for (int i = 0; i < THREADS; i++) {
      id[i] = i;
      CHECK(!pthread_create(&t[i], NULL, work, &id[i]));
    }
    for (int i = 0; i < THREADS; i++)
      pthread_join(t[i], NULL);
    printf("  %d calls cancelled\n", (int)cancelled);
    CHECK(failures == 0);
    CHECK(wrong == 0);
    CHECK(cancelled > 0);
    kugel_set_num_threads(0);
    destroy(&shared);
    kugel_sht_destroy(slow);
    kugel_grid_destroy(grid);
  }
  END();
}

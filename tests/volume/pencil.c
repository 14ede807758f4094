/* SPDX-License-Identifier: BSD-3-Clause */
/* Volumes by way of a file: chosen where a kernel as large as the image does not fit, slab by slab from callbacks to callbacks,
 * stopped and continued, and what happens where there is no file. */
#include "check.h"
#include "core/parallel.h"
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <kugel/volume.h>
#include "sweep.h"

enum { Z = 30, Y = 26, X = 28, ALL = Z * Y * X };
static float image[ALL], kernel[ALL], whole[2 * ALL], got[2 * ALL];
static int touched[ALL], wrote[ALL];
static char folder[] = "/tmp/kugel-pencil-XXXXXX";

typedef struct file {
  int64_t stop, done, kernels, refuse; // refuse: slice whose reading fails
} file;

static int read_box(void *user, const int64_t *lo, const int64_t *n, void *values)
{
  const file *f = user;
  int64_t at = lo[0] * Y * X, count = n[0] * n[1] * n[2];
  if (n[1] != Y || n[2] != X || lo[0] < 0 || lo[0] + n[0] > Z || lo[0] == f->refuse)
    return 7;
  memcpy(values, image + at, (size_t)count * 4);
  for (int64_t i = 0; i < count; i++)
    touched[at + i]++;
  return 0;
}

static int write_box(void *user, const int64_t *lo, const int64_t *n, const void *values)
{
  const file *f = user;
  int64_t at = lo[0] * Y * X, count = n[0] * n[1] * n[2];
  for (int64_t q = 0; q < f->kernels; q++)
    memcpy(got + q * ALL + at, (const float *)values + q * count, (size_t)count * 4);
  for (int64_t i = 0; i < count; i++)
    wrote[at + i]++;
  return 0;
}

static int done_box(void *user, int64_t box, int64_t boxes)
{
  file *f = user;
  CHECK(box < boxes && box == f->done);
  f->done = box + 1;
  return f->stop > 0 && f->done == f->stop;
}

static kugel_volume_stream_opts stream_of(file *f)
{
  memset(touched, 0, sizeof touched);
  memset(wrote, 0, sizeof wrote);
  return (kugel_volume_stream_opts){sizeof(kugel_volume_stream_opts),
                                    .in = KUGEL_F32,
                                    .out = KUGEL_F32,
                                    .read = read_box,
                                    .write = write_box,
                                    .done = done_box,
                                    .user = f};
}

static kugel_volume_opts opts_of(kugel_boundary boundary, kugel_volume_engine engine)
{
  return (kugel_volume_opts){.size = sizeof(kugel_volume_opts),
                             .extent = KUGEL_CONV_SAME,
                             .boundary = boundary,
                             .precision = KUGEL_PRECISION_F32,
                             .engine = engine,
                             .scratch = folder};
}

static kugel_volume *plan_of(kugel_ctx *ctx, const kugel_volume_opts *o)
{
  int64_t n[3] = {Z, Y, X};
  kugel_volume *plan = NULL;
  kugel_array *h =
      o->kernels ? KUGEL_ARRAY(kernel, KUGEL_F32, 2, Z / 2, Y, X) : KUGEL_ARRAY(kernel, KUGEL_F32, Z, Y, X);
  int64_t k[3] = {o->kernels ? Z / 2 : Z, Y, X};
  CHECK_OK(kugel_volume_create(ctx, 3, n, k, h, o, &plan));
  return plan;
}

static void whole_of(kugel_volume_opts o, kugel_volume_info *info)
{
  o.engine = KUGEL_VOLUME_RESIDENT;
  kugel_volume *plan = plan_of(NULL, &o);
  CHECK_OK(kugel_volume_get_info(plan, info));
  CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F32, Z, Y, X),
                                o.kernels ? KUGEL_ARRAY(whole, KUGEL_F32, 2, Z, Y, X)
                                          : KUGEL_ARRAY(whole, KUGEL_F32, Z, Y, X),
                                NULL, NULL));
  kugel_volume_destroy(plan);
}

static void agrees(int64_t count)
{
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, fabs((double)got[i] - whole[i]));
    scale = fmax(scale, fabs((double)whole[i]));
  }
  CHECK_LE(worst / scale, 3e-7);
}

static int files_in_folder(void)
{
  int count = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
    count += e->d_name[0] != '.' || strlen(e->d_name) > 2;
  closedir(d);
  return count;
}

// A limit far below the padded volume: chosen, within the limit, each voxel read and written once.
static void chosen_and_streamed(kugel_boundary boundary, int kernels)
{
  kugel_volume_info info = {.size = sizeof info}, resident = {.size = sizeof resident};
  kugel_volume_opts o = opts_of(boundary, KUGEL_VOLUME_AUTO);
  o.kernels = kernels;
  whole_of(o, &resident);
  kugel_ctx *ctx;
  CHECK_OK(kugel_ctx_create(NULL, &ctx));
  // where a boundary repeats values, lines that the adjoint has in double do not depend on the volume's width
  uint64_t limit = resident.host_bytes /
                   (boundary == KUGEL_BOUNDARY_REPLICATE || boundary == KUGEL_BOUNDARY_REFLECT ? 6 : 8);
  CHECK_OK(kugel_ctx_limit_memory(ctx, limit));
  kugel_volume *plan = plan_of(ctx, &o);
  CHECK_OK(kugel_volume_get_info(plan, &info));
  CHECK(info.engine == KUGEL_VOLUME_PENCIL && info.tiles > 2 && info.tile[0] < Z && info.scratch_bytes > 0);
  CHECK(info.host_bytes <= limit);
  file f = {.kernels = kernels ? 2 : 1, .refuse = -1};
  kugel_volume_stream_opts so = stream_of(&f);
  CHECK_OK(kugel_volume_stream(plan, &so));
  agrees((kernels ? 2 : 1) * ALL);
  for (int i = 0; i < ALL; i++)
    if (touched[i] != 1 || wrote[i] != 1)
      CHECK_FAIL("voxel %d was read %d times and written %d times", i, touched[i], wrote[i]);
  CHECK(f.done == info.tiles && files_in_folder() == 0);
  kugel_volume_destroy(plan);
  kugel_ctx_destroy(ctx);
}

static void continues(void)
{
  int64_t tile[3] = {4, 1, 1};
  kugel_volume_info info = {.size = sizeof info};
  kugel_volume_opts o = opts_of(KUGEL_BOUNDARY_UNKNOWN, KUGEL_VOLUME_PENCIL);
  whole_of(o, &info);
  o.tile = tile;
  kugel_volume *plan = plan_of(NULL, &o);
  memset(got, 0, sizeof got);
  file f = {.kernels = 1, .stop = 3, .refuse = -1};
  kugel_volume_stream_opts so = stream_of(&f);
  CHECK_IS(kugel_volume_stream(plan, &so), KUGEL_ECANCELED);
  CHECK(f.done == 3 && wrote[12 * Y * X - 1] == 1 && wrote[12 * Y * X] == 0);
  so = stream_of(&f);
  so.first = 3;
  f.stop = 0;
  CHECK_OK(kugel_volume_stream(plan, &so));
  CHECK(f.done == 8 && wrote[12 * Y * X - 1] == 0 && wrote[12 * Y * X] == 1);
  agrees(ALL);
  so = stream_of(&f);
  so.first = 8;
  CHECK_OK(kugel_volume_stream(plan, &so)); // nothing is left
  CHECK(touched[0] == 0);
  so.first = 9;
  CHECK_IS(kugel_volume_stream(plan, &so), KUGEL_EINVAL);
  f.refuse = 8;
  so.first = 0;
  CHECK_IS(kugel_volume_stream(plan, &so), KUGEL_EIO);
  CHECK(strstr(kugel_last_error(), "returned 7 at slice 8") && files_in_folder() == 0);
  kugel_volume_destroy(plan);
}

static int stops(double fraction, const char *stage, void *user)
{
  (void)stage;
  return fraction >= *(const double *)user;
}

static void is_cancelled(void)
{
  kugel_volume_opts o = opts_of(KUGEL_BOUNDARY_ZERO, KUGEL_VOLUME_PENCIL);
  int64_t tile[3] = {4, 1, 1};
  o.tile = tile;
  kugel_volume *plan = plan_of(NULL, &o);
  double before = kugel__progress_interval(0);
  for (double at = 0.1; at < 0.8; at += 0.6) {
    file f = {.kernels = 1, .refuse = -1};
    kugel_volume_stream_opts so = stream_of(&f);
    kugel_set_progress(stops, &at);
    CHECK_IS(kugel_volume_stream(plan, &so), KUGEL_ECANCELED);
    kugel_set_progress(NULL, NULL);
    CHECK((at < 0.2 ? f.done == 0 : f.done > 0 && f.done < 8) && files_in_folder() == 0);
  }
  kugel__progress_interval(before);
  kugel_volume_destroy(plan);
}

// A picture is a volume with one row a slice.
static void pictures(void)
{
  int64_t n[3] = {Z, 1, X}, flat[2] = {Z, X}, tile[3] = {7, 1, 1};
  kugel_volume_opts o = opts_of(KUGEL_BOUNDARY_REFLECT, KUGEL_VOLUME_PENCIL);
  kugel_volume *plan = NULL;
  CHECK_IS(kugel_volume_create(NULL, 2, flat, flat, KUGEL_ARRAY(kernel, KUGEL_F32, Z, X), &o, &plan),
           KUGEL_ENOTSUP);
  CHECK(strstr(kugel_last_error(), "(y, 1, x)"));
  o.tile = tile;
  CHECK_OK(kugel_volume_create(NULL, 3, n, n, KUGEL_ARRAY(kernel, KUGEL_F32, Z, 1, X), &o, &plan));
  CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F32, Z, 1, X),
                                KUGEL_ARRAY(got, KUGEL_F32, Z, 1, X), NULL, NULL));
  kugel_volume_destroy(plan);
  o.engine = KUGEL_VOLUME_RESIDENT;
  CHECK_OK(kugel_volume_create(NULL, 2, flat, flat, KUGEL_ARRAY(kernel, KUGEL_F32, Z, X), &o, &plan));
  CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F32, Z, X),
                                KUGEL_ARRAY(whole, KUGEL_F32, Z, X), NULL, NULL));
  kugel_volume_destroy(plan);
  agrees(Z * X);
}

static void no_room(void)
{
  int64_t n[3] = {Z, Y, X};
  kugel_array *h = KUGEL_ARRAY(kernel, KUGEL_F32, Z, Y, X);
  kugel_volume *plan = NULL;
  kugel_volume_opts o = opts_of(KUGEL_BOUNDARY_ZERO, KUGEL_VOLUME_PENCIL);
  o.scratch = "/nowhere/at/all";
  CHECK_IS(kugel_volume_create(NULL, 3, n, n, h, &o, &plan), KUGEL_EIO);
  CHECK(!plan && strstr(kugel_last_error(), "'/nowhere/at/all': No such file"));
  struct rlimit old, little = {.rlim_cur = 100000};
  signal(SIGXFSZ, SIG_IGN);
  CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
  little.rlim_max = old.rlim_max;
  o.scratch = folder;
  CHECK(setrlimit(RLIMIT_FSIZE, &little) == 0);
  CHECK_IS(kugel_volume_create(NULL, 3, n, n, h, &o, &plan), KUGEL_EIO);
  CHECK(!plan && strstr(kugel_last_error(), "MB of scratch") && strstr(kugel_last_error(), "File too large"));
  CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
  kugel_ctx *ctx;
  CHECK_OK(kugel_ctx_create(NULL, &ctx));
  CHECK_OK(kugel_ctx_limit_memory(ctx, 2000));
  CHECK_IS(kugel_volume_create(ctx, 3, n, n, h, &o, &plan), KUGEL_ENOMEM);
  CHECK(strstr(kugel_last_error(), "for a slice and lines along axis 0"));
  kugel_ctx_destroy(ctx);
  setenv("TMPDIR", "/nowhere/else", 1);
  o.scratch = NULL;
  CHECK_IS(kugel_volume_create(NULL, 3, n, n, h, &o, &plan), KUGEL_EIO);
  CHECK(strstr(kugel_last_error(), "/nowhere/else"));
  CHECK(files_in_folder() == 0);
}

static kugel_status once(void *none)
{
  (void)none;
  int64_t n[3] = {Z, Y, X}, k[3] = {3, 4, 5}, tile[3] = {9, 1, 1};
  kugel_volume_opts o = opts_of(KUGEL_BOUNDARY_UNKNOWN, KUGEL_VOLUME_PENCIL);
  o.tile = tile;
  kugel_volume *plan;
  kugel_status s = kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F32, 3, 4, 5), &o, &plan);
  file f = {.kernels = 1, .refuse = -1};
  kugel_volume_stream_opts so = stream_of(&f);
  if (!s)
    s = kugel_volume_stream(plan, &so);
  kugel_volume_destroy(plan);
  return s;
}

static void memory_runs_out(void)
{
  sweep_allocations(once, NULL);
  CHECK(files_in_folder() == 0);
}

int main(void)
{
  CHECK_OK(
      kugel_set_num_threads(1)); // limits of memory are for small volumes, and each thread has its scratch
  uint64_t seed = 8;
  CHECK(mkdtemp(folder) != NULL);
  for (int i = 0; i < ALL; i++) {
    image[i] = (float)check_random(&seed);
    kernel[i] = (float)(check_random(&seed) + 1.5);
  }
  CASE("chosen where a kernel as large as the image does not fit; slab by slab, each voxel once")
  for (int b = KUGEL_BOUNDARY_ZERO; b <= KUGEL_BOUNDARY_UNKNOWN; b++)
    chosen_and_streamed((kugel_boundary)b, 0);
  CASE("several kernels")
  chosen_and_streamed(KUGEL_BOUNDARY_UNKNOWN, 2);
  CASE("what was stopped continues")
  continues();
  CASE("cancelled from the progress callback in each pass")
  is_cancelled();
  CASE("pictures are volumes of one row a slice")
  pictures();
  CASE("each allocation may fail")
  memory_runs_out();
  CASE("no folder, no space, no memory: a sentence each")
  no_room();
  rmdir(folder);
  END();
}

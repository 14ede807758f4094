/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <kugel/psf.h>
#include "volume/kernel.h"

static int open_all(kernels *k, int64_t count)
{
  k->of = calloc((size_t)count, sizeof *k->of);
  k->count = k->files = k->of ? count : 0;
  return k->of ? EXIT_DONE : fail("no memory for %lld kernels", (long long)count);
}

static int check_numbers(const ndarray *a)
{
  for (int64_t i = 0; i < ndarray_count(a); i++)
    if (!isfinite(a->single ? (double)((float *)a->data)[i] : ((double *)a->data)[i])) {
      int64_t n[3];
      volume_shape(a, n);
      return fail("%s is not finite at voxel %lld, %lld, %lld: mend it", a->path,
                  (long long)(i / (n[1] * n[2])), (long long)(i / n[2] % n[1]), (long long)(i % n[2]));
    }
  return EXIT_DONE;
}

static int read_one(kernel *k, int bits)
{
  STEP(volume_read(&k->array, k->path, k->channel, bits, k->voxel));
  return check_numbers(&k->array);
}

static int inspect(kernel *k, double *bytes)
{
  STEP(volume_inspect(&k->array, k->path, k->channel, k->voxel, &k->thread_bytes));
  volume_shape(&k->array, k->shape);
  *bytes += (double)ndarray_count(&k->array) * 8;
  return EXIT_DONE;
}

/* The files and channels that an operand names. */
static int take_names(kernels *k, const char *operand)
{
  struct stat st;
  k->text = strdup(operand);
  if (!k->text)
    return fail("no memory for a name");
  if (stat(operand, &st) != 0 && strchr(operand, ',')) { /* one file a channel */
    int64_t count = 1;
    for (const char *at = operand; (at = strchr(at, ',')); at++)
      count++;
    STEP(open_all(k, count));
    char *at = k->text, *next;
    for (int64_t i = 0; i < count; i++, at = next) {
      next = at + strcspn(at, ",") + 1;
      next[-1] = 0;
      k->of[i] = (kernel){.path = at, .channel = -1};
    }
    return EXIT_DONE;
  }
  STACK s = {0};
  STEP(stack_open(&s, operand, 0));
  int64_t channels = s.info.shape[1];
  STEP(open_all(k, channels));
  for (int64_t i = 0; i < channels; i++)
    k->of[i] = (kernel){.path = k->text, .channel = channels > 1 ? i : -1};
  return EXIT_DONE;
}

int kernels_read(kernels *k, const char *operand, int bits, double most)
{
  double bytes = 0;
  STEP(take_names(k, operand));
  for (int64_t i = 0; i < k->count; i++)
    STEP(inspect(&k->of[i], &bytes));
  for (int64_t i = 0; i < k->count && (!(most > 0) || bytes <= most); i++)
    STEP(read_one(&k->of[i], bits));
  return EXIT_DONE;
}

double kernels_bytes(const kernels *k)
{
  double bytes = 0;
  for (int64_t i = 0; i < k->count; i++)
    bytes += k->of[i].array.data ? ndarray_bytes(&k->of[i].array) : 0;
  return bytes;
}

/* ---- kernels in their files ---- */

void kernel_reader_close(kernel_reader *r)
{
  stack_close(&r->file);
}

static int read_planes(kernel_reader *r, int64_t which, const int64_t *lo, const int64_t *n, double *values)
{
  const kernel *k = r->of + which;
  kugel_array view = {values, {KUGEL_CPU, 0}, 3, KUGEL_F64, (int64_t *)n, NULL, 0};
  if (!r->file.image || r->now != which) {
    stack_close(&r->file);
    r->file = (stack){0};
    r->now = which;
    STEP(stack_open(&r->file, k->path, 0));
  }
  LIB(kugel_image_read(r->file.image, 0, k->channel < 0 ? 0 : k->channel, lo, n, &view));
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    if (!isfinite(values[i]))
      return fail("%s is not finite at voxel %lld, %lld, %lld: mend it", k->path,
                  (long long)(lo[0] + i / (n[1] * n[2])), (long long)(lo[1] + i / n[2] % n[1]),
                  (long long)(lo[2] + i % n[2]));
    values[i] /= k->sum != 0 ? k->sum : 1;
  }
  return interrupted() ? fail_interrupted() : EXIT_DONE;
}

int kernel_read(void *reader, const int64_t *lo, const int64_t *n, void *values)
{
  kernel_reader *r = reader;
  int skip = r->of->depths ? 1 : 0;
  return r->code = read_planes(r, skip ? lo[0] : 0, lo + skip, n + skip, values);
}

/* Plane by plane. */
static int visit(const kernel *k, void (*see)(void *user, const double *values, int64_t count), void *user)
{
  KERNEL_READER r = {.of = k};
  int64_t plane = k->shape[1] * k->shape[2], lo[3] = {0, 0, 0}, n[3] = {1, k->shape[1], k->shape[2]};
  if (k->array.data) {
    see(user, k->array.data, ndarray_count(&k->array));
    return EXIT_DONE;
  }
  OWNED double *values = malloc((size_t)plane * 8);
  if (!values)
    return fail("no memory for a plane of %s", k->path);
  for (; lo[0] < k->shape[0]; lo[0]++) {
    STEP(read_planes(&r, 0, lo, n, values));
    see(user, values, plane);
  }
  return EXIT_DONE;
}

/* ---- all values ---- */

static void add_up(void *sum, const double *values, int64_t count)
{
  for (int64_t i = 0; i < count; i++)
    *(double *)sum += values[i];
}

int kernels_normalise(kernels *k)
{
  for (int64_t q = 0; q < k->count; q++) {
    kernel *one = &k->of[q];
    double sum = 0, *h = one->array.data;
    STEP(visit(one, add_up, &sum));
    if (!(fabs(sum) > 0))
      return fail("%s has the sum 0: it cannot be made 1", one->path);
    for (int64_t i = 0; h && i < ndarray_count(&one->array); i++)
      h[i] /= sum;
    one->sum = sum;
  }
  return EXIT_DONE;
}

static void add_bytes(void *hash, const double *values, int64_t count) /* FNV-1a */
{
  const unsigned char *bytes = (const unsigned char *)values;
  uint64_t h = *(uint64_t *)hash;
  for (int64_t b = 0; b < 8 * count; b++)
    h = (h ^ bytes[b]) * 1099511628211u;
  *(uint64_t *)hash = h;
}

int kernels_hash(const kernels *k, uint64_t *hash)
{
  *hash = 14695981039346656037u;
  for (int64_t i = 0; i < k->count; i++) {
    int64_t parts = k->of[i].array.data || !k->of[i].depths ? 1 : k->of[i].depths;
    for (int64_t d = 0; d < parts; d++)
      STEP(visit(&k->of[i + d], add_bytes, hash));
    for (int d = 0; d < 3; d++)
      *hash = (*hash ^ (uint64_t)k->of[i].shape[d]) * 1099511628211u;
  }
  return EXIT_DONE;
}

/* ---- the centre ---- */

static double value_at(const kernel *k, const int64_t at[3])
{
  int64_t i = (at[0] * k->shape[1] + at[1]) * k->shape[2] + at[2];
  return k->array.single ? (double)((float *)k->array.data)[i] : ((double *)k->array.data)[i];
}

/* Of the two middle elements of the line through the brightest one; the first, if they are equal. */
static int bright_centre(kernel *k)
{
  kugel_psf_report r = {.size = sizeof r};
  kugel_array view = ndarray_view(&k->array);
  if (!k->array.data)
    return fail("--centre auto: %s is too large to be in memory: name its element, Z,Y,X, or give middle",
                k->path);
  LIB(kugel_psf_check(NULL, &view, NULL, &r));
  for (int d = 0; d < 3; d++) {
    int64_t at[3] = {r.peak[0], r.peak[1], r.peak[2]};
    if (k->shape[d] % 2)
      continue;
    at[d] = k->shape[d] / 2 - 1;
    double first = value_at(k, at);
    at[d]++;
    double second = value_at(k, at);
    k->centre[d] += second > first * (1 + 1e-6) ? 1 : 0;
    k->between |= fabs(second - first) <= 1e-3 * r.largest;
  }
  return EXIT_DONE;
}

static int given_centre(kernel *k, const char *text)
{
  long long at[3];
  char end;
  if (sscanf(text, "%lld,%lld,%lld%c", &at[0], &at[1], &at[2], &end) != 3)
    return fail_usage("--centre %.60s: must be auto, middle, or an element Z,Y,X", text);
  for (int d = 0; d < 3; d++) {
    if (at[d] < 0 || at[d] >= k->shape[d])
      return fail_usage("--centre %.60s: %s has %lld x %lld x %lld elements, counted from 0", text, k->path,
                        (long long)k->shape[0], (long long)k->shape[1], (long long)k->shape[2]);
    k->centre[d] = at[d];
  }
  return EXIT_DONE;
}

int kernels_centre(kernels *k, const char *text)
{
  for (int64_t i = 0; i < k->files; i++) {
    kernel *one = &k->of[i];
    for (int d = 0; d < 3; d++)
      one->centre[d] = (one->shape[d] - 1) / 2;
    if (!strcmp(text, "middle"))
      continue;
    STEP(strcmp(text, "auto") ? given_centre(one, text) : bright_centre(one));
  }
  return EXIT_DONE;
}

/* ---- kernels by depth ---- */

static int parse_depths(const char *text, double plane[MOST_DEPTHS], int64_t *count)
{
  *count = 0;
  for (const char *at = text;; at++) {
    char *end;
    double z = strtod(at, &end);
    if (end == at || (*end && *end != ',') || !isfinite(z) || *count == MOST_DEPTHS)
      return fail_usage("--depths %.60s: needs up to %d planes with commas between, such as 0,12.5,25", text,
                        MOST_DEPTHS);
    if (*count && z <= plane[*count - 1])
      return fail_usage("--depths %.60s: planes must rise", text);
    plane[(*count)++] = z;
    at = end;
    if (!*at)
      return EXIT_DONE;
  }
}

/* All are of one shape. */
static int join_arrays(kernel *of, int64_t count)
{
  kernel *first = &of[0];
  ndarray all = {.path = first->path, .ndim = 4, .single = first->array.single};
  all.shape[0] = count;
  memcpy(all.shape + 1, first->shape, sizeof first->shape);
  STEP(ndarray_make(&all));
  int64_t elements = first->shape[0] * first->shape[1] * first->shape[2], size = all.single ? 4 : 8;
  for (int64_t i = 0; i < count; i++) {
    for (int64_t e = 0; e < elements; e++)
      if (all.single == of[i].array.single)
        memcpy((char *)all.data + (i * elements + e) * size, (char *)of[i].array.data + e * size,
               (size_t)size);
      else if (all.single)
        ((float *)all.data)[i * elements + e] = (float)((double *)of[i].array.data)[e];
      else
        ((double *)all.data)[i * elements + e] = (double)((float *)of[i].array.data)[e];
    ndarray_close(&of[i].array);
  }
  first->array = all;
  return EXIT_DONE;
}

int kernels_join(kernels *k, const char *depths, double plane[MOST_DEPTHS])
{
  int64_t count;
  kernel *first = &k->of[0];
  STEP(parse_depths(depths, plane, &count));
  if (count != k->count)
    return fail_usage("--depths %.60s has %lld planes, and there are %lld kernels: give one per plane, as "
                      "channels of one file or "
                      "as files with commas between",
                      depths, (long long)count, (long long)k->count);
  for (int64_t i = 1; i < count; i++)
    if (memcmp(k->of[i].shape, first->shape, sizeof first->shape) ||
        memcmp(k->of[i].centre, first->centre, sizeof first->centre))
      return fail("--depths needs kernels of one shape and centre: %s and %s differ", first->path,
                  k->of[i].path);
  first->depths = count;
  k->count = 1;
  return first->array.data ? join_arrays(k->of, count) : EXIT_DONE;
}

void kernels_close(kernels *k)
{
  for (int64_t i = 0; i < k->files; i++)
    ndarray_close(&k->of[i].array);
  free(k->of);
  free(k->text);
}

int kernels_choose(const kernels *k, const stack *image, int64_t channel, int64_t *which)
{
  int64_t channels = image->info.shape[1];
  *which = k->count == 1 ? 0 : channel;
  if (k->count > 1 && k->count != channels)
    return fail("there are %lld kernels, and %s has %lld channels: give one kernel, or one a channel",
                (long long)k->count, image->path, (long long)channels);
  return EXIT_DONE;
}

static int check_voxels(const stack *image, const kernel *k)
{
  static const char *const axes[] = {"z", "y", "x"};
  for (int i = 0; i < 3; i++) {
    double a = image->info.voxel[i], b = k->voxel[i];
    if (a > 0 && b > 0 && k->shape[i] > 1 && fabs(a - b) > 0.01 * a)
      return fail(
          "voxels are %.4g um along %s in %s and %.4g um in %s: resample the kernel, or give --any-voxel", a,
          axes[i], image->path, b, k->path);
  }
  return EXIT_DONE;
}

int kernels_check(const kernels *k, const stack *image, int64_t first, int64_t channels, bool any_voxel)
{
  for (int64_t c = first; c < first + channels; c++) {
    int64_t which;
    STEP(kernels_choose(k, image, c, &which));
    if (!any_voxel)
      STEP(check_voxels(image, &k->of[which]));
  }
  return EXIT_DONE;
}

int choose_channels(const stack *image, const arg *chosen, int64_t *first, int64_t *count)
{
  *first = chosen->given ? chosen->n : 0;
  *count = chosen->given ? 1 : image->info.shape[1];
  if (*first >= image->info.shape[1])
    return fail_usage("--channel %lld: %s has %lld, counted from 0", (long long)chosen->n, image->path,
                      (long long)image->info.shape[1]);
  return EXIT_DONE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "volume/kernel.h"

static int open_all(kernels *k, int64_t count)
{
  k->of = calloc((size_t)count, sizeof *k->of);
  k->count = k->of ? count : 0;
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

static int read_one(kernel *k, const char *path, int64_t channel, int bits)
{
  k->path = path;
  STEP(volume_read(&k->array, path, channel, bits, k->voxel));
  volume_shape(&k->array, k->shape);
  return check_numbers(&k->array);
}

int kernels_read(kernels *k, const char *operand, int bits)
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
      STEP(read_one(&k->of[i], at, -1, bits));
    }
    return EXIT_DONE;
  }
  STACK s = {0};
  STEP(stack_open(&s, operand, 0));
  int64_t channels = s.info.shape[1];
  STEP(open_all(k, channels));
  for (int64_t i = 0; i < channels; i++)
    STEP(read_one(&k->of[i], k->text, channels > 1 ? i : -1, bits));
  return EXIT_DONE;
}

void kernels_close(kernels *k)
{
  for (int64_t i = 0; i < k->count; i++)
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/report.h"
#include "map/files.h"
#include "map/npymap.h"
#include "map/skyview.h"
#include "volume/page.h"

enum { MAX_LAYERS = 12, MAX_SKIES = 6, COLORS = 33 };

/* A column as the page holds it: q = 1 + round(65534 (u - lo) / (hi - lo)), u = asinh(value / soft), of bad pixels 0. */
typedef struct layer {
  char name[200], unit[80];
  int64_t nside;
  double lo, hi, soft;
  float *pixels; /* [12, nside, nside] */
} layer;

typedef struct work {
  layer of[MAX_LAYERS];
  int n;
  const char *title;
  char system[32];
} work;

static void work_close(work *w)
{
  for (int i = 0; i < w->n; i++)
    free(w->of[i].pixels);
}

bool skyview_is(const char *path)
{
  static const char *const ends[] = {".fits", ".fit", ".fits.gz", ".fit.gz", ".fits.fz"};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
    if (path_ends_with(path, ends[i]))
      return true;
  return path_ends_with(path, ".npy") && npymap_is(path);
}

static bool good(float x)
{
  return isfinite(x) && !(fabsf(x / -1.6375e30F - 1) < 1e-5F);
}

static int upwards(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* The range of values, and where their scale turns from linear to logarithmic: three times the middle half's width. */
static int measure(layer *l)
{
  int64_t npix = 12 * l->nside * l->nside, n = 0;
  OWNED float *sorted = malloc((size_t)npix * sizeof *sorted);
  if (!sorted)
    return fail("no memory to sort %lld pixels", (long long)npix);
  for (int64_t i = 0; i < npix; i++)
    if (good(l->pixels[i]))
      sorted[n++] = l->pixels[i];
  if (n == 0)
    return fail("%s: no pixel has a value (all are unseen, NaN or infinite): there is nothing to look at",
                l->name);
  qsort(sorted, (size_t)n, sizeof *sorted, upwards);
  double low = sorted[0], high = sorted[n - 1], half = (double)sorted[3 * (n - 1) / 4] - sorted[(n - 1) / 4];
  double most = fmax(fabs(low), fabs(high));
  l->soft = half > 1e-6 * most ? 3 * half : fmax(most, 1e-30) * 1e3; /* as good as linear */
  l->lo = asinh(low / l->soft);
  l->hi = asinh(high / l->soft);
  return EXIT_DONE;
}

static int take(const sky *s, int64_t i, int64_t nside, layer *l)
{
  const char *slash = strrchr(s->path, '/'), *name = slash && slash[1] ? slash + 1 : s->path;
  const char *column = s->described[i].name;
  snprintf(l->name, sizeof l->name, "%.120s%s%.70s", name, column[0] ? ", " : "", column);
  snprintf(l->unit, sizeof l->unit, "%.79s", s->described[i].unit);
  l->nside = nside;
  int64_t npix = 12 * nside * nside;
  l->pixels = malloc((size_t)npix * sizeof(float));
  OWNED void *own = malloc((size_t)s->npix * sizeof(float));
  OWNED float *small = malloc((size_t)npix * sizeof(float));
  if (!l->pixels || !own || !small)
    return fail("no memory for %lld pixels of %s", (long long)s->npix, s->path);
  float *map = own;
  for (int64_t p = 0; p < s->npix; p++)
    map[p] = s->dtype.bits == 32 ? ((const float *)s->maps)[i * s->npix + p]
                                 : (float)((const double *)s->maps)[i * s->npix + p];
  if (nside != s->nside) {
    LIB(kugel_healpix_ud_grade(NULL, s->nside, s->order, KUGEL_ARRAY(map, KUGEL_F32, s->npix), nside,
                               s->order, KUGEL_ARRAY(small, KUGEL_F32, npix), NULL));
    map = small;
  }
  LIB(kugel_healpix_reorder(NULL, nside, s->order, KUGEL_ORDER_FLAT_S, KUGEL_ARRAY(map, KUGEL_F32, npix),
                            KUGEL_ARRAY(l->pixels, KUGEL_F32, npix), NULL));
  return measure(l);
}

/* ---- the page ---- */

static void put_pixels(FILE *out, const layer *l)
{
  page_bytes bytes = {.out = out};
  double range = l->hi > l->lo ? l->hi - l->lo : 1;
  for (int64_t i = 0; i < 12 * l->nside * l->nside; i++) {
    float x = l->pixels[i];
    uint32_t q = good(x) ? 1 + (uint32_t)lrint(65534 * (asinh((double)x / l->soft) - l->lo) / range) : 0;
    page_byte(&bytes, q);
    page_byte(&bytes, q >> 8);
  }
  page_bytes_end(&bytes);
}

static void put_data(FILE *out, const void *given)
{
  const work *w = given;
  fprintf(out, "{\"title\": ");
  page_text(out, w->title);
  fprintf(out, ", \"system\": ");
  page_text(out, w->system);
  fprintf(out, ", \"colors\": {");
  for (int c = 0; kugel_plot_colors_name(c); c++) {
    fprintf(out, "%s\"%s\": [", c ? ", " : "", kugel_plot_colors_name(c));
    for (int i = 0; i < COLORS; i++) {
      uint8_t rgb[3] = {0};
      kugel_plot_colors_at(kugel_plot_colors_name(c), (double)i / (COLORS - 1), rgb);
      fprintf(out, "%s%d,%d,%d", i ? "," : "", rgb[0], rgb[1], rgb[2]);
    }
    fprintf(out, "]");
  }
  fprintf(out, "}, \"maps\": [");
  for (int i = 0; i < w->n; i++) {
    const layer *l = &w->of[i];
    fprintf(out, "%s\n{\"name\": ", i ? "," : "");
    page_text(out, l->name);
    fprintf(out, ", \"unit\": ");
    page_text(out, l->unit);
    fprintf(out, ", \"nside\": %lld, \"lo\": %.17g, \"hi\": %.17g, \"soft\": %.17g, \"pixels\": \"",
            (long long)l->nside, l->lo, l->hi, l->soft);
    put_pixels(out, l);
    fprintf(out, "\"}");
  }
  fprintf(out, "]}\n");
}

/* The nside of the page: that of the file, halved until the page's share per map is small enough. */
static int reduced_nside(const sky *s, int maps, int64_t most, int64_t *nside)
{
  *nside = s->nside;
  while (*nside > (most ? most : 512) || (!most && 32.0 * (double)(*nside * *nside) * maps > 30e6)) {
    if (*nside % 2 || s->nside & (s->nside - 1))
      return fail(
          "%s has nside %lld, which cannot be halved to fit into a page: give --nside %lld or more, at "
          "most 2048, or kugel regrid it first",
          s->path, (long long)s->nside, (long long)s->nside);
    *nside /= 2;
  }
  if (*nside != s->nside)
    fact("averaged", "%s: nside %lld becomes %lld", s->path, (long long)s->nside, (long long)*nside);
  return EXIT_DONE;
}

static void sky_list_close(sky (*list)[MAX_SKIES])
{
  for (int i = 0; i < MAX_SKIES; i++)
    sky_close(&(*list)[i]);
}

int skyview(const char *const *files, int n, const char *target, const skyview_opts *o)
{
  __attribute__((cleanup(work_close))) work w = {0};
  __attribute__((cleanup(sky_list_close))) sky all[MAX_SKIES] = {0};
  stopwatch watch = stopwatch_start();
  int64_t layers = 0, nside[MAX_SKIES];
  double bytes = 0;
  report_title(files[0], target);
  for (int i = 0; i < n; i++) {
    if (!skyview_is(files[i]))
      return fail_usage("%s is no HEALPix map, as %s is: a page holds maps or stacks", files[i], files[0]);
    STEP(sky_open(&all[i], files[i], o->columns ? o->columns : n > 1 ? "0" : NULL, false));
    layers += all[i].n;
  }
  if (layers > MAX_LAYERS)
    return fail_usage("%lld columns are too many for one page, which holds %d: choose some by --columns",
                      (long long)layers, MAX_LAYERS);
  for (int i = 0; i < n; i++) {
    STEP(reduced_nside(&all[i], (int)layers, o->nside, &nside[i]));
    bytes += 32.0 * (double)(nside[i] * nside[i] * all[i].n);
  }
  report_sky(&all[0]);
  if (run.dry_run)
    return report_plan(3 * bytes + 16 * (double)all[0].npix + BASE_MEMORY, bytes * 2e-8);
  STEP(check_output(target));
  for (int i = 0; i < n; i++) {
    progress_part((double)i / n, (double)(i + 1) / n, "reading");
    STEP(sky_read(&all[i], KUGEL_ORDER_ANY, false));
    for (int64_t c = 0; c < all[i].n; c++) {
      if (interrupted())
        return fail_interrupted();
      STEP(take(&all[i], c, nside[i], &w.of[w.n++]));
    }
    free(all[i].maps);
    all[i].maps = NULL;
  }
  stopwatch_lap(&watch, "read");
  snprintf(w.system, sizeof w.system, "%.30s", coordsys_name(all[0].info->coordsys));
  w.system[0] = (char)toupper((unsigned char)w.system[0]);
  const char *slash = strrchr(files[0], '/');
  w.title = o->title ? o->title : n > 1 ? "kugel view" : slash ? slash + 1 : files[0];
  STEP(page_write(target, skyview_page, skyview_page_bytes, put_data, &w));
  char size[40];
  fact("page", "%s", bytes_text(bytes + (double)skyview_page_bytes, size, sizeof size));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

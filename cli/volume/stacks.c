/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "volume/stacks.h"

static int take_info(stack *s)
{
  s->info.size = sizeof s->info;
  LIB(kugel_image_get_info(s->image, &s->info));
  return EXIT_DONE;
}

int stack_open(stack *s, const char *path, int level)
{
  s->path = path;
  kugel_image_open_opts opts = {.size = sizeof opts, .level = level};
  LIB(kugel_image_open(run.files, path, &opts, &s->image));
  return take_info(s);
}

int stack_create(stack *s, const char *path, const kugel_image_opts *opts)
{
  s->path = path;
  LIB(kugel_image_create(run.files, path, opts, &s->image));
  return take_info(s);
}

int stack_check_output(const char *path)
{
  struct stat st;
  if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
    return check_output(path);
  return run.overwrite ? EXIT_DONE : fail("%s exists; --overwrite replaces it", path);
}

void stack_close(stack *s)
{
  kugel_image_close(s->image, 0);
  s->image = NULL;
}

int stack_finish(stack *s)
{
  STEP(take_info(s));
  s->info.channel_names = NULL;
  kugel_image *image = s->image;
  s->image = NULL;
  if (interrupted()) {
    kugel_image_close(image, 0);
    return fail_interrupted();
  }
  LIB(kugel_image_close(image, 1));
  return EXIT_DONE;
}

bool stack_is(const char *path)
{
  struct stat st;
  unsigned char head[10] = {0};
  if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
    return true;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t n = read(fd, head, sizeof head);
  close(fd);
  return n == (ssize_t)sizeof head &&
         (!memcmp(head, "II*\0", 4) || !memcmp(head, "MM\0*", 4) || !memcmp(head, "II+\0", 4) ||
          !memcmp(head, "MM\0+", 4) || !memcmp(head, "NRRD000", 7) || !memcmp(head, "ObjectType", 10) ||
          !memcmp(head, "NDims", 5) || !memcmp(head, "\x89HDF\r\n\x1a\n", 8));
}

static const struct {
  const char *name;
  kugel_dtype type;
} types[] = {
    {"uint8", {KUGEL_UINT, 8, 1}},     {"int8", {KUGEL_INT, 8, 1}},       {"uint16", {KUGEL_UINT, 16, 1}},
    {"int16", {KUGEL_INT, 16, 1}},     {"uint32", {KUGEL_UINT, 32, 1}},   {"int32", {KUGEL_INT, 32, 1}},
    {"float16", {KUGEL_FLOAT, 16, 1}}, {"float32", {KUGEL_FLOAT, 32, 1}}, {"float64", {KUGEL_FLOAT, 64, 1}},
    {"uint64", {KUGEL_UINT, 64, 1}},   {"int64", {KUGEL_INT, 64, 1}}};

const char *stack_type(kugel_dtype t)
{
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (types[i].type.code == t.code && types[i].type.bits == t.bits)
      return types[i].name;
  return "?";
}

kugel_dtype stack_choose_type(int64_t choice, kugel_dtype keep)
{
  return choice ? types[choice - 1].type : keep;
}

const char *stack_text(const kugel_image_info *info, char *buffer, size_t size)
{
  const int64_t *n = info->shape;
  char many[80] = "";
  size_t at = 0;
  if (n[0] > 1)
    at += (size_t)snprintf(many, sizeof many, "%lld times, ", (long long)n[0]);
  if (n[1] > 1)
    snprintf(many + at, sizeof many - at, "%lld channels, ", (long long)n[1]);
  snprintf(buffer, size, "%s%lld x %lld x %lld %s", many, (long long)n[2], (long long)n[3], (long long)n[4],
           stack_type(info->dtype));
  return buffer;
}

const char *stack_voxel_text(const kugel_image_info *info, char *buffer, size_t size)
{
  const double *v = info->voxel;
  buffer[0] = 0;
  size_t at = 0;
  for (int i = 0; i < 3 && (v[0] > 0 || v[1] > 0 || v[2] > 0) && at < size; i++)
    at += (size_t)snprintf(buffer + at, size - at, v[i] > 0 ? "%s%.6g" : "%s?", i ? " x " : "", v[i]);
  if (at && at < size)
    snprintf(buffer + at, size - at, " um");
  return buffer;
}

double stack_bytes(const kugel_image_info *info)
{
  double bytes = info->dtype.bits / 8;
  for (int i = 0; i < 5; i++)
    bytes *= (double)info->shape[i];
  return bytes;
}

void stack_json(const char *key, const kugel_image_info *info)
{
  static const char *const units[] = {"z", "y", "x"};
  if (key)
    json_object(key);
  json_text("format", info->format_name);
  json_text("type", stack_type(info->dtype));
  json_flag("big_endian", info->big_endian);
  json_array("shape");
  for (int i = 0; i < 5; i++)
    json_int(NULL, info->shape[i]);
  json_end();
  json_object("voxel_um");
  for (int i = 0; i < 3; i++)
    json_number(units[i], info->voxel[i] > 0 ? info->voxel[i] : NAN);
  json_end();
  json_number("time_step_s", info->time_step > 0 ? info->time_step : NAN);
  json_array("channels");
  for (int64_t c = 0; info->channel_names && c < info->shape[1]; c++)
    json_text(NULL, info->channel_names[c]);
  json_end();
  json_array("chunk");
  for (int i = 0; i < 5; i++)
    json_int(NULL, info->chunk[i]);
  json_end();
  json_text("compression", info->compression);
  json_int("levels", info->nlevels);
  json_int("file_bytes", info->file_bytes);
  if (key)
    json_end();
}

int64_t stack_slab(const kugel_image_info *info)
{
  double plane = (double)info->shape[3] * (double)info->shape[4] * info->dtype.bits / 8;
  int64_t planes = (int64_t)(64e6 / plane), piece = info->chunk[2];
  planes = planes / piece * piece;
  if (planes < piece)
    planes = piece;
  return planes < info->shape[2] ? planes : info->shape[2];
}

int stack_crop(const char *text, const int64_t *shape, int64_t lo[3], int64_t n[3])
{
  const char *at = text ? text : ",,";
  for (int i = 0; i < 3; i++) {
    char *end;
    long long first = strtoll(at, &end, 10), last = shape[i];
    bool number = end > at;
    at = end;
    if (*at == ':') {
      last = strtoll(at + 1, &end, 10);
      if (end == at + 1)
        last = shape[i];
      at = end;
    } else if (number) {
      last = first + 1;
    }
    if (*at != (i < 2 ? ',' : 0))
      return fail_usage("--crop %.60s: needs z0:z1,y0:y1,x0:x1, where parts may be empty", text);
    at += i < 2;
    if (first < 0 || last > shape[i] || first >= last)
      return fail_usage("--crop %.60s: %c %lld:%lld must lie within 0:%lld", text, "zyx"[i], first, last,
                        (long long)shape[i]);
    lo[i] = first;
    n[i] = last - first;
  }
  return EXIT_DONE;
}

int stack_take_voxel(const char *text, double voxel[3])
{
  const char *at = text;
  for (int i = 0; at && i < 3; i++) {
    char *end;
    voxel[i] = strtod(at, &end);
    if (!(voxel[i] > 0) || !isfinite(voxel[i]) || *end != (i < 2 ? ',' : 0))
      return fail_usage("--voxel %.60s: needs three positive numbers with commas between: z,y,x", text);
    at = end + 1;
  }
  return EXIT_DONE;
}

/* ---- kugel info ---- */

typedef struct range {
  double min, max, sum;
  int64_t good, bad;
} range;

static void take(range *r, const double *x, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      r->bad++;
      continue;
    }
    r->min = r->good ? fmin(r->min, x[i]) : x[i];
    r->max = r->good ? fmax(r->max, x[i]) : x[i];
    r->sum += x[i];
    r->good++;
  }
}

static int channel_range(const stack *s, int64_t c, range *r)
{
  const int64_t *shape = s->info.shape;
  int64_t slab = stack_slab(&s->info);
  OWNED double *values = malloc((size_t)(slab * shape[3] * shape[4]) * sizeof *values);
  if (!values)
    return fail("no memory for %lld planes of %s", (long long)slab, s->path);
  for (int64_t t = 0; t < shape[0]; t++)
    for (int64_t z = 0; z < shape[2]; z += slab) {
      int64_t lo[3] = {z, 0, 0}, n[3] = {z + slab < shape[2] ? slab : shape[2] - z, shape[3], shape[4]};
      progress_part((double)(t * shape[2] + z) / (double)(shape[0] * shape[2]),
                    (double)(t * shape[2] + z + n[0]) / (double)(shape[0] * shape[2]), "reading");
      LIB(kugel_image_read(s->image, t, c, lo, n, KUGEL_ARRAY(values, KUGEL_F64, n[0], n[1], n[2])));
      if (interrupted())
        return fail_interrupted();
      take(r, values, n[0] * n[1] * n[2]);
    }
  return EXIT_DONE;
}

static int describe_channel(const stack *s, int64_t c)
{
  range r = {0};
  char name[160], shown[200];
  STEP(channel_range(s, c, &r));
  snprintf(name, sizeof name, "%s", s->info.channel_names[c]);
  if (!name[0])
    snprintf(name, sizeof name, "channel %lld", (long long)c);
  json_object(NULL);
  json_text("name", name);
  json_number("min", r.good ? r.min : NAN);
  json_number("max", r.good ? r.max : NAN);
  json_number("mean", r.good ? r.sum / (double)r.good : NAN);
  json_int("not_finite", r.bad);
  json_end();
  if (r.good)
    say("  %-26s %12.6g to %-12.6g mean %-12.6g\n", plain(name, shown, sizeof shown), r.min, r.max,
        r.sum / (double)r.good);
  if (r.bad)
    say("  %-26s %lld voxels are NaN or infinite\n", "", (long long)r.bad);
  return EXIT_DONE;
}

int stack_report_missing(const stack *in)
{
  kugel_image_info info = {.size = sizeof info};
  LIB(kugel_image_get_info(in->image, &info));
  if (info.missing)
    fact("missing", "%lld chunks that were read are not in %s: they count as the fill value",
         (long long)info.missing, in->path);
  json_int("missing_chunks", info.missing);
  return EXIT_DONE;
}

int describe_stack(const char *path, bool stats)
{
  STACK s = {0};
  char text[200], voxel[120], shown[1024];
  STEP(stack_open(&s, path, 0));
  json_text("kind", "stack");
  stack_json(NULL, &s.info);
  json_text("metadata", s.info.text);
  say("%s: %s, %s\n", plain(path, shown, sizeof shown), s.info.format_name,
      stack_text(&s.info, text, sizeof text));
  if (*stack_voxel_text(&s.info, voxel, sizeof voxel))
    fact("voxel", "%s (z, y, x)", voxel);
  else
    fact("voxel", "size not known");
  if (s.info.time_step > 0)
    fact("time step", "%g s", s.info.time_step);
  for (int64_t c = 0; c < s.info.shape[1]; c++)
    if (s.info.channel_names[c][0])
      fact(c ? "" : "channels", "%lld: %s", (long long)c, s.info.channel_names[c]);
  fact("pieces", "%lld x %lld x %lld, compression %s%s", (long long)s.info.chunk[2],
       (long long)s.info.chunk[3], (long long)s.info.chunk[4], s.info.compression,
       s.info.big_endian ? ", big-endian" : "");
  if (s.info.nlevels > 1)
    fact("levels", "%d", s.info.nlevels);
  if (!stats)
    return EXIT_DONE;
  json_array("columns");
  for (int64_t c = 0; c < s.info.shape[1]; c++)
    STEP(describe_channel(&s, c));
  json_end();
  return stack_report_missing(&s);
}

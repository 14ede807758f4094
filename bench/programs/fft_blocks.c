/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of block FFT kernels on a GPU, candidates for src/fft/gpu/measured.def; without arguments,
 * nothing.
 *
 * usage: bench_fft_blocks LIST [MIB | --compile] [COLUMNS]
 *        bench_fft_blocks --smoke   compiles two kernels, where NVRTC is installed
 *
 * The product of the radices tells how a length n is done: n itself, n - 1 by Rader, others by a convolution, split
 * below 2 n - 1; with a large prime among them, those of its transforms by Rader follow it: 23.4.89.8.11.
 *
 * A line of the list: f32|f64 flat|across|out|big length radices threads group halves cluster [flags],
 * with radices as 16.16.8. across: lines lie across memory, COLUMNS side by side; out: only where they are
 * written; big: across, with twiddles of a long line. flags: s: kugel__block.stream, c: constants, a digit:
 * resident.
 *
 * A line of the output: the candidate, registers, bytes spilled, bytes of shared memory, blocks a
 * multiprocessor, GB/s, relative error of the last line, GB/s in place. --compile stops before GB/s and needs NVRTC but no
 * device; it then writes the last candidate's machine code and text to the files that CUBIN and TEXT name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/module.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/cuda/api.h"
#include "fft/gpu/block_build.h"
#include "fft/gpu/block_tables.h"
#include "fft/roots/dft.h"

enum { MOST = 512 };

static int64_t columns = 1024; // lines side by side

typedef struct candidate {
  char text[128];
  kugel__block b;
  bool out;
  kugel__text code;
} candidate;

static void must(kugel_status s)
{
  if (s) {
    fprintf(stderr, "%s\n", kugel_last_error());
    exit(1);
  }
}

static bool parse(const char *line, candidate *c)
{
  char bits[8], walk[8], radices[64];
  long long n;
  int threads, group, halves, cluster;
  char flags[8] = "-";
  if (sscanf(line, "%7s %7s %lld %63s %d %d %d %d %7s", bits, walk, &n, radices, &threads, &group, &halves,
             &cluster, flags) < 8)
    return false;
  snprintf(c->text, sizeof c->text, "%s %-6s %6lld %-12s %4d %3d %d %2d %-3s", bits, walk, n, radices,
           threads, group, halves, cluster, flags);
  kugel__block *b = &c->b;
  kugel__type real = bits[1] == '3' ? KUGEL__F32 : KUGEL__F64;
  if (cluster)
    *b = (kugel__block){.real = real, .n = n, .m = n / cluster, .how = KUGEL__BLOCK_CLUSTER, .of = {cluster}};
  b->line = kugel__line_of(KUGEL_FFT_C2C, false, n);
  int64_t m = 1;
  int stages = 0, radix[KUGEL__BLOCK_STAGES];
  for (char *p = strtok(radices, "."); p; p = strtok(NULL, "."))
    m *= radix[stages++] = atoi(p);
  if (!cluster)
    *b = kugel__block_by(n, m % n ? m : n, real);
  kugel__block_take(b, radix, stages);
  b->threads = threads;
  for (int i = 0; i < b->stages; i++)
    if (kugel__block_rounds(b, i) * b->radix[i] > KUGEL__BLOCK_POINTS || b->radix[i] > KUGEL__DFT_MAX)
      must(KUGEL_FAIL(KUGEL_EINVAL, "%s: too many points of a thread", line));
  b->group = group;
  b->halves = halves;
  const char *digit = strpbrk(flags, "123456789");
  b->stream = strchr(flags, 's');
  b->constants = strchr(flags, 'c');
  b->resident = digit ? (uint8_t)(*digit - '0') : 0;
  b->flat = walk[0] == 'f';
  b->in.across = walk[0] == 'a' || walk[0] == 'b';
  b->out.across = !b->flat;
  if (walk[0] != 'a') { // as plans know them
    b->in.step = b->in.across ? columns : 1;
    b->out.step = b->out.across ? columns : 1;
    b->c0 = b->flat ? 0 : columns;
  }
  b->big = walk[0] == 'b' ? n * columns : 0;
  c->out = walk[0] == 'o';
  kugel__gen g;
  kugel__block_build(b, NULL, &g);
  must(kugel__gen_print(&g, &kugel__dialect_device, &c->code));
  kugel__gen_free(&g);
  return true;
}

static kugel__module_spec spec_of(const candidate *c)
{
  const char *defines = c->b.real == KUGEL__F32 ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n";
  return (kugel__module_spec){.name = "candidate.cl", .text = c->code.data, .defines = defines};
}

static int64_t shared_of(const candidate *c)
{
  return kugel__block_shared(&c->b) * (c->b.real == KUGEL__F32 ? 4 : 8);
}

// Blocks per multiprocessor of an H200, of a kernel with so many registers per thread.
static int64_t resident(const kugel__block *b, int registers)
{
  enum { REGISTERS = 65536, SHARED = 233472, BLOCK_SHARED = 1024, THREADS = 2048, BLOCKS = 32 };
  int64_t warps = (b->threads * b->group + 31) / 32, each = (kugel__max(registers, 16) + 7) / 8 * 8;
  int64_t blocks = kugel__min(REGISTERS / (each * 32 * warps),
                              SHARED / (kugel__block_shared(b) * kugel__real_bytes(b->real) + BLOCK_SHARED));
  return kugel__max(1, kugel__min(blocks, kugel__min(THREADS / (32 * warps), BLOCKS)));
}

static void print(const candidate *c, int registers, int64_t spilled)
{
  printf("%s  %3d %4lld %6lld %2lld", c->text, registers, (long long)spilled, (long long)shared_of(c),
         (long long)resident(&c->b, registers));
}

static void write_file(const char *path, const void *data, size_t bytes)
{
  FILE *f = path ? fopen(path, "wb") : NULL;
  if (!f)
    return;
  fwrite(data, 1, bytes, f);
  fclose(f);
}

// By the compiler's log.
static void compile_only(const candidate *c)
{
  kugel__module_spec spec = spec_of(c);
  char *whole = NULL, *log = NULL;
  must(kugel__module_text(NULL, KUGEL_CUDA, &spec, &whole));
  kugel__program_spec program = {.name = spec.name, .text = whole, .options = "--ptxas-options=-v"};
  void *binary = NULL;
  size_t bytes;
  must(kugel__nvrtc_compile(&program, 90, &binary, &bytes, &log));
  write_file(getenv("CUBIN"), binary, bytes);
  write_file(getenv("TEXT"), c->code.data, c->code.n);
  const char *used = log ? strstr(log, "Used ") : NULL,
             *stack = log ? strstr(log, "bytes stack frame, ") : NULL;
  print(c, used ? atoi(used + 5) : 0, stack ? atoi(stack + 19) : -1);
  printf("\n");
  kugel__free(NULL, log);
  kugel__free(NULL, binary);
  kugel__free(NULL, whole);
}

/* ---- on the device ---- */

typedef struct bench {
  kugel_ctx *ctx;
  kugel__device *dev;
  kugel_queue *queue;
  size_t bytes;
  void *in, *out;
  void *host; // what `in` holds, for the precision at hand
  kugel__type real;
} bench;

static void fill(bench *m, kugel__type real)
{
  if (m->host && m->real == real)
    return;
  m->real = real;
  m->host = m->host ? m->host : malloc(m->bytes);
  uint64_t state = 1;
  size_t size = real == KUGEL__F32 ? 4 : 8;
  for (size_t i = 0; i < m->bytes / size; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double x = (double)(int64_t)state * 0x1p-63;
    if (size == 4)
      ((float *)m->host)[i] = (float)x;
    else
      ((double *)m->host)[i] = x;
  }
  must(kugel__device_copy(m->dev, KUGEL__UPLOAD, (kugel__mem){m->in, 0}, (kugel__mem){m->host, 0}, m->bytes,
                          NULL));
}

static double part(const bench *m, const void *p, int64_t i)
{
  return m->real == KUGEL__F32 ? ((const float *)p)[i] : ((const double *)p)[i];
}

// Of the line that begins at `at` in both arrays and was read with in_step, written with out_step; column: of
// its twiddles.
static double error_of(bench *m, const candidate *c, int64_t in_at, int64_t in_step, int64_t out_at,
                       int64_t out_step, int64_t column)
{
  int64_t n = c->b.n, shape[1] = {n}, size = m->real == KUGEL__F32 ? 8 : 16;
  double *x = malloc((size_t)n * 16), err = 0, norm = 0;
  char *all = malloc((size_t)((n - 1) * out_step + 1) * (size_t)size);
  for (int64_t i = 0; i < 2 * n; i++)
    x[i] = part(m, m->host, 2 * (in_at + i / 2 * in_step) + i % 2);
  kugel_fft *plan;
  must(kugel_fft_create(NULL, 1, shape, NULL, &plan));
  kugel_array a = {.data = x, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = KUGEL_C128, .shape = shape};
  must(kugel_fft_execute(plan, KUGEL_FORWARD, &a, &a, NULL));
  kugel_fft_destroy(plan);
  must(kugel__device_copy(m->dev, KUGEL__DOWNLOAD, (kugel__mem){all, 0},
                          (kugel__mem){m->out, (size_t)(out_at * size)},
                          (size_t)((n - 1) * out_step + 1) * (size_t)size, NULL));
  for (int64_t k = 0; k < n; k++) {
    double turn = c->b.big ? -2 * M_PI * (double)(k * column % c->b.big) / (double)c->b.big : 0;
    double re = x[2 * k] * cos(turn) - x[2 * k + 1] * sin(turn),
           im = x[2 * k] * sin(turn) + x[2 * k + 1] * cos(turn);
    err += pow(part(m, all, 2 * k * out_step) - re, 2) + pow(part(m, all, 2 * k * out_step + 1) - im, 2);
    norm += re * re + im * im;
  }
  free(x);
  free(all);
  return sqrt(err / norm);
}

static void *upload_tables(bench *m, const kugel__block *b)
{
  int64_t count = 2 * kugel__tables_of(b).total;
  double *t = malloc((size_t)count * 8);
  must(kugel__block_fill_tables(b, m->ctx, t));
  for (int64_t i = 0; i < count && b->real == KUGEL__F32; i++)
    ((float *)t)[i] = (float)t[i];
  size_t bytes = (size_t)count * (b->real == KUGEL__F32 ? 4 : 8);
  void *out;
  must(kugel__device_alloc(m->dev, bytes, &out));
  must(kugel__device_copy(m->dev, KUGEL__UPLOAD, (kugel__mem){out, 0}, (kugel__mem){t, 0}, bytes, NULL));
  free(t);
  return out;
}

static void *upload_order(bench *m, const kugel__block *b)
{
  size_t bytes = (size_t)kugel__block_order(b) * sizeof(uint32_t);
  uint32_t *order = malloc(bytes);
  void *out;
  kugel__block_fill_order(b, order);
  must(kugel__device_alloc(m->dev, bytes, &out));
  must(kugel__device_copy(m->dev, KUGEL__UPLOAD, (kugel__mem){out, 0}, (kugel__mem){order, 0}, bytes, NULL));
  free(order);
  return out;
}

static double best_time(bench *m, kugel__kernel *kernel, const kugel__grid *grid, int nargs,
                        const kugel__arg *args)
{
  double best = INFINITY, seconds;
  must(kugel__launch(m->dev, kernel, grid, nargs, args, m->queue));
  for (int i = 0; i < 7; i++) {
    kugel__event *from, *to;
    must(m->dev->ops->record(m->queue, &from));
    must(kugel__launch(m->dev, kernel, grid, nargs, args, m->queue));
    must(kugel__launch(m->dev, kernel, grid, nargs, args, m->queue));
    must(m->dev->ops->record(m->queue, &to));
    must(m->dev->ops->elapsed(from, to, &seconds));
    best = fmin(best, seconds / 2);
    m->dev->ops->event_free(from);
    m->dev->ops->event_free(to);
  }
  return best;
}

static void measure(bench *m, candidate *c, kugel__module *module)
{
  kugel__kernel *kernel;
  kugel__kernel_info info;
  const kugel__block *b = &c->b;
  must(kugel__module_kernel(module, "fft_block", &kernel, &info));
  fill(m, b->real);
  print(c, info.registers, info.local_bytes);
  int64_t size = b->real == KUGEL__F32 ? 8 : 16, plane = b->n * columns, n = b->n, one = 1, zero = 0;
  bool flat = b->flat, in_lines = flat || c->out;
  int64_t count = (int64_t)m->bytes / size / (flat ? n : plane) * (flat ? 1 : columns),
          c0 = flat ? count : columns;
  kugel__mem in = {m->in, 0}, out = {m->out, 0}, tables = {upload_tables(m, b), 0};
  const int64_t *values[] = {&count,
                             &c0,
                             &zero,
                             &zero,
                             in_lines ? &n : &one,
                             &plane,
                             in_lines ? &one : &columns,
                             flat ? &n : &one,
                             &plane,
                             flat ? &one : &columns};
  kugel__mem order = {kugel__block_ordered(b) ? upload_order(m, b) : NULL, 0};
  kugel__arg args[15] = {KUGEL__MEM_ARG(in), KUGEL__MEM_ARG(out), KUGEL__MEM_ARG(tables)}, *a = args + 3;
  if (kugel__block_ordered(b))
    *a++ = KUGEL__MEM_ARG(order);
  for (int i = 0; i < 10; i++)
    *a++ = KUGEL__VALUE_ARG(*values[i]);
  double scale = 1;
  float narrow = 1;
  *a++ = b->real == KUGEL__F32 ? KUGEL__VALUE_ARG(narrow) : KUGEL__VALUE_ARG(scale);
  int64_t blocks = (count + b->group - 1) / b->group * kugel__block_cluster_size(b);
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {(uint32_t)(b->threads * b->group)},
                      .cluster = (uint32_t)kugel__block_cluster_size(b),
                      .shared = (size_t)shared_of(c)};
  double t = best_time(m, kernel, &grid, (int)(a - args), args);
  int64_t last = count - 1, x = last % c0, y = last / c0 * plane;
  double e = error_of(m, c, in_lines ? x * n + y : x + y, *values[6], flat ? x * n : x + y, *values[9], x);
  printf(" %5.0f %.1e", 2 * (double)(count * n * size) / t * 1e-9, e);
  args[0] = KUGEL__MEM_ARG(out);
  t = c->out ? INFINITY : best_time(m, kernel, &grid, (int)(a - args), args);
  printf(" %5.0f\n", 2 * (double)(count * n * size) / t * 1e-9);
  fflush(stdout);
  kugel__device_free(m->dev, tables.base);
  kugel__device_free(m->dev, order.base);
}

static void measure_all(candidate *c, int count, size_t bytes)
{
  bench m = {.bytes = bytes};
  kugel_ctx_opts opts = {.size = sizeof opts, .device = "cuda:0"};
  must(kugel_ctx_create(&opts, &m.ctx));
  m.dev = kugel__ctx_device(m.ctx);
  must(kugel_queue_create(m.ctx, &m.queue));
  must(kugel__device_alloc(m.dev, bytes, &m.in));
  must(kugel__device_alloc(m.dev, bytes, &m.out));
  kugel__module_spec *specs = calloc((size_t)count, sizeof *specs);
  kugel__module **modules = calloc((size_t)count, sizeof(kugel__module *));
  for (int i = 0; i < count; i++)
    specs[i] = spec_of(&c[i]);
  must(kugel__module_get_all(m.ctx, count, specs, modules));
  for (int i = 0; i < count; i++)
    measure(&m, &c[i], modules[i]);
  exit(0);
}

int main(int argc, char **argv)
{
  static candidate c[MOST];
  const char *why;
  bool smoke = argc > 1 && !strcmp(argv[1], "--smoke");
  char few[] = "f64 flat 256 16.16 16 4 0 1\nf32 flat 4096 16.16.16 256 1 0 1\n";
  FILE *list = smoke ? fmemopen(few, sizeof few - 1, "r") : argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!list || (smoke && !kugel__nvrtc_version(&why)))
    return 77; // skipped
  bool only = smoke || (argc > 2 && !strcmp(argv[2], "--compile"));
  size_t mib = argc > 2 && !only ? (size_t)atoi(argv[2]) : 256;
  columns = argc > 3 ? atoll(argv[3]) : columns;
  char line[256];
  int count = 0;
  while (count < MOST && fgets(line, sizeof line, list))
    count += parse(line, &c[count]);
  fclose(list);
  for (int i = 0; i < count && only; i++)
    compile_only(&c[i]);
  if (!only)
    measure_all(c, count, mib << 20);
  return 0;
}

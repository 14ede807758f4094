/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Every MPI that is installed: this program starts itself under each launcher. KUGEL_TEST_NEED=mpi makes a missing one a
 * failure. */
#include <signal.h>
#include <sys/wait.h>
#include "ranks.h"
#include "comm/volumes.h"
#include "core/alloc.h"
#include <kugel/alm.h>
#include <kugel/fft.h>
#include <kugel/nufft.h>
#include <kugel/sphere.h>

enum { RANKS = 3 };

static const struct {
  const char *name, *launcher, *compiler, *library;
} flavours[] = {{"Open MPI", "mpirun.openmpi --oversubscribe", "mpicc.openmpi", "libmpi.so.40"},
                {"MPICH", "mpirun.mpich", "mpicc.mpich", "libmpich.so.12"}};
enum { FLAVOURS = sizeof flavours / sizeof *flavours };

/* ---- what a rank does ---- */

// Every rank has the alm; the map over ranks is gathered on all of them, and compared with that of a plan of one.
static int transforms(kugel_comm *comm)
{
  enum { NSIDE = 32, LMAX = 70 };
  kugel_grid *grid = NULL;
  kugel_sht *one = NULL, *many = NULL;
  kugel_layout *alms = NULL, *maps = NULL, *every_alm = NULL, *every_map = NULL, *root = NULL;
  int64_t nalm = kugel_alm_count(LMAX, KUGEL_ALL), npix = 12 * NSIDE * NSIDE;
  int rank = rank_of(comm), bad = 0;
  double *alm = malloc((size_t)nalm * 16), *part_alm = malloc((size_t)nalm * 16),
         *all_alm = malloc((size_t)nalm * 16);
  double *map = malloc((size_t)npix * 8), *part = malloc((size_t)npix * 8), *all = malloc((size_t)npix * 8);
  uint64_t seed = 5;
  for (int64_t i = 0; i < 2 * nalm; i++)
    alm[i] = check_random(&seed);
  kugel_grid_opts g = {.size = sizeof g, .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE};
  bad += kugel_grid_create(NULL, &g, &grid) != KUGEL_OK;
  kugel_sht_opts o = {.size = sizeof o, .grid = grid, .lmax = LMAX, .iterations = 1};
  kugel_sht_info info = {.size = sizeof info};
  bad += kugel_sht_create(NULL, &o, &one) != KUGEL_OK;
  o.comm = comm;
  o.pieces = 3;
  bad += kugel_sht_create(NULL, &o, &many) != KUGEL_OK;
  bad += kugel_sht_get_info(many, &info) != KUGEL_OK;
  bad += !!kugel_sht_layout(many, KUGEL_SHT_ALM, &alms) + !!kugel_sht_layout(many, KUGEL_SHT_MAP, &maps) +
         !!kugel_layout_whole(comm, nalm, KUGEL_EVERY_RANK, &every_alm) +
         !!kugel_layout_whole(comm, npix, KUGEL_EVERY_RANK, &every_map) +
         !!kugel_layout_whole(comm, nalm, RANKS - 1, &root);
  kugel_array *a = KUGEL_ARRAY(part_alm, KUGEL_C128, info.nalm), *m = KUGEL_ARRAY(part, KUGEL_F64, info.npix);
  bad += kugel_layout_move(root, rank == RANKS - 1 ? KUGEL_ARRAY(alm, KUGEL_C128, nalm) : NULL, alms, a) !=
         KUGEL_OK;
  bad += kugel_sht_synthesis(many, a, m, NULL) != KUGEL_OK;
  bad += kugel_layout_move(maps, m, every_map, KUGEL_ARRAY(all, KUGEL_F64, npix)) != KUGEL_OK;
  bad += kugel_sht_synthesis(one, KUGEL_ARRAY(alm, KUGEL_C128, nalm), KUGEL_ARRAY(map, KUGEL_F64, npix),
                             NULL) != KUGEL_OK;
  bad += memcmp(map, all, (size_t)npix * 8) != 0;
  bad += kugel_sht_analysis(many, m, a, NULL) != KUGEL_OK;
  bad += kugel_layout_move(alms, a, every_alm, KUGEL_ARRAY(all_alm, KUGEL_C128, nalm)) != KUGEL_OK;
  bad += kugel_sht_analysis(one, KUGEL_ARRAY(map, KUGEL_F64, npix), KUGEL_ARRAY(alm, KUGEL_C128, nalm),
                            NULL) != KUGEL_OK;
  bad += memcmp(alm, all_alm, (size_t)nalm * 16) != 0;
  if (bad)
    printf("rank %d: %d transforms or moves are wrong: %s\n", rank, bad, kugel_last_error());
  kugel_layout *layouts[] = {alms, maps, every_alm, every_map, root};
  for (int i = 0; i < 5; i++)
    kugel_layout_destroy(layouts[i]);
  kugel_sht_destroy(one);
  kugel_sht_destroy(many);
  kugel_grid_destroy(grid);
  double *blocks[] = {alm, part_alm, all_alm, map, part, all};
  for (int i = 0; i < 6; i++)
    free(blocks[i]);
  return bad;
}

// A spectrum over ranks, and back; gathered everywhere, with the bits of a communicator of one.
static int fourier(kugel_comm *comm, int along)
{
  enum { NZ = 7, NY = 10, NX = 12, HALF = NX / 2 + 1 };
  static const int64_t n[3] = {NZ, NY, NX};
  double data[NZ * NY * NX], part[NZ * NY * NX], again[NZ * NY * NX], rows[2 * NZ * NY * HALF];
  double want[2 * NZ * NY * HALF], all[2 * NZ * NY * HALF], back[NZ * NY * NX];
  uint64_t seed = 8;
  int bad = 0;
  for (int i = 0; i < NZ * NY * NX; i++)
    data[i] = check_random(&seed);
  kugel_comm_opts self = {.size = sizeof self, .kind = KUGEL_COMM_SELF};
  kugel_comm *alone = NULL;
  kugel_fft *one = NULL, *many = NULL;
  kugel_layout *planes = NULL, *spectrum = NULL, *root = NULL, *every = NULL, *every_data = NULL;
  kugel_fft_info info = {.size = sizeof info};
  kugel_fft_opts o = {.size = sizeof o, .kind = KUGEL_FFT_R2C, .pieces = 3};
  bad += kugel_comm_open(NULL, &self, &alone) != KUGEL_OK;
  o.comm = alone;
  bad += kugel_fft_create(NULL, 3, n, &o, &one) != KUGEL_OK;
  o.comm = comm;
  o.grid[0] = along; // 1: pencils
  bad += kugel_fft_create(NULL, 3, n, &o, &many) != KUGEL_OK;
  bad += kugel_fft_get_info(many, &info) != KUGEL_OK;
  bad += !!kugel_fft_layout(many, KUGEL_FFT_DATA, &planes) +
         !!kugel_fft_layout(many, KUGEL_FFT_SPECTRUM, &spectrum) +
         !!kugel_layout_whole(comm, NZ * NY * NX, 1, &root) +
         !!kugel_layout_whole(comm, NZ * NY * NX, KUGEL_EVERY_RANK, &every_data) +
         !!kugel_layout_whole(comm, NZ * NY * HALF, KUGEL_EVERY_RANK, &every);
  int64_t n_data = info.data_count * info.data_row_count * NX,
          n_rows = NZ * info.spectrum_count * info.spectrum_column_count;
  bad += !!kugel_layout_move(root, rank_of(comm) == 1 ? KUGEL_ARRAY(data, KUGEL_F64, NZ * NY * NX) : NULL,
                             planes, KUGEL_ARRAY(part, KUGEL_F64, n_data));
  kugel_array *x = KUGEL_ARRAY(part, KUGEL_F64, info.data_count, info.data_row_count, NX),
              *y = KUGEL_ARRAY(rows, KUGEL_C128, NZ, info.spectrum_count, info.spectrum_column_count),
              *z = KUGEL_ARRAY(again, KUGEL_F64, info.data_count, info.data_row_count, NX);
  bad += kugel_fft_execute(many, KUGEL_FORWARD, x, y, NULL) != KUGEL_OK;
  bad += kugel_fft_execute(many, KUGEL_INVERSE, y, z, NULL) != KUGEL_OK;
  bad += !!kugel_layout_move(spectrum, KUGEL_ARRAY(rows, KUGEL_C128, n_rows), every,
                             KUGEL_ARRAY(all, KUGEL_C128, NZ * NY * HALF));
  bad += kugel_fft_execute(one, KUGEL_FORWARD, KUGEL_ARRAY(data, KUGEL_F64, NZ, NY, NX),
                           KUGEL_ARRAY(want, KUGEL_C128, NZ, NY, HALF), NULL) != KUGEL_OK;
  bad += memcmp(want, all, sizeof want) != 0;
  bad += !!kugel_layout_move(planes, KUGEL_ARRAY(again, KUGEL_F64, n_data), every_data,
                             KUGEL_ARRAY(back, KUGEL_F64, NZ * NY * NX));
  bad += kugel_fft_execute(one, KUGEL_INVERSE, KUGEL_ARRAY(want, KUGEL_C128, NZ, NY, HALF),
                           KUGEL_ARRAY(data, KUGEL_F64, NZ, NY, NX), NULL) != KUGEL_OK;
  bad += memcmp(data, back, sizeof data) != 0;
  if (bad)
    printf("rank %d: %d Fourier transforms or moves are wrong: %s\n", rank_of(comm), bad, kugel_last_error());
  kugel_layout *layouts[] = {planes, spectrum, root, every, every_data};
  for (int i = 0; i < 5; i++)
    kugel_layout_destroy(layouts[i]);
  kugel_fft_destroy(one);
  kugel_fft_destroy(many);
  kugel_comm_destroy(alone);
  return bad;
}

// Points of the three ranks, unevenly, to modes and back: the bits of one rank.
static int points(kugel_comm *comm)
{
  enum { NZ = 40, NY = 5, NX = 6, M = 60 };
  static const int64_t n[3] = {NZ, NY, NX}, first[RANKS + 1] = {0, 7, 7, M};
  double x[3 * M], c[2 * M], values[2][2 * M], f[2 * NZ * NY * NX], all[2][2 * NZ * NY * NX];
  uint64_t seed = 4;
  int bad = 0;
  for (int i = 0; i < 5 * M; i++)
    *(i < 3 * M ? &x[i] : &c[i - 3 * M]) = 3 * check_random(&seed);
  kugel_comm *alone = NULL;
  kugel_comm_opts self = {.size = sizeof self, .kind = KUGEL_COMM_SELF};
  bad += kugel_comm_open(NULL, &self, &alone) != KUGEL_OK;
  for (int i = 0; i < 2; i++) {
    kugel_comm *ranks = i ? comm : alone;
    int64_t at = i ? first[rank_of(comm)] : 0, m = i ? first[rank_of(comm) + 1] - at : M;
    kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES, .comm = ranks};
    kugel_nufft_info info = {.size = sizeof info};
    kugel_nufft *plan = NULL;
    kugel_nufft_points *set = NULL;
    kugel_layout *rows = NULL, *whole = NULL;
    bad += kugel_nufft_create(NULL, 3, n, &o, &plan) != KUGEL_OK;
    bad += kugel_nufft_get_info(plan, &info) != KUGEL_OK;
    bad += kugel_nufft_points_create(plan, KUGEL_ARRAY(x + 3 * at, KUGEL_F64, m, 3), &set) != KUGEL_OK;
    kugel_array *modes = KUGEL_ARRAY(f, KUGEL_C128, NZ, info.modes_count, NX);
    bad += kugel_nufft_execute(set, KUGEL_ARRAY(c + 2 * at, KUGEL_C128, m), modes, NULL) != KUGEL_OK;
    bad += kugel_nufft_adjoint(set, modes, KUGEL_ARRAY(values[i] + 2 * at, KUGEL_C128, m), NULL) != KUGEL_OK;
    bad += !!kugel_nufft_layout(plan, &rows) +
           !!kugel_layout_whole(ranks, NZ * NY * NX, KUGEL_EVERY_RANK, &whole);
    bad += !!kugel_layout_move(rows, KUGEL_ARRAY(f, KUGEL_C128, NZ * info.modes_count * NX), whole,
                               KUGEL_ARRAY(all[i], KUGEL_C128, NZ * NY * NX));
    bad += i && (memcmp(all[0], all[1], sizeof f) != 0 ||
                 memcmp(values[0] + 2 * at, values[1] + 2 * at, (size_t)m * 16) != 0);
    kugel_layout_destroy(rows);
    kugel_layout_destroy(whole);
    kugel_nufft_points_destroy(set);
    kugel_nufft_destroy(plan);
  }
  if (bad)
    printf("rank %d: %d transforms of points are wrong: %s\n", rank_of(comm), bad, kugel_last_error());
  kugel_comm_destroy(alone);
  return bad;
}

static int collectives(kugel_comm *comm)
{
  int rank = rank_of(comm), bad = ranks_of(comm) != RANKS;
  char text[300] = "", line[200] = "";
  if (rank == 2)
    memset(text, 'x', sizeof text - 1);
  bad += kugel_comm_bcast(comm, text, sizeof text, 2) != KUGEL_OK || strlen(text) != sizeof text - 1;
  kugel_status s = rank ? kugel_comm_bcast(comm, text, 1, 99) : KUGEL_OK;
  bad +=
      kugel_comm_agree(comm, s) != KUGEL_EINVAL || strncmp(kugel_last_error(), "rank 1: root is 99", 18) != 0;
  kugel_comm *node = NULL, *pair = NULL;
  kugel_comm_info info = {.size = sizeof info};
  bad += kugel_comm_node(comm, &node) != KUGEL_OK || ranks_of(node) != RANKS;
  bad += kugel_comm_split(comm, rank == 1, 0, &pair) != KUGEL_OK || ranks_of(pair) != (rank == 1 ? 1 : 2);
  bad += kugel_comm_barrier(pair) != KUGEL_OK;
  bad += kugel_comm_get_info(comm, &info) != KUGEL_OK || info.nodes != 1 || info.node_rank != rank ||
         info.threads < 1;
  bad +=
      kugel_comm_describe(comm, line, sizeof line) != KUGEL_OK || strstr(line, "3 ranks on 1 host; ") == NULL;
  kugel_comm_destroy(pair);
  kugel_comm_destroy(node);
  if (rank == 0)
    printf("  %s\n", line);
  return bad;
}

// Opening, with the n-th allocation of rank 1 and all later ones failing: all ranks hear of it.
static int faults(int rank)
{
  int bad = 0, failures = 0;
  kugel_status s = KUGEL_ENOMEM;
  for (long n = 1; s && n < 30; n++) {
    kugel_comm *comm = NULL;
    kugel__fault_alloc(rank == 1 ? n : 0);
    s = kugel_comm_open(NULL, NULL, &comm);
    kugel__fault_alloc(0);
    bad += s && (s != KUGEL_ENOMEM || comm);
    failures += s != KUGEL_OK;
    kugel_comm_destroy(comm);
  }
  return bad + (s != KUGEL_OK) + (failures < 3);
}

static int work(const char *what)
{
  kugel_comm *comm = NULL;
  alarm(100);
  if (kugel_comm_open(NULL, NULL, &comm)) {
    printf("refused: %s\n", kugel_last_error());
    return 3;
  }
  if (!strcmp(what, "die") && rank_of(comm) == 1)
    raise(SIGKILL);
  if (!strcmp(what, "die"))
    return kugel_comm_barrier(comm) ? 4 : 5; // never comes
  int bad = collectives(comm) + transforms(comm) + fourier(comm, 0) + fourier(comm, 1) + convolution(comm) +
            sharpening(comm) + points(comm) + faults(rank_of(comm));
  kugel_comm_destroy(comm);
  return bad ? 1 : 0;
}

/* ---- launching ---- */

static int installed(const char *command)
{
  char line[200];
  snprintf(line, sizeof line, "command -v %.*s > /dev/null 2>&1", (int)strcspn(command, " "), command);
  return system(line) == 0;
}

// Its exit code; what it printed to `out`.
static int launch(int flavour, const char *self, const char *what, const char *environment, char *out,
                  size_t n)
{
  char line[1200];
  snprintf(line, sizeof line, "%s timeout 100 %s -n %d '%s' %s 2>&1 < /dev/null", environment,
           flavours[flavour].launcher, RANKS, self, what);
  FILE *p = popen(line, "r");
  size_t got = p ? fread(out, 1, n - 1, p) : 0;
  out[got] = 0;
  char rest[256];
  while (p && fread(rest, 1, sizeof rest, p) > 0)
    ;
  int status = p ? pclose(p) : -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
  if (argc == 2)
    return work(argv[1]);
  char out[4000], self[600];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = 0;
  const char *need = getenv("KUGEL_TEST_NEED");
  int needed = need && strstr(need, "mpi");
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("KUGEL_NUM_THREADS", "1", 1);
  setenv("LSAN_OPTIONS", "detect_leaks=0", 1); // MPI libraries leave memory to the end of the process
  unsetenv("KUGEL_MPI");
  for (int i = 0; i < FLAVOURS; i++) {
    int there = installed(flavours[i].launcher);
    CASE(flavours[i].name)
    {
      if (!there && !needed)
        SKIP("it is not installed");
      else if (launch(i, self, "work", "", out, sizeof out) != 0)
        CHECK_FAIL("%s", out);
      else
        printf("%.200s", out);
    }
    CASE("a rank that is killed ends the job")
    {
      if (!there)
        SKIP("no launcher");
      else
        CHECK(launch(i, self, "die", "", out, sizeof out) != 124); // what timeout says
    }
    CASE("another MPI's library under this launcher")
    {
      char environment[100];
      int other = (i + 1) % FLAVOURS;
      snprintf(environment, sizeof environment, "KUGEL_MPI=%s", flavours[other].library);
      if (!there || !installed(flavours[other].launcher)) {
        SKIP("both launchers are needed");
      } else {
        CHECK(launch(i, self, "work", environment, out, sizeof out) != 0);
        if (!strstr(out, "the launcher started 3 processes, but") || !strstr(out, "sees 1"))
          CHECK_FAIL("%s", out);
      }
    }
    CASE("constants as in mpi.h")
    {
      const char *data = getenv("KUGEL_TEST_DATA");
      char line[1200];
      snprintf(line, sizeof line, "%s -x c -c -o /dev/null '%s/mpi/constants.inc' 2>&1", flavours[i].compiler,
               data ? data : "tests/data");
      if (!installed(flavours[i].compiler))
        SKIP("its compiler is not installed");
      else
        CHECK(system(line) == 0);
    }
  }
  END();
}

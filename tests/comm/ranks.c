/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of one process: collectives, agreement, splits, layouts, a table of the caller's own. */
#include "ranks.h"
#include "comm/comm.h"

enum { MOST = 8 };

typedef struct outcome {
  int bad[MOST];
  kugel_status status[MOST];
  char said[MOST][512];
} outcome;

static void check_all(const outcome *o, int n)
{
  for (int r = 0; r < n; r++)
    if (o->bad[r])
      CHECK_FAIL("rank %d of %d: %d things are wrong", r, n, o->bad[r]);
}

static void agreement(kugel_comm *comm, void *arg)
{
  outcome *o = arg;
  int rank = rank_of(comm) & 7, n = ranks_of(comm);
  char text[100] = "";
  o->bad[rank] += kugel_comm_agree(comm, KUGEL_OK) != KUGEL_OK;
  // The highest two ranks fail; the lower of them is heard.
  kugel_status s = KUGEL_OK;
  if (rank >= n - 2)
    s = kugel_comm_bcast(comm, text, sizeof text, 100 + rank); // refused, each with a sentence of its own
  o->status[rank] = kugel_comm_agree(comm, s);
  snprintf(o->said[rank], sizeof o->said[rank], "%s", kugel_last_error());
  o->bad[rank] += kugel_comm_agree(comm, s ? o->status[rank] : KUGEL_OK) != KUGEL_EINVAL;
  o->bad[rank] += strcmp(kugel_last_error(), o->said[rank]) != 0; // the rank is named once
  kugel__comm_enter(comm); // what fails while a rank releases things does not change what all say
  s = kugel__comm_agree(comm, rank == n - 1 ? kugel_comm_bcast(comm, text, sizeof text, 90) : KUGEL_OK);
  kugel_comm_bcast(comm, text, sizeof text, 100 + rank);
  snprintf(text, sizeof text, "rank %d: root is 90", n - 1);
  o->bad[rank] +=
      kugel__comm_leave(comm, s) != KUGEL_EINVAL || strncmp(kugel_last_error(), text, strlen(text)) != 0;
  text[0] = 0;
  if (rank == 1)
    strcpy(text, "from the second");
  o->bad[rank] +=
      kugel_comm_bcast(comm, text, sizeof text, 1) != KUGEL_OK || strcmp(text, "from the second") != 0;
  o->bad[rank] += kugel_comm_barrier(comm) != KUGEL_OK;
}

static void splitting(kugel_comm *comm, void *arg)
{
  outcome *o = arg;
  int rank = rank_of(comm) & 7, n = ranks_of(comm);
  kugel_comm *half = NULL, *node = NULL, *none = NULL;
  int64_t word = rank;
  o->bad[rank] += kugel_comm_split(comm, rank % 2, -rank, &half) != KUGEL_OK; // backwards
  o->bad[rank] += ranks_of(half) != (n + 1 - rank % 2) / 2;
  o->bad[rank] += rank_of(half) != (n - 1 - rank) / 2;
  o->bad[rank] += kugel_comm_bcast(half, &word, sizeof word, 0) != KUGEL_OK;
  o->bad[rank] += word != ((n - 1) % 2 == rank % 2 ? n - 1 : n - 2);
  o->bad[rank] += kugel_comm_node(comm, &node) != KUGEL_OK || ranks_of(node) != n || rank_of(node) != rank;
  o->bad[rank] += kugel_comm_split(comm, rank ? 0 : -1, 0, &none) != KUGEL_EINVAL; // one is wrong, all fail
  o->bad[rank] += strstr(kugel_last_error(), "rank 0: color is -1") == NULL;
  kugel_comm_destroy(half);
  kugel_comm_destroy(node);
}

// From the whole on the last rank to all, and to a whole on rank 0; in a batch; ranks without elements pass NULL.
static void moving(kugel_comm *comm, void *arg)
{
  enum { N = 1000, BATCH = 3 };
  outcome *o = arg;
  int rank = rank_of(comm) & 7, n = ranks_of(comm), last = n - 1;
  static const int64_t many = N;
  kugel_layout *from = NULL, *every = NULL, *zero = NULL;
  int32_t *x = malloc(sizeof *x * N * BATCH), *y = calloc(N * BATCH, sizeof *y);
  for (int i = 0; i < N * BATCH; i++)
    x[i] = i * 7 + 1;
  o->bad[rank] += !!kugel_layout_whole(comm, many, last, &from) +
                  !!kugel_layout_whole(comm, many, KUGEL_EVERY_RANK, &every) +
                  !!kugel_layout_whole(comm, many, 0, &zero);
  const kugel_array *has = rank == last ? KUGEL_ARRAY(x, KUGEL_I32, BATCH, N) : NULL;
  o->bad[rank] += kugel_layout_move(from, has, every, KUGEL_ARRAY(y, KUGEL_I32, BATCH, N)) != KUGEL_OK;
  o->bad[rank] += memcmp(x, y, sizeof *x * N * BATCH) != 0;
  memset(y, 0, sizeof *y * N * BATCH);
  o->bad[rank] +=
      kugel_layout_move(from, has, zero, rank ? NULL : KUGEL_ARRAY(y, KUGEL_I32, BATCH, N)) != KUGEL_OK;
  o->bad[rank] += rank == 0 && memcmp(x, y, sizeof *x * N * BATCH) != 0;
  int64_t first = -1, length = -1, runs = -1;
  o->bad[rank] += kugel_layout_runs(from, last, 1, &first, &length, &runs) != KUGEL_OK || first != 0 ||
                  length != N || runs != 1;
  o->bad[rank] += kugel_layout_count(from, last) != N || kugel_layout_count(from, n) != 0;
  o->bad[rank] += kugel_layout_move(every, KUGEL_ARRAY(x, KUGEL_I32, BATCH, N), zero, NULL) != KUGEL_EINVAL;
  if (n > 1) { // a wrong batch on one rank fails on all
    int wrong = rank == last ? BATCH - 1 : BATCH;
    o->bad[rank] += kugel_layout_move(from, has, every, KUGEL_ARRAY(y, KUGEL_I32, wrong, N)) != KUGEL_ESHAPE;
    o->bad[rank] += kugel_layout_whole(comm, N + rank, 0, &(kugel_layout *){NULL}) != KUGEL_EINVAL;
    o->bad[rank] += strstr(kugel_last_error(), "the ranks differ in count") == NULL;
  }
  // Runs that ranks name: rows of 10 dealt out, from where the last rank had them.
  kugel_layout *dealt = NULL;
  int64_t firsts[N / 10], tens[N / 10], mine = 0, third = 0;
  for (int i = 0; i < N / 10; i++)
    if (i % n == rank_of(comm)) {
      firsts[mine] = 10 * i;
      tens[mine++] = 10;
    }
  int32_t *part = calloc((size_t)mine * 10 + 1, sizeof *part);
  o->bad[rank] += kugel_layout_create(comm, N, mine, firsts, tens, &dealt) != KUGEL_OK;
  o->bad[rank] += kugel_layout_count(dealt, rank_of(comm)) != mine * 10;
  o->bad[rank] += kugel_layout_move(from, rank == last ? KUGEL_ARRAY(x, KUGEL_I32, N) : NULL, dealt,
                                    KUGEL_ARRAY(part, KUGEL_I32, mine * 10)) != KUGEL_OK;
  for (int64_t i = 0; i < mine * 10; i++)
    o->bad[rank] += part[i] != (firsts[i / 10] + i % 10) * 7 + 1;
  kugel_layout_destroy(dealt);
  firsts[0] = rank == last ? N - 5 : firsts[0]; // beyond the end on one rank, or runs that do not ascend
  o->bad[rank] += kugel_layout_create(comm, N, mine, firsts, tens, &dealt) != KUGEL_EINVAL || dealt;
  o->bad[rank] += strstr(kugel_last_error(), "must lie in") == NULL;
  o->bad[rank] += kugel_layout_create(comm, N, rank == last, NULL, &third, &dealt) != KUGEL_EINVAL;
  free(part);
  kugel_layout_destroy(from);
  kugel_layout_destroy(every);
  kugel_layout_destroy(zero);
  free(x);
  free(y);
}

/* ---- a caller's own table: two ranks that are one thread, so that only what needs no answer can be asked ---- */

static int calls;

static int own_barrier(void *user)
{
  (void)user;
  return ++calls, 0;
}

static int own_bcast(void *user, void *data, size_t bytes, int root)
{
  (void)user, (void)data, (void)bytes, (void)root;
  return ++calls, 0;
}

static int own_reduce(void *user, int64_t *values, int n, kugel_comm_reduction op)
{
  (void)user, (void)values, (void)n, (void)op;
  return ++calls, 0;
}

static int own_begin(void *user, const kugel_exchange *x, void **ticket)
{
  (void)user;
  *ticket = NULL;
  memcpy((char *)x->recv + x->recv_at[0], (const char *)x->send + x->send_at[0], x->recv_bytes[0]);
  return ++calls, 0;
}

static int own_end(void *user, void *ticket)
{
  (void)user, (void)ticket;
  return 0;
}

static int failing_barrier(void *user)
{
  (void)user;
  return 5;
}

static void own_table(void)
{
  kugel_comm_ops ops = {.size = sizeof ops,
                        .name = "own engine",
                        .barrier = failing_barrier,
                        .bcast = own_bcast,
                        .reduce = own_reduce,
                        .begin = own_begin,
                        .end = own_end};
  kugel_comm *comm = NULL;
  char line[64];
  CHECK_OK(kugel_comm_custom(NULL, &ops, NULL, 0, 1, &comm));
  CHECK_OK(kugel_comm_describe(comm, line, sizeof line));
  CHECK(!strcmp(line, "1 rank on 1 host; own engine"));
  CHECK_IS(kugel_comm_barrier(comm), KUGEL_EIO);
  CHECK(strstr(kugel_last_error(), "error 5"));
  CHECK_IS(kugel_comm_split(comm, 0, 0, &(kugel_comm *){NULL}), KUGEL_ENOTSUP);
  kugel_comm_destroy(comm);
  ops.barrier = own_barrier;
  CHECK_OK(kugel_comm_custom(NULL, &ops, NULL, 0, 1, &comm));
  calls = 0;
  CHECK_OK(kugel_comm_barrier(comm));
  CHECK(calls == 1);
  kugel_comm_destroy(comm);
  ops.end = NULL;
  CHECK_IS(kugel_comm_custom(NULL, &ops, NULL, 0, 1, &comm), KUGEL_EINVAL);
  CHECK_IS(kugel_comm_custom(NULL, &ops, NULL, 2, 2, &comm), KUGEL_EINVAL);
}

static void measured(kugel_comm *comm, void *arg)
{
  double seconds = -1;
  (void)arg;
  CHECK_OK(kugel_comm_measure(comm, 1000, 5, &seconds));
  CHECK(seconds > 0);
  CHECK_IS(kugel_comm_measure(comm, rank_of(comm) ? 10 : 11, 5, &seconds), KUGEL_EINVAL);
  CHECK_IS(kugel_comm_measure(comm, 10, rank_of(comm) ? 5 : 0, &seconds), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "rank 0: bytes is 10") != NULL);
  if (rank_of(comm)) {
    CHECK_OK(kugel_serve(NULL, comm, NULL));
    return;
  }
  CHECK_OK(kugel_lead_measure(comm, 77, 3, &seconds));
  CHECK_OK(kugel_dismiss(comm, 0));
}

int main(void)
{
  static const int counts[] = {1, 2, 3, 5, 7};
  CASE("ranks agree on the lowest one's failure")
  {
    for (int i = 1; i < 5; i++) {
      int n = counts[i];
      outcome o = {0};
      char want[40];
      run_ranks(NULL, n, agreement, &o);
      check_all(&o, n);
      snprintf(want, sizeof want, "rank %d: root is %d", n - 2, 100 + n - 2);
      for (int r = 0; r < n; r++) {
        CHECK(o.status[r] == KUGEL_EINVAL && !strcmp(o.said[r], o.said[0]));
        CHECK(!strncmp(o.said[r], want, strlen(want)));
      }
    }
  }
  CASE("splits")
  {
    for (int i = 0; i < 5; i++) {
      outcome o = {0};
      if (counts[i] > 1)
        run_ranks(NULL, counts[i], splitting, &o);
      check_all(&o, counts[i]);
    }
  }
  CASE("layouts")
  {
    for (int i = 0; i < 5; i++) {
      outcome o = {0};
      run_ranks(NULL, counts[i], moving, &o);
      check_all(&o, counts[i]);
    }
  }
  CASE("one process, and a launcher's environment")
  {
    kugel_comm *comm = NULL;
    int rank = -1;
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                        "SLURM_STEP_NUM_TASKS"};
    for (int i = 0; i < 4; i++)
      unsetenv(names[i]);
    CHECK(kugel_comm_launched(&rank) == 1 && rank == 0);
    CHECK_OK(kugel_comm_open(NULL, NULL, &comm));
    CHECK(ranks_of(comm) == 1 && rank_of(comm) == 0);
    kugel_comm_destroy(comm);
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    setenv("SLURM_PROCID", "2", 1);
    CHECK(kugel_comm_launched(&rank) == 4 && rank == 2);
    setenv("KUGEL_MPI", "/nowhere/libmpi.so", 1);
    CHECK_IS(kugel_comm_open(NULL, NULL, &comm), KUGEL_ENOTSUP);
    CHECK(!comm && strstr(kugel_last_error(), "KUGEL_MPI is \"/nowhere/libmpi.so\""));
    kugel_comm_opts odd = {.size = sizeof odd, .kind = (kugel_comm_kind)7};
    CHECK_IS(kugel_comm_open(NULL, &odd, &comm), KUGEL_EINVAL);
    CHECK_IS(kugel_comm_adopt(NULL, NULL, 4, &comm), KUGEL_EINVAL);
    CHECK_IS(kugel_comm_threads(NULL, 0, &comm), KUGEL_EINVAL);
  }
  CASE("a table of the caller's own")
  {
    own_table();
  }
  CASE("the exchange, measured and checked")
  {
    run_ranks(NULL, 3, measured, NULL);
  }
  END();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks: processes (or threads) that share one transform, over the engines that a site has.
 *
 *   kugel_comm *comm;                                                    // mpirun -n 8 ./program
 *   if (kugel_comm_open(NULL, NULL, &comm)) fprintf(stderr, "%s\n", kugel_last_error());
 *   kugel_sht_opts opts = {.size = sizeof opts, .grid = grid, .lmax = lmax, .comm = comm};   // see sphere.h
 *   kugel_sht_create(NULL, &opts, &plan);                                // every rank calls; arrays are its parts
 *
 * Rules of everything that takes a communicator:
 *  - Calls are collective: every rank makes them, in the same order, with the same options.
 *  - Ranks agree on failures before data moves: all of them return the same status, and the same sentence, which begins
 *    with the rank that failed ("rank 3: no memory for ..."). A rank that ends or is killed is the launcher's business:
 *    mpirun ends the others.
 *  - A communicator serves one thread at a time; for more, split it.
 *  - Nothing is summed across ranks in floating point, so results do not depend on the number of ranks.
 *  - MPI is found when a communicator is opened, never before, in the process or by dlopen: Open MPI, MPICH and its kin
 *    (Intel MPI, MVAPICH, Cray MPICH), and libraries with the ABI of MPI 5. KUGEL_MPI in the environment names another file.
 */
#ifndef KUGEL_COMM_H
#define KUGEL_COMM_H

#include <kugel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kugel_comm kugel_comm;

/* ---- making communicators -------------------------------------------------------------------------------------- */

typedef enum kugel_comm_kind {
  KUGEL_COMM_AUTO = 0, /* MPI if a launcher (mpirun, srun) started more than one process; else SELF */
  KUGEL_COMM_SELF = 1, /* this process alone */
  KUGEL_COMM_MPI = 2   /* MPI_COMM_WORLD */
} kugel_comm_kind;

typedef struct kugel_comm_opts {
  size_t size; /* sizeof(kugel_comm_opts) */
  kugel_comm_kind kind;
  const char *library; /* path of libmpi.so; NULL: KUGEL_MPI, else one that the process has, else the launcher's */
} kugel_comm_opts;

/// Opens the communicator of the processes that a launcher started. Initialises MPI if the program has not, with
/// MPI_THREAD_SERIALIZED; what is initialised here is finalised when the process exits.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  NULL for defaults
/// @param[out] out   this rank's communicator
/// @errors KUGEL_ENOTSUP if no MPI library is found, or the launcher belongs to another MPI than the library, in which case
///         each process would believe to be alone; KUGEL_EINVAL; KUGEL_ENOMEM; KUGEL_EIO if MPI fails
/// @cost   what MPI_Init takes, up to seconds; two small exchanges
KUGEL_API kugel_status kugel_comm_open(kugel_ctx *ctx, const kugel_comm_opts *opts, kugel_comm **out);

/// Makes a communicator of an MPI communicator that the program has, on a duplicate with tags of its own.
/// @param[in]  ctx       NULL: the default context
/// @param[in]  mpi_comm  address of the MPI_Comm; from mpi4py MPI._addressof(comm)
/// @param[in]  bytes     its size, sizeof(MPI_Comm)
/// @param[out] out       this rank's communicator
/// @errors KUGEL_EINVAL if the size is not that of the MPI library in the process; else as kugel_comm_open
KUGEL_API kugel_status kugel_comm_adopt(kugel_ctx *ctx, const void *mpi_comm, size_t bytes, kugel_comm **out);

/// Makes n ranks of one process, each for a thread of its own: for tests, and where no MPI is installed.
/// @param[in]  ctx  NULL: the default context
/// @param[in]  n    ranks, 1 to 1024
/// @param[out] out  [n] communicators; out[r] is rank r, to be used and destroyed by one thread at a time
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_comm_threads(kugel_ctx *ctx, int n, kugel_comm **out);

/* What goes from rank to rank, in bytes: to rank r send_bytes[r] at send + send_at[r]; from rank r recv_bytes[r] to
 * recv + recv_at[r]. The arrays of counts have one entry per rank. Everything stays in place until the exchange has ended. */
typedef struct kugel_exchange {
  const void *send;
  const size_t *send_bytes, *send_at;
  void *recv;
  const size_t *recv_bytes, *recv_at;
} kugel_exchange;

typedef enum kugel_comm_reduction { KUGEL_COMM_MIN = 0, KUGEL_COMM_MAX = 1, KUGEL_COMM_SUM = 2 } kugel_comm_reduction;

/* An engine of the caller's own. Every function is collective and returns 0, or another number if it failed. At most two
 * exchanges are under way at a time. There is no reduction of floating-point numbers. */
typedef struct kugel_comm_ops {
  size_t size;      /* sizeof(kugel_comm_ops) */
  const char *name; /* for kugel_comm_describe, such as "UCX"; must outlive the communicator */
  int (*barrier)(void *user);
  int (*bcast)(void *user, void *data, size_t bytes, int root);
  int (*reduce)(void *user, int64_t *values, int n, kugel_comm_reduction op); /* in place, to all ranks */
  /* May return before data has moved; *x goes, what it points at stays. *ticket is NULL at first. After a failure end is called
   * only if there is a ticket, for parts that are under way. */
  int (*begin)(void *user, const kugel_exchange *x, void **ticket);
  int (*end)(void *user, void *ticket); /* once for each begin; returns when this rank's data has moved */
  /* Ranks of one color make a new communicator, ordered by key, then by rank. NULL: kugel_comm_split fails. */
  int (*split)(void *user, int color, int key, void **made, int *rank, int *size);
  void (*close)(void *user); /* may be NULL */
} kugel_comm_ops;

/// Makes a communicator of functions of the caller.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  ops   copied
/// @param[in]  user  handed to the functions
/// @param[in]  rank  this rank, 0 to size - 1
/// @param[in]  size  number of ranks
/// @param[out] out   the communicator
/// @errors KUGEL_EINVAL if a function is missing; KUGEL_ENOMEM; KUGEL_EIO if one fails
KUGEL_API kugel_status kugel_comm_custom(kugel_ctx *ctx, const kugel_comm_ops *ops, void *user, int rank, int size,
                                         kugel_comm **out);

/// Ranks of one color make a communicator of their own.
/// @param[in]  comm   a communicator
/// @param[in]  color  0 and more
/// @param[in]  key    order in the new communicator; equal keys by rank
/// @param[out] out    the communicator of this rank's color
/// @errors KUGEL_EINVAL for a negative color; KUGEL_ENOTSUP; KUGEL_ENOMEM; KUGEL_EIO
KUGEL_API kugel_status kugel_comm_split(kugel_comm *comm, int color, int key, kugel_comm **out);

/// The ranks of this rank's host.
/// @param[in]  comm  a communicator
/// @param[out] out   a communicator of the ranks with the same host name and boot
/// @errors as kugel_comm_split
KUGEL_API kugel_status kugel_comm_node(kugel_comm *comm, kugel_comm **out);

/// Frees a communicator. Plans and layouts made with it must be destroyed before. Not collective.
/// @param[in] comm  may be NULL
KUGEL_API void kugel_comm_destroy(kugel_comm *comm);

/* ---- what a communicator is ------------------------------------------------------------------------------------ */

typedef struct kugel_comm_info {
  size_t size;              /* sizeof(kugel_comm_info), set by the caller */
  int rank, ranks;          /* this rank, and how many there are */
  int node_rank, node_ranks; /* among the ranks of this host */
  int nodes;                /* hosts */
  int threads; /* of this rank, if the ranks of a host share the CPUs that each may use evenly: at least 1 */
} kugel_comm_info;

/// Reports the numbers of a communicator.
/// @param[in]     comm  a communicator
/// @param[in,out] info  its size set; the rest is filled
/// @errors KUGEL_EINVAL if a pointer is NULL or info->size is not set
KUGEL_API kugel_status kugel_comm_get_info(const kugel_comm *comm, kugel_comm_info *info);

/// One line on a communicator, such as "4 ranks on 2 hosts; Open MPI v4.1.4 (Open MPI's ABI)".
/// @param[in]  comm  a communicator
/// @param[out] text  the line, cut to n - 1 bytes
/// @param[in]  n     size of text, at least 1
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_comm_describe(const kugel_comm *comm, char *text, size_t n);

/// How many processes a launcher says that it started with this one, from the environment (Open MPI, MPICH and kin, PMIx,
/// Slurm); MPI is not touched.
/// @param[out] rank  this process among them; may be NULL
/// @return 1 without a launcher
KUGEL_API int kugel_comm_launched(int *rank);

/* ---- small collectives ----------------------------------------------------------------------------------------- */

/// Agrees on failure: if any rank passes a failure, every rank returns that of the lowest such rank, and
/// kugel_last_error() is that rank's sentence everywhere.
/// @param[in] comm    a communicator
/// @param[in] status  how this rank fared; a failure's sentence is this thread's kugel_last_error()
/// @errors the failure agreed on; KUGEL_EIO
/// @cost   one reduction of 232 bytes; on failure also a broadcast
KUGEL_API kugel_status kugel_comm_agree(kugel_comm *comm, kugel_status status);

/// Copies bytes of one rank to all.
/// @param[in]     comm   a communicator
/// @param[in,out] data   host memory
/// @param[in]     bytes  the same on all ranks
/// @param[in]     root   the rank that has the data
/// @errors KUGEL_EINVAL for a root that is not there; KUGEL_EIO
KUGEL_API kugel_status kugel_comm_bcast(kugel_comm *comm, void *data, size_t bytes, int root);

/// Combines integers of all ranks, element by element, in place, on all ranks.
/// @param[in]     comm    a communicator
/// @param[in,out] values  [n]
/// @param[in]     n       1 to 2^20, the same on all ranks
/// @param[in]     op      KUGEL_COMM_MIN, KUGEL_COMM_MAX or KUGEL_COMM_SUM
/// @errors KUGEL_EINVAL for n or op out of range; KUGEL_EIO
KUGEL_API kugel_status kugel_comm_reduce(kugel_comm *comm, int64_t *values, int n, kugel_comm_reduction op);

/// Returns when every rank has called it.
/// @param[in] comm  a communicator
/// @errors KUGEL_EIO
KUGEL_API kugel_status kugel_comm_barrier(kugel_comm *comm);

/// Measures the exchange: every rank sends as many bytes to each other rank, several times, and what arrives is checked.
/// @param[in]  comm     a communicator
/// @param[in]  bytes    from each rank to each other, 1 to 2^40
/// @param[in]  repeats  1 to 1000, after one that does not count
/// @param[out] seconds  of one exchange, the median of the slowest ranks' times; the same on all ranks
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM; KUGEL_EIO, also if data arrives damaged; agreed
/// @cost   memory: 2 bytes per rank and byte
KUGEL_API kugel_status kugel_comm_measure(kugel_comm *comm, int64_t bytes, int repeats, double *seconds);

/// kugel_comm_measure between the ranks' devices, as plans over ranks with a device each exchange: by NCCL, or by way of
/// host memory; straight or in two steps.
/// @param[in]  comm     a communicator
/// @param[in]  ctx      a context of this rank's device; NULL: the default context
/// @param[in]  bytes    from each rank to each other, 1 to 2^40
/// @param[in]  repeats  1 to 1000, after one that does not count
/// @param[out] way      how, such as "NCCL 2.28.3, in two steps", cut to n - 1 bytes; may be NULL
/// @param[in]  n        size of way
/// @param[out] seconds  of one exchange, from when all ranks are ready, the median of the slowest ranks' times; the same on
///                      all ranks
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM; KUGEL_EDEVICE; KUGEL_EIO, also if data arrives damaged; agreed
/// @cost   device memory: 2 bytes per rank and byte, and 2 more in two steps; joining NCCL, seconds
KUGEL_API kugel_status kugel_comm_measure_devices(kugel_comm *comm, kugel_ctx *ctx, int64_t bytes, int repeats, char *way,
                                                  size_t n, double *seconds);

/* ---- layouts --------------------------------------------------------------------------------------------------- */

/* Which elements of an array each rank has, and in which order: for each rank, runs of consecutive elements of the whole
 * array, ascending, one after another in the rank's part. Every rank knows all of it. */
typedef struct kugel_layout kugel_layout;

enum { KUGEL_EVERY_RANK = -1 };

/// The layout of an array that one rank, or every rank, has whole.
/// @param[in]  comm   a communicator, which must outlive the layout
/// @param[in]  count  elements of the whole array
/// @param[in]  root   the rank that has it; KUGEL_EVERY_RANK: all, as a target of kugel_layout_move only
/// @param[out] out    the layout
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM; agreed
KUGEL_API kugel_status kugel_layout_whole(kugel_comm *comm, int64_t count, int root, kugel_layout **out);

/// Makes a layout of runs that each rank names for itself.
/// @param[in]  comm    a communicator, which must outlive the layout
/// @param[in]  count   elements of the whole array, the same on all ranks
/// @param[in]  runs    of this rank, 0 and more
/// @param[in]  first   [runs] first element of each, ascending; as a source of kugel_layout_move no two ranks have the same element
/// @param[in]  length  [runs] elements, 0 and more
/// @param[out] out     the layout
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM; KUGEL_EIO; agreed
/// @cost   16 bytes per run on every rank
KUGEL_API kugel_status kugel_layout_create(kugel_comm *comm, int64_t count, int64_t runs, const int64_t *first,
                                           const int64_t *length, kugel_layout **out);

/// Frees a layout.
/// @param[in] layout  may be NULL
KUGEL_API void kugel_layout_destroy(kugel_layout *layout);

/// Elements of a rank's part.
/// @param[in] layout  a layout
/// @param[in] rank    KUGEL_EVERY_RANK: of the whole array
/// @return 0 if layout is NULL or there is no such rank
KUGEL_API int64_t kugel_layout_count(const kugel_layout *layout, int rank);

/// Runs of a rank's part.
/// @param[in]  layout  a layout
/// @param[in]  rank    a rank
/// @param[in]  most    capacity of the arrays
/// @param[out] first   [most] index of the first element of each run in the whole array; may be NULL
/// @param[out] length  [most] its elements; may be NULL
/// @param[out] runs    how many there are, which may be more than `most`; may be NULL
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_layout_runs(const kugel_layout *layout, int rank, int64_t most, int64_t *first,
                                         int64_t *length, int64_t *runs);

/// Moves an array from one layout to another: gathers, scatters, spreads anew. Elements of the target that no rank has in
/// `from` are left alone. Collective.
/// @param[in]  from  where elements are; each is on one rank
/// @param[in]  x     [batch..., count on this rank] host array in C order; NULL if this rank has no elements
/// @param[in]  to    of the same communicator and the same whole array
/// @param[out] y     [batch..., count on this rank], the same dtype and batch; NULL if this rank has no elements
/// @errors KUGEL_ESHAPE, KUGEL_EINVAL, KUGEL_ENOMEM, KUGEL_EIO; agreed
/// @cost   one exchange per array of the batch; memory for this rank's two parts
KUGEL_API kugel_status kugel_layout_move(const kugel_layout *from, const kugel_array *x, const kugel_layout *to,
                                         const kugel_array *y);

/* ---- rank 0 leads ---------------------------------------------------------------------------------------------- */

/// Makes rank 0 the leader of a communicator: from now on, the plans that it makes in a context without opts.comm spread their
/// work over all ranks, which are in kugel_serve meanwhile: spherical-harmonic transforms, radial convolutions by sums over
/// pixels, convolutions and deconvolutions of volumes, transforms in the ball. Programs and functions that know nothing of ranks (kugel_smooth,
/// kugel_sht_solve) run over all of them so, with whole arrays in host memory of rank 0. In a context of a device,
/// spherical-harmonic transforms run on the devices of all ranks if all serve with a context of that kind and have room, else on
/// rank 0's alone; other plans of devices are not spread. Not for a context in which other threads make plans at this moment.
/// @param[in] ctx   NULL: the default context
/// @param[in] comm  rank 0's communicator, which must outlive the plans; NULL: the context leads no more
/// @errors KUGEL_EINVAL if this is not rank 0
/// @cost   each call of a plan moves its arrays between rank 0 and the others
KUGEL_API kugel_status kugel_lead(kugel_ctx *ctx, kugel_comm *comm);

/// Works for rank 0 until it calls kugel_dismiss. Failures of single calls are rank 0's to report.
/// @param[in]  ctx   NULL: the default context; of a device: for rank 0's transforms on that kind, all else runs on the CPU
/// @param[in]  comm  the communicator of a rank other than 0
/// @param[out] code  the number that rank 0 gave to kugel_dismiss; may be NULL
/// @errors KUGEL_EINVAL; KUGEL_EIO if a rank cannot be reached
KUGEL_API kugel_status kugel_serve(kugel_ctx *ctx, kugel_comm *comm, int *code);

/// kugel_comm_measure of rank 0 while the others are in kugel_serve.
/// @param[in]  comm     rank 0's communicator
/// @param[in]  bytes    as for kugel_comm_measure
/// @param[in]  repeats  as for kugel_comm_measure
/// @param[out] seconds  as for kugel_comm_measure
/// @errors as kugel_comm_measure
/// @cost   as kugel_comm_measure
KUGEL_API kugel_status kugel_lead_measure(kugel_comm *comm, int64_t bytes, int repeats, double *seconds);

/// Ends kugel_serve on the other ranks. Plans that lead must be destroyed before.
/// @param[in] comm  rank 0's communicator
/// @param[in] code  for the other ranks, such as an exit code
/// @errors KUGEL_EINVAL; KUGEL_EIO
KUGEL_API kugel_status kugel_dismiss(kugel_comm *comm, int code);

#ifdef __cplusplus
}
#endif
#endif

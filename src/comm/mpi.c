/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI: which ABI the library has, and its constants. tests/data/mpi/constants.inc compares them with each mpi.h. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "comm/mpi.h"
#include "core/alloc.h"
#include "core/ctx.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
#define J(x)         PASTE(x, SUFFIX)

typedef int handle_int;
typedef void *handle_ptr;
#define H      handle_int
#define SUFFIX _int
#include "comm/mpi_calls.def"
#undef H
#undef SUFFIX
#define H      handle_ptr
#define SUFFIX _ptr
#include "comm/mpi_calls.def"
#undef H
#undef SUFFIX

#define AT(x) ((void *)(intptr_t)(x))

// MPI 5.0, appendix A.
static const consts_ptr standard = {.world = AT(0x101),
                                    .byte = AT(0x247),
                                    .i64 = AT(0x258),
                                    .op = {AT(0x22), AT(0x23), AT(0x21)},
                                    .errors_return = AT(0x143),
                                    .thread_serialized = 2048,
                                    .in_place = AT(1),
                                    .statuses_ignore = NULL};

// MPICH's ABI initiative: MPICH, Intel MPI, MVAPICH, Cray MPICH.
static const consts_int mpich = {.world = 0x44000000,
                                 .byte = 0x4c00010d,
                                 .i64 = 0x4c00083a,
                                 .op = {0x58000002, 0x58000001, 0x58000003},
                                 .errors_return = 0x54000001,
                                 .thread_serialized = 2,
                                 .in_place = AT(-1),
                                 .statuses_ignore = AT(1)};

static consts_ptr open_mpi(void *lib)
{
  return (consts_ptr){
      .world = dlsym(lib, "ompi_mpi_comm_world"),
      .byte = dlsym(lib, "ompi_mpi_byte"),
      .i64 = dlsym(lib, "ompi_mpi_int64_t"),
      .op = {dlsym(lib, "ompi_mpi_op_min"), dlsym(lib, "ompi_mpi_op_max"), dlsym(lib, "ompi_mpi_op_sum")},
      .errors_return = dlsym(lib, "ompi_mpi_errors_return"),
      .thread_serialized = 2,
      .in_place = AT(1),
      .statuses_ignore = NULL};
}

// "MPICH Version:\t4.0.2\n..." to "MPICH Version: 4.0.2"; Open MPI's goes on after a comma.
static void tidy(char *text)
{
  text[strcspn(text, "\n,")] = 0;
  char *to = text;
  for (const char *from = text; *from; from++) {
    char c = *from == '\t' ? ' ' : *from;
    if (c != ' ' || (to > text && to[-1] != ' '))
      *to++ = c;
  }
  *to = 0;
}

typedef enum abi { ABI_STANDARD, ABI_OPEN_MPI, ABI_MPICH } abi;

/* By the file that has MPI_Get_library_version: libmpi_abi.so rests on libraries whose symbols dlsym finds too. */
static kugel_status which(void *lib, abi *kind, char *text, size_t n)
{
  static const char *const names[] = {"MPI 5 ABI", "Open MPI's ABI", "MPICH's ABI"};
  char version[8192] = ""; // as long as MPICH's may be
  int length = 0;
  int (*get)(char *, int *);
  *(void **)(void *)&get = dlsym(lib, "MPI_Get_library_version");
  Dl_info where = {0};
  KUGEL_CHECK(get && dladdr(*(void **)(void *)&get, &where) && where.dli_fname, KUGEL_ENOTSUP,
              "the MPI library lacks MPI_Get_library_version: MPI 3 or later is needed");
  get(version, &length);
  tidy(version);
  if (strstr(where.dli_fname, "libmpi_abi.so"))
    *kind = ABI_STANDARD;
  else if (dlsym(lib, "ompi_mpi_comm_world"))
    *kind = ABI_OPEN_MPI;
  else if (strstr(version, "MPICH") || strstr(version, "Intel") || strstr(version, "MVAPICH") ||
           strstr(version, "CRAY"))
    *kind = ABI_MPICH;
  else
    return KUGEL_FAIL(
        KUGEL_ENOTSUP,
        "the MPI library is of an unknown make, \"%.100s\": use Open MPI, MPICH, Intel MPI, or one with "
        "the ABI of MPI 5",
        version);
  snprintf(text, n, "%.100s (%s)", version, names[*kind]);
  return KUGEL_OK;
}

kugel_status kugel__comm_mpi(kugel_ctx *ctx, const char *path, const void *adopt, size_t bytes,
                             kugel_comm **out)
{
  void *lib;
  abi kind;
  char library[160];
  KUGEL_TRY(kugel__mpi_find(path, &lib));
  KUGEL_TRY(which(lib, &kind, library, sizeof library));
  size_t handle = kind == ABI_MPICH ? sizeof(handle_int) : sizeof(handle_ptr);
  KUGEL_CHECK(
      !adopt || bytes == handle, KUGEL_EINVAL,
      "the communicator has %zu bytes, those of %.100s have %zu: it is another library's, set KUGEL_MPI",
      bytes, library, handle);
  if (kind == ABI_MPICH) {
    KUGEL_TRY(open_int(ctx, lib, &mpich, adopt, library, out));
  } else {
    consts_ptr k = kind == ABI_STANDARD ? standard : open_mpi(lib);
    KUGEL_TRY(open_ptr(ctx, lib, &k, adopt, library, out));
  }
  int launched = kugel_comm_launched(NULL);
  if (adopt || launched <= 1 || launched == (*out)->size)
    return KUGEL_OK;
  int size = (*out)->size;
  kugel_comm_destroy(*out);
  *out = NULL;
  bool bare = getenv("SLURM_STEP_NUM_TASKS") && !getenv("PMI_SIZE") && !getenv("PMIX_RANK") &&
              !getenv("OMPI_COMM_WORLD_SIZE"); // srun without a word on MPI
  return KUGEL_FAIL(
      KUGEL_ENOTSUP, "the launcher started %d processes, but %.80s sees %d: %s", launched, library, size,
      bare ? "give srun one of the ways that srun --mpi=list names, --mpi=pmix for Open MPI, --mpi=pmi2 for "
             "MPICH and Intel MPI, or use that library's own mpirun"
           : "start with that library's own mpirun, or set KUGEL_MPI to the libmpi.so of the launcher's MPI");
}

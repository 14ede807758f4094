/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are replaced: a process that is killed leaves nothing, where the file system knows files without a name; several files
 * appear together, more of them than a process holds by descriptors. */
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <kugel/core.h>
#include <kugel/io.h>
#include "core/replace.h"

static char folder[] = "replace-XXXXXX";

static const char *path_of(const char *name, int i)
{
  static char path[200];
  snprintf(path, sizeof path, "%s/%s%d", folder, name, i);
  return path;
}

static int entries(void)
{
  int count = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
    count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  closedir(d);
  return count;
}

// Whether a file without a name may get one here.
static bool nameless_here(void)
{
  char open_path[40];
  int fd = -1;
#ifdef O_TMPFILE
  fd = open(folder, O_TMPFILE | O_RDWR, 0600);
#endif
  snprintf(open_path, sizeof open_path, "/proc/self/fd/%d", fd);
  bool good = fd >= 0 && !linkat(AT_FDCWD, open_path, AT_FDCWD, path_of("probe", 0), AT_SYMLINK_FOLLOW);
  if (good)
    unlink(path_of("probe", 0));
  if (fd >= 0)
    close(fd);
  return good;
}

static void put(const char *path, const char *text, kugel_status status)
{
  kugel__replace r;
  FILE *out;
  CHECK_OK(kugel__replace_begin(NULL, path, 1, &r));
  CHECK_OK(kugel__replace_open(&r, &out));
  fputs(text, out);
  CHECK(kugel__replace_finish(&r, status, out) == status);
}

static bool holds(const char *path, const char *text)
{
  char got[64] = "";
  FILE *f = fopen(path, "r");
  bool same = f && fgets(got, sizeof got, f) && !strcmp(got, text);
  if (f)
    fclose(f);
  return same;
}

// A child that is killed while it writes, or while finished files wait for others.
static void killed(bool held)
{
  put(path_of("out", 0), "before", KUGEL_OK);
  pid_t child = fork();
  if (!child) {
    kugel__replace r;
    int fd;
    if (held && kugel_files_begin())
      _exit(1);
    for (int i = 0; i < 3; i++)
      if (kugel__replace_begin(NULL, path_of("out", i), 1, &r) || kugel__replace_create(&r, &fd) ||
          write(fd, "after", 5) != 5 || close(fd) || (held && kugel__replace_commit(&r)))
        _exit(2);
    raise(SIGKILL);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  CHECK(holds(path_of("out", 0), "before") && entries() == 1);
}

int main(void)
{
  CHECK(mkdtemp(folder) != NULL);
  CASE("replaced, and left as it was")
  {
    put(path_of("out", 0), "one", KUGEL_OK);
    CHECK(chmod(path_of("out", 0), 0640) == 0);
    put(path_of("out", 0), "two", KUGEL_OK);
    put(path_of("out", 0), "three", KUGEL_ECANCELED);
    struct stat st = {0};
    CHECK(holds(path_of("out", 0), "two") && entries() == 1 && stat(path_of("out", 0), &st) == 0);
    CHECK((st.st_mode & 0777) == 0640);
  }
  CASE("a killed process leaves nothing")
  {
    if (nameless_here()) {
      killed(false);
      killed(true);
    } else {
      printf("  files have names here\n");
    }
  }
  CASE("many files together, or none of them")
  for (int keep = 0; keep < 2; keep++) {
    CHECK_OK(kugel_files_begin());
    for (int i = 0; i < 80; i++)
      put(path_of("many", i), "together", KUGEL_OK);
    int before = entries();
    CHECK(before <= 1 + 80 && access(path_of("many", 0), F_OK) != 0);
    CHECK_OK(kugel_files_end(keep));
    CHECK(entries() == (keep ? 81 : 1));
    CHECK(!keep || (holds(path_of("many", 0), "together") && holds(path_of("many", 79), "together")));
  }
  CASE("a name for other processes")
  {
    kugel__replace r;
    int fd;
    CHECK_OK(kugel__replace_begin(NULL, path_of("shared", 0), 0, &r));
    CHECK_OK(kugel__replace_create(&r, &fd));
    CHECK(write(fd, "text", 4) == 4 && holds(kugel__replace_path(&r), "text"));
    CHECK_OK(kugel__replace_name(&r));
    CHECK(holds(r.temp, "text") && holds(kugel__replace_path(&r), "text"));
    close(fd);
    CHECK_OK(kugel__replace_commit(&r));
    CHECK(holds(path_of("shared", 0), "text") && entries() == 82);
  }
  for (int i = 0; i < 80; i++)
    unlink(path_of("many", i));
  unlink(path_of("out", 0));
  unlink(path_of("shared", 0));
  CHECK(rmdir(folder) == 0);
  END();
}

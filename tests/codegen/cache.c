/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel cache on disk: damage, strangers, many processes, size limit. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "codegen/cache.h"
#include "codegen/hash.h"
#include "core/alloc.h"

static char root[256], folder[300];

static void hex_of(const void *data, size_t n, char *text)
{
  unsigned char digest[32];
  kugel__hash h;
  kugel__hash_start(&h);
  for (size_t at = 0; at < n; at += 13) // in odd pieces
    kugel__hash_add(&h, (const char *)data + at, n - at < 13 ? n - at : 13);
  kugel__hash_end(&h, digest);
  for (int i = 0; i < 32; i++)
    sprintf(text + 2 * i, "%02x", digest[i]);
}

static kugel__key key_of(int n)
{
  kugel__key key = {{0}};
  memcpy(key.bytes, &n, sizeof n);
  key.bytes[15] = 0xab;
  return key;
}

static const char *path_of(const kugel__key *key)
{
  static char path[400];
  int at = snprintf(path, sizeof path, "%s/", folder);
  for (int i = 0; i < 16; i++)
    at += sprintf(path + at, "%02x", key->bytes[i]);
  strcpy(path + at, ".kernel");
  return path;
}

static int holds(const kugel__key *key, const void *data, size_t bytes)
{
  void *got = NULL;
  size_t n = 0;
  if (!kugel__cache_get(key, &got, &n))
    return 0;
  int same = n == bytes && !memcmp(got, data, n);
  kugel__free(NULL, got);
  return same ? 1 : -1;
}

static int count_files(const char *prefix)
{
  int n = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
    n += e->d_name[0] != '.' && !strncmp(e->d_name, prefix, strlen(prefix));
  if (d)
    closedir(d);
  return n;
}

static void clear(void)
{
  char command[400];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  CHECK(!system(command));
}

static void damage(void)
{
  static char data[5000];
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (char)(i * 31);
  kugel__key key = key_of(1), other = key_of(2);
  CHECK(holds(&key, data, sizeof data) == 0);
  CHECK(kugel__cache_put(&key, data, sizeof data));
  CHECK(holds(&key, data, sizeof data) == 1);
  CHECK(holds(&other, data, sizeof data) == 0);
  struct stat st;
  CHECK(!stat(path_of(&key), &st) && (st.st_mode & 077) == 0);
  long size = (long)st.st_size;
  for (long at = 0; at < size; at += at < 70 ? 1 : 97) { // a bit flipped
    FILE *f = fopen(path_of(&key), "r+b");
    fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 16, f);
    fclose(f);
    CHECK(holds(&key, data, sizeof data) == 0);
    f = fopen(path_of(&key), "r+b");
    fseek(f, at, SEEK_SET);
    fputc(c, f);
    fclose(f);
  }
  CHECK(holds(&key, data, sizeof data) == 1);
  for (long keep = size - 1; keep >= 0; keep = keep > 80 ? keep * 2 / 3 : keep - 1) {
    CHECK(!truncate(path_of(&key), keep));
    CHECK(holds(&key, data, sizeof data) == 0);
  }
  CHECK(kugel__cache_put(&key, data, sizeof data)); // over the damaged one
  CHECK(holds(&key, data, sizeof data) == 1);
  FILE *f = fopen(path_of(&key), "ab"); // longer than it says
  fputc('x', f);
  fclose(f);
  CHECK(holds(&key, data, sizeof data) == 0);
  CHECK(kugel__cache_put(&key, data, sizeof data));
  char from[400];
  snprintf(from, sizeof from, "%s", path_of(&key));
  CHECK(!rename(from, path_of(&other))); // another's entry under this name
  CHECK(holds(&other, data, sizeof data) == 0);
  CHECK(!symlink(path_of(&other), from) && holds(&key, data, sizeof data) == 0);
  unlink(from);
  CHECK(!mkdir(from, 0700) && holds(&key, data, sizeof data) == 0 &&
        !kugel__cache_put(&key, data, sizeof data));
  CHECK(count_files("new-") == 0);
}

static void processes(void)
{
  enum { PROCESSES = 4, ROUNDS = 40 };
  static char data[4][20000];
  for (int i = 0; i < 4; i++)
    memset(data[i], 'a' + i, sizeof data[i]);
  pid_t child[PROCESSES];
  for (int p = 0; p < PROCESSES; p++) {
    child[p] = fork();
    if (child[p])
      continue;
    int bad = 0;
    for (int i = 0; i < ROUNDS; i++) {
      kugel__key key = key_of(100 + i % 4);
      bad += !kugel__cache_put(&key, data[i % 4], sizeof data[0]);
      bad += holds(&key, data[i % 4], sizeof data[0]) != 1;
    }
    _exit(bad ? 1 : 0);
  }
  for (int p = 0; p < PROCESSES; p++) {
    int status = -1;
    waitpid(child[p], &status, 0);
    CHECK(status == 0);
  }
  CHECK(count_files("new-") == 0);
}

static void limit(void)
{
  static char data[100000];
  setenv("KUGEL_CACHE_MB", "1", 1);
  for (int i = 0; i < 25; i++) {
    kugel__key key = key_of(200 + i);
    CHECK(kugel__cache_put(&key, data, sizeof data));
    struct timespec old[2] = {{1000000 + i, 0}, {1000000 + i, 0}}; // rising times of use
    if (i < 8)
      utimensat(AT_FDCWD, path_of(&key), old, 0);
  }
  kugel__key first = key_of(200), last = key_of(224);
  CHECK(count_files("") <= 10);
  CHECK(holds(&first, data, sizeof data) == 0 && holds(&last, data, sizeof data) == 1);
  unsetenv("KUGEL_CACHE_MB");
}

/* Anything but a number from 1 to 10^6 counts as if it were not set: 512. */
static void limit_by_junk(void)
{
  static char data[100000];
  static const char *const junk[] = {"x", "1x", "-5", "0", " ", "99999999999999999999", "1000001"};
  for (size_t k = 0; k < sizeof junk / sizeof *junk; k++) {
    setenv("KUGEL_CACHE_MB", junk[k], 1);
    for (int i = 0; i < 25; i++) {
      kugel__key key = key_of(300 + i);
      CHECK(kugel__cache_put(&key, data, sizeof data));
    }
    for (int i = 0; i < 25; i++) {
      kugel__key key = key_of(300 + i);
      CHECK(holds(&key, data, sizeof data) == 1);
      unlink(path_of(&key));
    }
  }
  unsetenv("KUGEL_CACHE_MB");
}

/* A disk that is full, as a limit on the size of files shows it: nothing is left behind, nothing is lost. */
static void full_disk(void)
{
  static char data[50000];
  kugel__key old = key_of(400), fresh = key_of(401);
  memset(data, 7, sizeof data);
  CHECK(kugel__cache_put(&old, data, sizeof data));
  pid_t child = fork();
  if (!child) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {20000, 20000};
    int bad = setrlimit(RLIMIT_FSIZE, &limit) != 0;
    bad += kugel__cache_put(&fresh, data, sizeof data);
    bad += kugel__cache_put(&old, data, sizeof data); // over the old one
    bad += !kugel__cache_put(&fresh, data, 100);      // what fits still goes
    _exit(bad);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(holds(&old, data, sizeof data) == 1 && holds(&fresh, data, 100) == 1);
  CHECK(count_files("new-") == 0);
}

/* Values of KUGEL_CACHE that are no folder. */
static void odd_folders(void)
{
  static char data[100], longer[5000];
  char file[400], path[1024];
  kugel__key key = key_of(500);
  memset(longer, 'x', sizeof longer - 1);
  *longer = '/';
  snprintf(file, sizeof file, "%s/file", root);
  FILE *f = fopen(file, "w");
  fclose(f);
  const char *odd[] = {file, longer, "/dev/null", "/dev/null/x", "/proc/self/mem/x"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    setenv("KUGEL_CACHE", odd[i], 1);
    CHECK(!kugel__cache_put(&key, data, sizeof data) && holds(&key, data, sizeof data) == 0);
  }
  setenv("KUGEL_CACHE", "", 1); // as if it were not set
  setenv("XDG_CACHE_HOME", "/x", 1);
  CHECK(!strcmp(kugel__cache_folder(path, sizeof path), "/x/kugel"));
  unsetenv("XDG_CACHE_HOME");
  char with_slash[420];
  snprintf(with_slash, sizeof with_slash, "%s//odd name '%%s'/", root);
  setenv("KUGEL_CACHE", with_slash, 1);
  CHECK(kugel__cache_put(&key, data, sizeof data) && holds(&key, data, sizeof data) == 1);
  const char *sizes[] = {"", "x", "-5", "99999999999999999999", "0"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    setenv("KUGEL_CACHE_MB", sizes[i], 1);
    CHECK(kugel__cache_put(&key, data, sizeof data) && holds(&key, data, sizeof data) == 1);
  }
  unsetenv("KUGEL_CACHE_MB");
  setenv("KUGEL_CACHE", folder, 1);
}

int main(void)
{
  snprintf(root, sizeof root, "%s/kugel-cache-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  if (!mkdtemp(root))
    return 1;
  snprintf(folder, sizeof folder, "%s/a/b", root);
  setenv("KUGEL_CACHE", folder, 1);
  CASE("SHA-256 of FIPS 180-4's examples")
  {
    char text[65];
    static char million[1000000];
    hex_of("abc", 3, text);
    CHECK(!strcmp(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    hex_of("", 0, text);
    CHECK(!strcmp(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, text);
    CHECK(!strcmp(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
    memset(million, 'a', sizeof million);
    hex_of(million, sizeof million, text);
    CHECK(!strcmp(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
  }
  CASE("damaged and foreign entries count as missing") damage();
  clear();
  CASE("processes at once") processes();
  clear();
  CASE("full disk") full_disk();
  CASE("odd folders and sizes") odd_folders();
  clear();
  CASE("size limit") limit();
  CASE("limits that make no sense") limit_by_junk();
  CASE("read-only folder")
  {
    kugel__key old = key_of(224), fresh = key_of(300);
    static char data[100000];
    CHECK(!chmod(folder, 0500));
    CHECK(holds(&old, data, sizeof data) == 1);
    if (geteuid()) // root may write anywhere
      CHECK(!kugel__cache_put(&fresh, data, 10));
    CHECK(!chmod(folder, 0700));
    setenv("KUGEL_CACHE", "/proc/none/such", 1);
    CHECK(!kugel__cache_put(&fresh, data, 10) && holds(&fresh, data, 10) == 0);
  }
  CASE("where it is")
  {
    char path[1024];
    setenv("KUGEL_CACHE", "off", 1);
    CHECK(!kugel__cache_folder(path, sizeof path));
    unsetenv("KUGEL_CACHE");
    setenv("XDG_CACHE_HOME", "/x", 1);
    CHECK(!strcmp(kugel__cache_folder(path, sizeof path), "/x/kugel"));
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/h", 1);
    CHECK(!strcmp(kugel__cache_folder(path, sizeof path), "/h/.cache/kugel"));
    CHECK(!kugel__cache_folder(path, 20));
    setenv("HOME", "relative", 1);
    CHECK(!kugel__cache_folder(path, sizeof path));
  }
  snprintf(folder, sizeof folder, "%s", root);
  clear();
  END();
}

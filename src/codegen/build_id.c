/* SPDX-License-Identifier: BSD-3-Clause */
/* The build ID of the shared library or program that this code is linked into: a hash of its contents, which
 * the linker leaves in a note. */
#include <elf.h>
#include <link.h>
#include <string.h>
#include "codegen/recipe.h"

typedef struct finding {
  uintptr_t inside; // an address of ours
  unsigned char *id;
  size_t room, bytes;
} finding;

static void search_notes(const char *note, size_t bytes, finding *f)
{
  const char *end = note + bytes;
  ElfW(Nhdr) head;
  while ((size_t)(end - note) >= sizeof head) {
    memcpy(&head, note, sizeof head);
    size_t name = ((size_t)head.n_namesz + 3) & ~(size_t)3, body = ((size_t)head.n_descsz + 3) & ~(size_t)3;
    note += sizeof head;
    if (name > (size_t)(end - note) || body > (size_t)(end - note) - name)
      return;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(note, "GNU", 4)) {
      f->bytes = head.n_descsz < f->room ? head.n_descsz : f->room;
      memcpy(f->id, note + name, f->bytes);
      return;
    }
    note += name + body;
  }
}

static int search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
  (void)size;
  finding *f = arg;
  bool ours = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t from = info->dlpi_addr + p->p_vaddr;
    ours = ours || (p->p_type == PT_LOAD && f->inside >= from && f->inside - from < p->p_memsz);
  }
  for (int i = 0; ours && i < info->dlpi_phnum && !f->bytes; i++)
    if (info->dlpi_phdr[i].p_type == PT_NOTE)
      search_notes((const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), info->dlpi_phdr[i].p_memsz,
                   f);
  return ours;
}

size_t kugel__build_id(unsigned char *id, size_t room)
{
  static const char here = 0;
  finding f = {.inside = (uintptr_t)&here, .id = id, .room = room};
  dl_iterate_phdr(search_object, &f);
  return f.bytes;
}

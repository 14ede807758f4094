/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear together. */
#include <kugel/io.h>
#include "core/replace.h"

kugel_status kugel_files_begin(void)
{
  return kugel__replace_hold();
}

kugel_status kugel_files_end(int keep)
{
  return kugel__replace_release(keep != 0);
}

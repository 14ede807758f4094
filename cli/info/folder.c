/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel info on a folder of stacks. */
#include <stdio.h>
#include <kugel/kugel.h>
#include "batch/batch.h"
#include "common/json.h"
#include "common/report.h"
#include "common/session.h"
#include "info/describe.h"
#include "volume/stacks.h"

static int describe_line(const char *path)
{
  STACK s = {0};
  char text[200], voxel[120], shown[1024];
  STEP(stack_open(&s, path, 0));
  json_text("kind", "stack");
  stack_json(NULL, &s.info);
  json_text("metadata", s.info.text);
  stack_voxel_text(&s.info, voxel, sizeof voxel);
  say("%s: %s, %s, %s%s\n", plain(path, shown, sizeof shown), s.info.format_name,
      stack_text(&s.info, text, sizeof text), *voxel ? "voxel " : "voxel size not known", voxel);
  return EXIT_DONE;
}

int describe_folder(const char *path, bool stats)
{
  BATCH b = {.kind = "stacks"};
  int64_t failed = 0;
  STEP(batch_list(&b, path));
  json_text("file", path);
  json_text("kind", "folder");
  json_array("files");
  for (int64_t i = 0; i < b.count; i++) { /* one that is damaged does not hide the others */
    int depth = json_depth();
    json_object(NULL);
    json_text("file", b.inputs[i]);
    run.several = run.json ? depth + 1 : 0;
    run.named = b.inputs[i];
    int code = stats ? describe_stack(b.inputs[i], true) : describe_line(b.inputs[i]);
    run.several = 0;
    run.named = NULL;
    if (code > EXIT_SIGNALLED)
      return code;
    failed += code != EXIT_DONE;
    json_close(depth);
  }
  json_end();
  json_int("failed", failed);
  if (failed && !run.quiet)
    fprintf(stderr, "kugel info: %lld of %lld stacks of %s cannot be read\n", (long long)failed,
            (long long)b.count, path);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

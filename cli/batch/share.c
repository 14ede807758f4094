/* SPDX-License-Identifier: BSD-3-Clause */
/* The run over this task's share of a batch. */
#include <stdio.h>
#include <unistd.h>
#include <kugel/io.h>
#include "batch/batch.h"
#include "common/json.h"
#include "common/report.h"

/* One of several: its files appear now, or none of them. */
static int run_one(const batch *b, int64_t i, batch_step *one, void *work)
{
  int64_t first = b->share.piece, step = b->share.pieces, mine = (b->count - first + step - 1) / step;
  progress_within((double)(i / step) / (double)mine, (double)(i / step + 1) / (double)mine);
  int code = one(work, b->inputs[i], b->outputs[i], i);
  if (b->count == 1)
    return code;
  kugel_status status = kugel_files_end(code == EXIT_DONE);
  if (code == EXIT_DONE && status != KUGEL_OK)
    code = fail_library(status, b->outputs[i]);
  LIB(kugel_files_begin());
  return code;
}

/* With its object in the list, and its name in every error. */
static int run_told(const batch *b, int64_t i, bool foreign, batch_step *one, void *work)
{
  int depth = json_depth();
  json_object(NULL);
  if (!b->told)
    report_title(b->inputs[i], b->outputs[i]);
  run.several = b->count > 1 && run.json ? depth + 1 : 0;
  run.named = b->count > 1 ? b->inputs[i] : NULL;
  int code = foreign ? fail("%s was there before this run began: --overwrite replaces it", b->outputs[i])
                     : run_one(b, i, one, work);
  run.several = 0;
  run.named = NULL;
  if (code == EXIT_DONE || (b->count > 1 && code < EXIT_SIGNALLED))
    json_close(depth);
  return code;
}

/* What an earlier run left of output i: true if nothing is to be done. */
static bool finished(const batch *b, const manifest *m, int64_t i, void *work, bool *foreign)
{
  result_state state =
      b->resume && b->folder ? manifest_state(m, b->inputs[i], b->outputs[i]) : RESULT_MISSING;
  *foreign = state == RESULT_FOREIGN && !run.overwrite;
  if (state == RESULT_DONE && (!b->whole || b->whole(work, b->outputs[i])))
    return true;
  run.overwrite |= state == RESULT_OLD || state == RESULT_DONE;
  return false;
}

/* "3/16", counted from 0. */
static const char *share_text(const batch *b)
{
  static char text[48];
  snprintf(text, sizeof text, "%lld/%lld", (long long)b->share.piece, (long long)b->share.pieces);
  return text;
}

static int run_share(const batch *b, const manifest *m, batch_step *one, void *work, int64_t *failed)
{
  bool overwrite = run.overwrite, foreign;
  int64_t done = 0, mine = 0;
  json_array(b->things);
  for (int64_t i = 0; i < b->count; i++) {
    if (!task_owns(&b->share, i))
      continue;
    mine++;
    if (finished(b, m, i, work, &foreign)) {
      done++;
      continue;
    }
    int code = run_told(b, i, foreign, one, work);
    run.overwrite = overwrite;
    if (code != EXIT_DONE && (b->count == 1 || code > EXIT_SIGNALLED || (b->told && code == EXIT_USAGE)))
      return code; /* wrong options are wrong for all */
    *failed += code != EXIT_DONE;
  }
  progress_within(0, 1);
  json_end();
  json_int("failed", *failed);
  if (b->resume && b->folder) {
    json_int("done_before", done);
    fact("resumed", "%lld of %lld %s were finished by an earlier run", (long long)done, (long long)mine,
         b->things);
  }
  if (b->share.pieces > 1) {
    json_text("task", share_text(b));
    fact("task", "%s: %lld of %lld %s", share_text(b), (long long)mine, (long long)b->count, b->things);
  }
  if (*failed && !run.quiet)
    fprintf(stderr, "kugel %s: %lld of %lld %s failed\n", run.command, (long long)*failed, (long long)mine,
            b->things);
  return *failed ? EXIT_FAILED : EXIT_DONE;
}

int batch_run(const batch *b, batch_step *one, void *work)
{
  manifest m = {0};
  int64_t failed = 0;
  if (b->flat && b->count == 1 && !b->folder) {
    report_title(b->inputs[0], b->outputs[0]);
    return one(work, b->inputs[0], b->outputs[0], 0);
  }
  bool kept = b->folder && !run.dry_run;
  if (kept)
    STEP(manifest_open(&m, b->target, b->resume));
  run.keeps |= kept && b->count > 1;
  int code = run_share(b, &m, one, work, &failed);
  if (kept && code == EXIT_DONE && !b->resume && b->share.pieces == 1)
    unlink(m.path); /* nobody needs it any more */
  return code;
}

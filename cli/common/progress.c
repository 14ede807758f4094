/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress bar, or one JSON object per line, on stderr. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "common/progress.h"
#include "common/session.h"

typedef enum style { AUTO, BAR, LINES, NONE } style; /* --progress */

static struct {
  style style;
  bool drawn;
  double read, write;              /* parts of the run that files take */
  double lo, hi;                   /* what the current library call stands for */
  double outer_lo, outer_hi;       /* the part of the run that is one of several files; 0, 0: all */
  double started, shown, reported; /* shown: the highest so far; reported: seconds of the latest line */
  const char *what;
} bar = {.style = NONE, .what = ""};

void progress_clear(void)
{
  if (bar.drawn)
    fprintf(stderr, "\r\033[K");
  bar.drawn = false;
}

static void draw(const char *what, double elapsed)
{
  char cells[31], left[32] = "";
  int full = (int)(bar.shown * 30);
  for (int i = 0; i < 30; i++)
    cells[i] = i < full ? '#' : '.';
  cells[30] = 0;
  if (bar.shown > 0.03)
    seconds_text(elapsed * (1 - bar.shown) / bar.shown, left, sizeof left);
  fprintf(stderr, "\r%s [%s] %3d %%%s%s%s \033[K", what, cells, (int)(100 * bar.shown), left[0] ? ", " : "",
          left, left[0] ? " left" : "");
  fflush(stderr);
  bar.drawn = true;
}

static void print_line(const char *what, double elapsed)
{
  if (elapsed - bar.reported < 0.2 && bar.reported > 0)
    return; /* the first report is a line however short the run */
  bar.reported = elapsed;
  fprintf(stderr, "{\"fraction\": %.4f, \"stage\": \"%s\", \"elapsed_seconds\": %.2f", bar.shown, what,
          elapsed);
  if (bar.shown > 0.03)
    fprintf(stderr, ", \"left_seconds\": %.2f", elapsed * (1 - bar.shown) / bar.shown);
  fprintf(stderr, "}\n");
  fflush(stderr);
}

/* Shown only from a quarter of a second on, so that short work stays quiet; never 100 % before the end. */
static int on_progress(double fraction, const char *stage, void *user)
{
  (void)user;
  double elapsed = now() - bar.started;
  double done = bar.lo + (bar.hi - bar.lo) * fmin(fmax(fraction, 0), 1);
  const char *what = bar.what[0] ? bar.what : stage;
  bar.shown = fmin(fmax(bar.shown, done), 0.995);
  if (interrupted())
    return 1;
  if (bar.style == BAR && elapsed > 0.25)
    draw(what, elapsed);
  else if (bar.style == LINES)
    print_line(what, elapsed);
  return 0;
}

void progress_start(int wanted, bool quiet)
{
  bool terminal = isatty(STDERR_FILENO) && !quiet;
  bar.style = wanted == AUTO ? terminal ? BAR : NONE : (style)wanted;
  bar.started = now();
  kugel_set_progress(on_progress, NULL);
}

void progress_end(bool done)
{
  progress_clear();
  if (done && bar.style == LINES)
    fprintf(stderr, "{\"fraction\": 1, \"stage\": \"done\", \"elapsed_seconds\": %.2f}\n",
            now() - bar.started);
}

void progress_costs(double read, double work, double write)
{
  double all = read + work + write;
  bar.read = all > 0 ? read / all : 0;
  bar.write = all > 0 ? write / all : 0;
}

static void set_part(double lo, double hi, const char *what)
{
  double width = bar.outer_hi > 0 ? bar.outer_hi - bar.outer_lo : 1;
  bar.lo = bar.outer_lo + width * lo;
  bar.hi = bar.outer_lo + width * hi;
  bar.what = what;
}

void progress_within(double lo, double hi)
{
  bar.outer_lo = lo;
  bar.outer_hi = hi;
}

void progress_part(double lo, double hi, const char *what)
{
  double work = 1 - bar.read - bar.write;
  set_part(bar.read + work * lo, bar.read + work * hi, what);
}

void progress_reading(double lo, double hi, const char *what)
{
  set_part(bar.read * lo, bar.read * hi, what);
}

void progress_writing(void)
{
  set_part(1 - bar.write, 1, "writing");
}

void progress_hold(const char *what)
{
  bar.lo = bar.hi = bar.shown;
  bar.what = what;
}

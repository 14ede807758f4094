/* SPDX-License-Identifier: BSD-3-Clause */
/* Angles with units. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/opts.h"

static const struct {
  const char *name;
  double degrees; /* 0: radians, by `radians` */
  double radians;
} units[] = {
    {"deg", 1, 0},          {"degree", 1, 0},  {"degrees", 1, 0},        {"\302\260", 1, 0},
    {"arcmin", 1. / 60, 0}, {"'", 1. / 60, 0}, {"arcsec", 1. / 3600, 0}, {"\"", 1. / 3600, 0},
    {"mas", 1. / 3.6e6, 0}, {"rad", 0, 1},     {"mrad", 0, 1e-3},
};

bool angle_parse(const char *text, double *radians, const char **why)
{
  char *unit;
  double x = strtod(text, &unit);
  if (unit == text || !isfinite(x)) {
    *why = "needs a number with a unit, such as 10arcmin, 1deg or 0.02rad";
    return false;
  }
  while (*unit == ' ')
    unit++;
  if (!*unit && x != 0) {
    *why = "an angle needs a unit: deg, arcmin, arcsec or rad, such as 10arcmin";
    return false;
  }
  if (!*unit) {
    *radians = 0;
    return true;
  }
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (!strcmp(unit, units[i].name)) {
      *radians = units[i].radians != 0 ? x * units[i].radians : x * units[i].degrees * (M_PI / 180);
      return true;
    }
  }
  *why = "unknown unit; use deg, arcmin, arcsec, mas, rad or mrad";
  return false;
}

/* Six digits where they say all, so that 4.7 arcmin reads as typed; else four. */
static const char *number_text(double x, const char *unit, char *buffer, size_t size)
{
  char digits[32];
  snprintf(digits, sizeof digits, "%.6g", x);
  bool whole = fabs(strtod(digits, NULL) - x) <= 1e-9 * fabs(x);
  snprintf(buffer, size, whole ? "%.6g %s" : "%.4g %s", x, unit);
  return buffer;
}

const char *angle_text(double radians, char *buffer, size_t size)
{
  double degrees = radians * (180 / M_PI), least = 0.9999999999;
  if (fabs(degrees) >= least || degrees == 0)
    return number_text(degrees, "deg", buffer, size);
  if (fabs(degrees) * 60 >= least)
    return number_text(degrees * 60, "arcmin", buffer, size);
  return number_text(degrees * 3600, "arcsec", buffer, size);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Units of length and time as files name them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stack/stack.h"

typedef struct unit {
  const char *name;
  double factor;
} unit;

static double find(const unit *units, size_t n, const char *name)
{
  size_t from = strspn(name, " \t\""), length = strlen(name + from);
  while (length && strchr(" \t\r\n\"", name[from + length - 1]))
    length--;
  for (size_t i = 0; i < n; i++)
    if (strlen(units[i].name) == length && !strncmp(units[i].name, name + from, length))
      return units[i].factor;
  return 0;
}

double kugel__stack_length_unit(const char *name)
{
  static const unit units[] = {{"um", 1},
                               {"\xc2\xb5m", 1}, // micro sign
                               {"\xce\xbcm", 1}, // Greek mu
                               {"\xb5m", 1},     // micro sign of Latin 1
                               {"\\u00B5m", 1},  // as ImageJ escapes it
                               {"\\u00b5m", 1},
                               {"micron", 1},
                               {"microns", 1},
                               {"micrometer", 1},
                               {"micrometers", 1},
                               {"micrometre", 1},
                               {"micrometres", 1},
                               {"nm", 1e-3},
                               {"nanometer", 1e-3},
                               {"nanometers", 1e-3},
                               {"nanometre", 1e-3},
                               {"pm", 1e-6},
                               {"picometer", 1e-6},
                               {"\xc3\x85", 1e-4}, // angstrom
                               {"\xe2\x84\xab", 1e-4},
                               {"angstrom", 1e-4},
                               {"mm", 1e3},
                               {"millimeter", 1e3},
                               {"millimeters", 1e3},
                               {"millimetre", 1e3},
                               {"cm", 1e4},
                               {"centimeter", 1e4},
                               {"dm", 1e5},
                               {"decimeter", 1e5},
                               {"m", 1e6},
                               {"meter", 1e6},
                               {"metre", 1e6},
                               {"in", 25400},
                               {"inch", 25400},
                               {"inches", 25400}};
  return find(units, sizeof units / sizeof units[0], name);
}

double kugel__stack_time_unit(const char *name)
{
  static const unit units[] = {{"s", 1},
                               {"sec", 1},
                               {"second", 1},
                               {"seconds", 1},
                               {"ms", 1e-3},
                               {"msec", 1e-3},
                               {"millisecond", 1e-3},
                               {"us", 1e-6},
                               {"\xc2\xb5s", 1e-6},
                               {"microsecond", 1e-6},
                               {"ns", 1e-9},
                               {"nanosecond", 1e-9},
                               {"min", 60},
                               {"minute", 60},
                               {"h", 3600},
                               {"hour", 3600},
                               {"d", 86400},
                               {"day", 86400}};
  return find(units, sizeof units / sizeof units[0], name);
}

double kugel__stack_real(const char *text)
{
  double sign = 1, x = 0, scale = 1; // decimal points whatever the locale
  const char *p = text + strspn(text, " \t");
  if (*p == '-' || *p == '+')
    sign = *p++ == '-' ? -1 : 1;
  for (; *p >= '0' && *p <= '9'; p++)
    x = 10 * x + (*p - '0');
  if (*p == '.')
    for (p++; *p >= '0' && *p <= '9'; p++)
      if (scale < 1e17) {
        x = 10 * x + (*p - '0');
        scale *= 10;
      }
  x /= scale;
  if (*p == 'e' || *p == 'E') {
    long e = strtol(p + 1, NULL, 10), m = e < -330  ? 330
                                          : e < 0   ? -e
                                          : e > 330 ? 330
                                                    : e; // -LONG_MIN is none
    double power = 1;
    for (long i = 0; i < m && x > 0; i++)
      power *= 10;
    x = e < 0 ? x / power : x * power;
  }
  return sign * x;
}

void kugel__stack_real_text(double x, char text[32])
{
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, x);
    char *comma = strchr(text, ','); // of some locales
    if (comma)
      *comma = '.';
    double back = comma ? x : strtod(text, NULL);
    if (digits == 17 || !(back < x || back > x))
      return;
  }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Type by FreeType: unhinted outlines at fractions of a pixel, kerned, with an optional rim that keeps labels
 * readable on any colour. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_MODULE_H
#include FT_OUTLINE_H
#include FT_STROKER_H
#include FT_GLYPH_H
#include "core/alloc.h"
#include "plot/plot.h"
#include "plot/text.h"

struct kugel__type {
  kugel_ctx *ctx;
  FT_Library library;
  FT_Face face;
  FT_Stroker stroker;
  struct FT_MemoryRec_ memory;
  bool starved; // an allocation failed: FreeType drops the letter, so the picture is not to be shown
};

/* FreeType's memory is the context's, so that it counts and its failures are known: FreeType reports some of them only
 * by leaving out what it could not draw. */
static void *type_alloc(FT_Memory memory, long size)
{
  kugel__type *t = memory->user;
  void *p = t->starved ? NULL : kugel__alloc(t->ctx, (size_t)size);
  t->starved = t->starved || !p;
  return p;
}

static void type_free(FT_Memory memory, void *block)
{
  const kugel__type *t = memory->user;
  kugel__free(t->ctx, block);
}

static void *type_realloc(FT_Memory memory, long now, long wanted, void *block)
{
  void *p = type_alloc(memory, wanted);
  if (p && block)
    memcpy(p, block, (size_t)(now < wanted ? now : wanted));
  if (p)
    type_free(memory, block);
  return p;
}

kugel_status kugel__type_open(kugel_ctx *ctx, kugel__type **out)
{
  kugel__type *t = kugel__calloc(ctx, sizeof *t);
  *out = NULL;
  KUGEL_CHECK(t, KUGEL_ENOMEM, "no memory for type");
  t->ctx = ctx;
  t->memory =
      (struct FT_MemoryRec_){.user = t, .alloc = type_alloc, .free = type_free, .realloc = type_realloc};
  FT_Error error = FT_New_Library(&t->memory, &t->library);
  if (!error)
    FT_Add_Default_Modules(t->library);
  if (error || t->starved ||
      FT_New_Memory_Face(t->library, kugel__font, (FT_Long)kugel__font_bytes, 0, &t->face) ||
      FT_Stroker_New(t->library, &t->stroker)) {
    kugel__type_close(t);
    return KUGEL_FAIL(KUGEL_ENOMEM, "FreeType could not open the embedded font");
  }
  *out = t;
  return KUGEL_OK;
}

void kugel__type_close(kugel__type *t)
{
  if (!t)
    return;
  if (t->stroker)
    FT_Stroker_Done(t->stroker);
  if (t->face)
    FT_Done_Face(t->face);
  if (t->library)
    FT_Done_Library(t->library);
  kugel__free(t->ctx, t);
}

kugel_status kugel__type_check(const kugel__type *t)
{
  KUGEL_CHECK(!t->starved, KUGEL_ENOMEM, "no memory for the letters of a picture");
  return KUGEL_OK;
}

/* Next code point; bytes that are no UTF-8 come out one by one. */
static uint32_t next_letter(const char **text)
{
  const unsigned char *p = (const unsigned char *)*text;
  int more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
  uint32_t code = more == 3 ? p[0] & 7 : more == 2 ? p[0] & 15 : more == 1 ? p[0] & 31 : p[0];
  for (int i = 1; i <= more; i++) {
    if ((p[i] & 0xc0) != 0x80) {
      *text += 1;
      return p[0];
    }
    code = code << 6 | (p[i] & 63);
  }
  *text += more + 1;
  return code;
}

typedef void (*glyph_fn)(kugel__type *t, double x, void *user);

/* Walks over the letters with the pen's place in pixels; returns the width. */
static double walk(kugel__type *t, const char *text, double size, glyph_fn fn, void *user)
{
  double x = 0;
  FT_UInt before = 0;
  if (t->starved)
    return 0;
  FT_Set_Char_Size(t->face, 0, (FT_F26Dot6)(size * 64 + 0.5), 72, 72);
  double em = size / t->face->units_per_EM;
  while (*text) {
    FT_UInt glyph = FT_Get_Char_Index(t->face, next_letter(&text));
    FT_Vector kern = {0, 0};
    if (before && glyph && !FT_Get_Kerning(t->face, before, glyph, FT_KERNING_UNSCALED, &kern))
      x += (double)kern.x * em;
    if (FT_Load_Glyph(t->face, glyph, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP))
      continue;
    if (fn)
      fn(t, x, user);
    x += (double)t->face->glyph->linearHoriAdvance / 65536;
    before = glyph;
  }
  return x;
}

double kugel__type_width(kugel__type *t, const char *text, double size)
{
  return walk(t, text, size, NULL, NULL);
}

typedef struct brush {
  kugel__canvas *canvas;
  double x, y, halo;
  kugel__color color;
} brush;

static void paint_bitmap(const brush *b, const FT_Bitmap *bitmap, int64_t left, int64_t top)
{
  for (int64_t row = 0; row < bitmap->rows; row++)
    for (int64_t column = 0; column < bitmap->width; column++) {
      int64_t x = left + column, y = top + row;
      uint8_t cover = bitmap->buffer[row * bitmap->pitch + column];
      if (!cover || x < 0 || y < 0 || x >= b->canvas->width || y >= b->canvas->height)
        continue;
      if (b->halo > 0) { // rims of neighbours must not add up
        uint8_t *m = &b->canvas->mask[y * b->canvas->width + x];
        *m = cover > *m ? cover : *m;
        int64_t *d = b->canvas->dirty;
        d[0] = kugel__min(d[0], x);
        d[1] = kugel__min(d[1], y);
        d[2] = kugel__max(d[2], x + 1);
        d[3] = kugel__max(d[3], y + 1);
      } else {
        kugel__color part = b->color;
        part.a *= (float)cover / 255;
        kugel__canvas_over(b->canvas, x, y, part);
      }
    }
}

static void paint_glyph(kugel__type *t, double pen, void *user)
{
  const brush *b = user;
  double x = b->x + pen, fx = floor(x), fy = floor(b->y);
  FT_Glyph glyph;
  if (FT_Get_Glyph(t->face->glyph, &glyph))
    return;
  if (b->halo > 0) {
    FT_Stroker_Set(t->stroker, (FT_Fixed)(b->halo * 64), FT_STROKER_LINECAP_ROUND, FT_STROKER_LINEJOIN_ROUND,
                   0);
    FT_Glyph_StrokeBorder(&glyph, t->stroker, 0, 1);
  }
  FT_Vector shift = {(FT_Pos)((x - fx) * 64), (FT_Pos)((fy - b->y) * 64)};
  if (!FT_Glyph_To_Bitmap(&glyph, FT_RENDER_MODE_NORMAL, &shift, 1)) {
    FT_BitmapGlyph image = (FT_BitmapGlyph)glyph;
    paint_bitmap(b, &image->bitmap, (int64_t)fx + image->left, (int64_t)fy - image->top);
  }
  FT_Done_Glyph(glyph);
}

void kugel__type_draw(kugel__type *t, kugel__canvas *c, double x, double y, double align, double size,
                      const char *text, kugel__color color, double halo, kugel__color halo_color)
{
  brush b = {
      .canvas = c, .x = x - align * kugel__type_width(t, text, size), .y = y, .halo = halo, .color = color};
  if (halo > 0) {
    walk(t, text, size, paint_glyph, &b);
    kugel__mask_paint(c, halo_color);
    b.halo = 0;
  }
  walk(t, text, size, paint_glyph, &b);
}

void kugel__type_fit(kugel__type *t, kugel__canvas *c, double x, double y, double align, double size,
                     double room, const char *text, kugel__color color)
{
  static const kugel__color none = {0, 0, 0, 0};
  char cut[512];
  double width = kugel__type_width(t, text, size);
  if (width > room) {
    double smaller = fmax(0.6, room / width);
    size *= smaller;
    width *= smaller;
  }
  size_t n = strlen(text);
  n = n < sizeof cut - 4 ? n : sizeof cut - 4;
  while (width > room * 1.001 && n > 0) {
    for (n--; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;) // whole letters
      n--;
    memcpy(cut, text, n);
    strcpy(cut + n, "…");
    width = kugel__type_width(t, cut, size);
  }
  const char *shown = n < strlen(text) ? cut : text;
  double margin = 0.3 * size, left = fmin(fmax(x - align * width, margin), (double)c->width - width - margin);
  kugel__type_draw(t, c, left, y, 0, size, shown, color, 0, none);
}

static void add(char *out, size_t size, const char *more)
{
  size_t n = strlen(out);
  if (n + strlen(more) < size)
    strcpy(out + n, more);
}

/* TeX in units, as matplotlib's users write them, without its marks: "K$_{CMB}$" is "K_CMB", "$\\mu$K$^{2}$" "uK^2". */
static void without_tex(const char *unit, char *out, size_t size)
{
  static const char *const words[][2] = {{"\\mu", "u"},    {"\\mathrm", ""}, {"\\rm", ""},   {"\\text", ""},
                                         {"\\cdot", " "},  {"\\times", "×"}, {"\\,", " "},   {"\\ ", " "},
                                         {"\\Omega", "Ω"}, {"\\circ", "°"},  {"\\left", ""}, {"\\right", ""}};
  bool tex = strchr(unit, '$') || strchr(unit, '\\');
  size_t n = 0;
  for (const char *p = unit; *p && n + 4 < size;) {
    size_t length = 0;
    for (size_t i = 0; tex && !length && i < sizeof words / sizeof *words; i++)
      if (!strncmp(p, words[i][0], strlen(words[i][0]))) {
        length = strlen(words[i][0]);
        n += (size_t)snprintf(out + n, size - n, "%s", words[i][1]);
      }
    if (!length && !(tex && strchr("${}", *p)))
      out[n++] = *p;
    p += length ? length : 1;
  }
  out[n] = 0;
}

void kugel__type_unit(const char *unit, char *out, size_t size)
{
  static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  char simple[256];
  without_tex(unit, simple, sizeof simple);
  unit = simple;
  out[0] = 0;
  for (const char *p = unit; *p;) {
    bool starts = p == unit || !isalpha((unsigned char)p[-1]);
    bool power = *p == '^' || !strncmp(p, "**", 2);
    // "s-2", "m2": a number right after a letter is a power, as in FITS units; "H2O" is not, for a letter
    // follows
    const char *digits = power ? p + (*p == '^' ? 1 : 2) : p;
    bool bracket = power && *digits == '(';
    digits += bracket;
    const char *end = digits + (*digits == '-' || *digits == '+');
    size_t n = strspn(end, "0123456789");
    bool bare =
        !power && p > unit && isalpha((unsigned char)p[-1]) && n > 0 && !isalpha((unsigned char)end[n]);
    if ((power || bare) && n > 0) {
      if (*digits == '-')
        add(out, size, "⁻");
      for (size_t i = 0; i < n; i++)
        add(out, size, raised[end[i] - '0']);
      p = end + n;
      p += bracket && *p == ')';
    } else if (starts && *p == 'u' && isalpha((unsigned char)p[1]) && strncmp(p, "unit", 4) != 0) {
      add(out, size, "µ");
      p++;
    } else if (*p == '*' && p[1] != '*') {
      add(out, size, " ");
      p++;
    } else {
      char letter[2] = {*p++, 0};
      add(out, size, letter);
    }
  }
}

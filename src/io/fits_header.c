/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers: keywords, the structure of a table, and the cards that are handed on to outputs. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "io/fits.h"
#include "core/replace.h"
#include "io/words.h"

static void tidy(char *text)
{
  size_t n = strlen(text);
  while (n && text[n - 1] == ' ')
    text[--n] = 0;
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < 32 || (unsigned char)*c > 126)
      *c = '?';
}

bool kugel__key_text(fitsfile *f, const char *name, char *text, size_t size)
{
  char value[FLEN_VALUE] = "", plain[FLEN_VALUE] = "";
  int status = 0;
  text[0] = 0;
  if (fits_read_keyword(f, name, value, NULL, &status)) {
    fits_clear_errmsg();
    return false;
  }
  if (value[0] == '\'') { // ffc2s takes the quotes away
    const char *in = value + 1;
    size_t n = 0;
    while (*in && !(in[0] == '\'' && in[1] != '\'')) {
      plain[n++] = *in;
      in += in[0] == '\'' ? 2 : 1;
    }
  } else {
    strcpy(plain, value);
  }
  tidy(plain);
  snprintf(text, size, "%s", plain);
  return true;
}

bool kugel__key_int(fitsfile *f, const char *name, int64_t *value)
{
  char text[FLEN_VALUE], *end;
  if (!kugel__key_text(f, name, text, sizeof text))
    return false;
  errno = 0;
  long long whole = strtoll(text, &end, 10);
  if (end != text && !*end && !errno) {
    *value = whole;
    return true;
  }
  double number = strtod(text, &end); // "32.0" counts too
  if (end == text || *end || !(fabs(number) < 9e18) || number != floor(number))
    return false;
  *value = (int64_t)number;
  return true;
}

bool kugel__key_double(fitsfile *f, const char *name, double *value)
{
  char text[FLEN_VALUE], *end;
  if (!kugel__key_text(f, name, text, sizeof text))
    return false;
  for (char *c = text; *c; c++)
    if (*c == 'D' || *c == 'd') // FITS allows 1.0D3
      *c = 'E';
  *value = strtod(text, &end);
  return end != text && !*end;
}

static bool whole(double x)
{
  return x == floor(x) && fabs(x) <= 0x1p53;
}

/* Type of a column's values after scaling. */
static void finish_type(kugel__col *c)
{
  static const struct {
    char letter;
    uint8_t code, bits, signed_code;
    double signless; // TZERO that flips signedness
  } types[] = {
      {'L', KUGEL_BOOL, 8, KUGEL_BOOL, 0},           {'X', KUGEL_BOOL, 8, KUGEL_BOOL, 0},
      {'B', KUGEL_UINT, 8, KUGEL_INT, -128},         {'I', KUGEL_INT, 16, KUGEL_UINT, 32768},
      {'J', KUGEL_INT, 32, KUGEL_UINT, 2147483648.}, {'K', KUGEL_INT, 64, KUGEL_UINT, 9223372036854775808.}};
  c->integer = false;
  c->dtype = (kugel_dtype){KUGEL_FLOAT, 64, 1};
  if (!c->letter)
    c->dtype = (kugel_dtype){0, 0, 0};
  if (c->letter == 'E' && c->scale == 1 && c->zero == 0)
    c->dtype.bits = 32;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (types[i].letter != c->letter)
      continue;
    bool plain = c->scale == 1 && c->zero == 0,
         flipped = c->scale == 1 && c->zero == types[i].signless && c->zero != 0;
    c->u64 = c->letter == 'K' && flipped;
    c->integer =
        plain || flipped || (c->letter != 'K' && c->scale == 1 && whole(c->zero) && fabs(c->zero) < 0x1p40);
    c->izero = c->integer && !c->u64 ? (int64_t)c->zero : 0;
    if (plain || flipped)
      c->dtype = (kugel_dtype){flipped ? types[i].signed_code : types[i].code, types[i].bits, 1};
    else if (c->integer)
      c->dtype = (kugel_dtype){KUGEL_INT, 64, 1};
  }
}

static kugel_status read_column(kugel_fits *file, kugel__table *t, int number, kugel__col *c)
{
  static const struct {
    int code;
    char letter;
    int bytes;
  } codes[] = {{TLOGICAL, 'L', 1}, {TBIT, 'X', 0},      {TBYTE, 'B', 1},  {TSHORT, 'I', 2},
               {TLONG, 'J', 4},    {TLONGLONG, 'K', 8}, {TFLOAT, 'E', 4}, {TDOUBLE, 'D', 8}};
  char key[FLEN_KEYWORD];
  int code = 0, status = 0;
  LONGLONG repeat = 0, width = 0;
  fits_get_coltypell(file->f, number, &code, &repeat, &width, &status);
  if (status)
    return kugel__fits_fail("read", file->path, status);
  snprintf(key, sizeof key, "TTYPE%d", number);
  kugel__key_text(file->f, key, c->name, sizeof c->name);
  snprintf(key, sizeof key, "TUNIT%d", number);
  kugel__key_text(file->f, key, c->unit, sizeof c->unit);
  if (kugel__same_word(c->unit, "unknown"))
    c->unit[0] = 0;
  c->scale = 1;
  snprintf(key, sizeof key, "TSCAL%d", number);
  kugel__key_double(file->f, key, &c->scale);
  snprintf(key, sizeof key, "TZERO%d", number);
  kugel__key_double(file->f, key, &c->zero);
  snprintf(key, sizeof key, "TNULL%d", number);
  c->has_null = kugel__key_int(file->f, key, &c->null);
  c->repeat = repeat;
  if (t->type == ASCII_TBL) {
    c->letter = code == TSTRING ? 0 : 'F';
    c->repeat = 1;
    c->bytes = (int32_t)width;
    c->scale = 1; // cfitsio scales what it reads itself
    c->zero = 0;
    finish_type(c);
    return KUGEL_OK;
  }
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) {
      c->letter = codes[i].letter;
      c->bytes = codes[i].bytes;
    }
  if (c->letter == 'E' || c->letter == 'D' || c->letter == 'X')
    c->has_null = false;
  if (c->letter == 'X' || c->letter == 'L') { // no numbers that could be scaled
    c->scale = 1;
    c->zero = 0;
  }
  finish_type(c);
  return KUGEL_OK;
}

/* Bytes of column `number` in a row, for the offsets of the next ones. */
static int64_t column_bytes(kugel_fits *file, int number, const kugel__col *c)
{
  int code = 0, status = 0;
  LONGLONG repeat = 0, width = 0;
  if (c->letter)
    return c->letter == 'X' ? (c->repeat + 7) / 8 : c->repeat * c->bytes;
  fits_get_coltypell(file->f, number, &code, &repeat, &width, &status);
  if (status || repeat < 0 || repeat > INT64_MAX / 64 || width < 0 || width > INT64_MAX / 64)
    return -1;
  if (code == TSTRING)
    return repeat;
  if (code == TCOMPLEX)
    return 8 * repeat;
  if (code == TDBLCOMPLEX)
    return 16 * repeat;
  char key[FLEN_KEYWORD], form[72]; // a variable-length array: its descriptor, P or Q
  snprintf(key, sizeof key, "TFORM%d", number);
  kugel__key_text(file->f, key, form, sizeof form);
  return (strchr(form, 'Q') ? 16 : 8) * (isdigit((unsigned char)form[0]) && atoi(form) == 0 ? 0 : 1);
}

static kugel_status check_size(kugel_fits *file)
{
  LONGLONG head = 0, data = 0, end = 0;
  int status = 0;
  int64_t row = 0, rows = 0, heap = 0;
  fits_get_hduaddrll(file->f, &head, &data, &end, &status);
  if (status)
    return kugel__fits_fail("read", file->path, status);
  int type = 0;
  fits_get_hdu_type(file->f, &type, &status);
  int64_t need = end;
  if (type != IMAGE_HDU && kugel__key_int(file->f, "NAXIS1", &row) &&
      kugel__key_int(file->f, "NAXIS2", &rows)) {
    kugel__key_int(file->f, "PCOUNT", &heap); // the last block's padding may be missing
    int64_t bytes = 0;
    if (!__builtin_mul_overflow(row, rows, &bytes) && !__builtin_add_overflow(bytes, heap, &bytes) &&
        !__builtin_add_overflow(bytes, (int64_t)data, &bytes))
      need = bytes;
    else
      need = INT64_MAX;
  }
  KUGEL_CHECK(need >= 0 && (uint64_t)need <= file->bytes + (type == IMAGE_HDU ? 2880 : 0), KUGEL_EFORMAT,
              "'%s' is cut short: its header promises %lld bytes, it has %zu", kugel__tail(file->path),
              (long long)need, file->bytes);
  return KUGEL_OK;
}

/* cfitsio makes room for whatever length a compressed tile has by its descriptor, before it reads a byte. */
static kugel_status check_tiles(kugel_fits *file, const kugel__table *t)
{
  static const char *const names[] = {"COMPRESSED_DATA", "GZIP_COMPRESSED_DATA", "UNCOMPRESSED_DATA"};
  int64_t rows = 0;
  int status = 0;
  if (!fits_is_compressed_image(file->f, &status) || !kugel__key_int(file->f, "NAXIS2", &rows))
    return KUGEL_OK;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    int column = 0, none = 0;
    if (fits_get_colnum(file->f, CASEINSEN, (char *)(uintptr_t)names[k], &column, &none))
      continue;
    for (int64_t row = 1; row <= rows; row++) {
      LONGLONG length = 0, at = 0;
      if (fits_read_descriptll(file->f, column, row, &length, &at, &status))
        return kugel__fits_fail("read", file->path, status);
      KUGEL_CHECK(length >= 0 && at >= 0 && (uint64_t)length <= file->bytes, KUGEL_EFORMAT,
                  "'%s', HDU %d: compressed tile %lld has %lld bytes, the file has %zu",
                  kugel__tail(file->path), t->hdu, (long long)row, (long long)length, file->bytes);
    }
  }
  fits_clear_errmsg();
  return KUGEL_OK;
}

static kugel_status read_image(kugel_fits *file, kugel__table *t)
{
  KUGEL_TRY(check_tiles(file, t));
  int naxis = 0, status = 0, bitpix = 0;
  LONGLONG axes[9] = {0};
  fits_get_img_dim(file->f, &naxis, &status);
  KUGEL_CHECK(!status && naxis >= 1 && naxis <= 9, KUGEL_EFORMAT,
              "'%s', HDU %d: an image of %d axes, 1 to 9 are read", kugel__tail(file->path), t->hdu, naxis);
  fits_get_img_sizell(file->f, 9, axes, &status);
  fits_get_img_equivtype(file->f, &bitpix, &status);
  if (status)
    return kugel__fits_fail("read", file->path, status);
  t->nrows = axes[0];
  t->ncols = 1;
  for (int i = 1; i < naxis; i++)
    KUGEL_CHECK(!__builtin_mul_overflow(t->ncols, (int64_t)axes[i], &t->ncols), KUGEL_EFORMAT,
                "'%s' has an image of impossible size", kugel__tail(file->path));
  KUGEL_CHECK(t->nrows > 0 && t->ncols > 0 && t->ncols <= 100000, KUGEL_EFORMAT,
              "'%s', HDU %d: an image of %lld by %lld numbers", kugel__tail(file->path), t->hdu,
              (long long)t->nrows, (long long)t->ncols);
  t->cols = kugel__calloc(file->ctx, (size_t)t->ncols * sizeof *t->cols);
  KUGEL_CHECK(t->cols, KUGEL_ENOMEM, "no memory for %lld columns", (long long)t->ncols);
  for (int64_t c = 0; c < t->ncols; c++)
    t->cols[c] = (kugel__col){
        .letter = 'F', .repeat = 1, .scale = 1, .dtype = {KUGEL_FLOAT, bitpix == FLOAT_IMG ? 32 : 64, 1}};
  return KUGEL_OK;
}

kugel_status kugel__table_read(kugel_fits *file, int hdu, kugel__table *t)
{
  int status = 0, n = 0;
  memset(t, 0, sizeof *t);
  t->hdu = hdu;
  fits_movabs_hdu(file->f, hdu, &t->type, &status);
  if (status)
    return kugel__fits_fail("read", file->path, status);
  KUGEL_TRY(check_size(file));
  if (t->type == IMAGE_HDU)
    return read_image(file, t);
  LONGLONG rows = 0;
  fits_get_num_rowsll(file->f, &rows, &status);
  fits_get_num_cols(file->f, &n, &status);
  if (status)
    return kugel__fits_fail("read", file->path, status);
  KUGEL_CHECK(n > 0 && n <= 999 && rows >= 0 && kugel__key_int(file->f, "NAXIS1", &t->row_bytes) &&
                  t->row_bytes > 0,
              KUGEL_EFORMAT, "'%s', HDU %d: a table of %d columns and %lld rows", kugel__tail(file->path),
              hdu, n, (long long)rows);
  t->nrows = rows;
  t->ncols = n;
  t->cols = kugel__calloc(file->ctx, (size_t)n * sizeof *t->cols);
  KUGEL_CHECK(t->cols, KUGEL_ENOMEM, "no memory for %d columns", n);
  int64_t offset = 0;
  for (int i = 0; i < n; i++) {
    KUGEL_TRY(read_column(file, t, i + 1, &t->cols[i]));
    t->cols[i].offset = offset;
    int64_t bytes = t->cols[i].repeat > INT64_MAX / 64 || t->cols[i].repeat < 0
                        ? -1
                        : column_bytes(file, i + 1, &t->cols[i]);
    KUGEL_CHECK(t->type == ASCII_TBL || (bytes >= 0 && bytes <= t->row_bytes - offset), KUGEL_EFORMAT,
                "'%s' contradicts itself: column %d does not fit into rows of NAXIS1 = %lld bytes",
                kugel__tail(file->path), i + 1, (long long)t->row_bytes);
    offset += t->type == ASCII_TBL ? 0 : bytes;
  }
  return KUGEL_OK;
}

void kugel__table_free(kugel_ctx *ctx, kugel__table *t)
{
  kugel__free(ctx, t->cols);
  t->cols = NULL;
}

/* ---- cards
 * -------------------------------------------------------------------------------------------------- */

bool kugel__card_structural(const char *card)
{
  static const char *const exact[] = {
      "SIMPLE",   "XTENSION", "BITPIX", "NAXIS",    "EXTEND",   "PCOUNT",  "GCOUNT",   "TFIELDS", "THEAP",
      "CHECKSUM", "DATASUM",  "END",    "EXTNAME",  "CREATOR",  "PIXTYPE", "ORDERING", "NSIDE",   "FIRSTPIX",
      "LASTPIX",  "INDXSCHM", "GRAIN",  "BAD_DATA", "LONGSTRN", "EXTVER",  "EXTLEVEL", "OBS_NPIX"};
  static const char *const numbered[] = {"NAXIS", "TTYPE", "TFORM", "TUNIT", "TSCAL", "TZERO",
                                         "TNULL", "TDISP", "TDIM",  "TBCOL", "TCOMM"};
  char key[9] = "";
  for (int i = 0; i < 8 && card[i] && card[i] != ' ' && card[i] != '='; i++)
    key[i] = (char)toupper((unsigned char)card[i]);
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
    if (!strcmp(key, exact[i]))
      return true;
  for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
    size_t n = strlen(numbered[i]);
    if (!strncmp(key, numbered[i], n) && isdigit((unsigned char)key[n]))
      return true;
  }
  return !strncmp(card, "OBJECT  = 'FULLSKY", 18) || !strncmp(card, "OBJECT  = 'PARTIAL", 18);
}

/* Headings and rules that HEALPix puts around its keywords mean nothing once those are written anew. */
static bool ornament(const char *card)
{
  static const char *const headings[] = {"Sky Map Pixelisation Specific Keywords",
                                         "Data Description Specific Keywords",
                                         "Planck Simulation Specific Keywords", "Full sky data"};
  if (strncmp(card, "COMMENT", 7) && card[0])
    return false;
  const char *text = card[0] ? card + 7 : card;
  text += strspn(text, " ");
  if (text[strspn(text, "-= *")] == 0)
    return true;
  for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
    if (!strncmp(text, headings[i], strlen(headings[i])))
      return true;
  return false;
}

kugel_status kugel__fits_collect_cards(kugel_fits *file)
{
  int n = 0, more = 0, status = 0;
  fits_get_hdrspace(file->f, &n, &more, &status);
  if (status)
    return kugel__fits_fail("read", file->path, status);
  KUGEL_CHECK(n >= 0 && n <= 1000000, KUGEL_EFORMAT, "'%s' has a header of %d cards", kugel__tail(file->path),
              n);
  file->cards = kugel__alloc(file->ctx, (size_t)(n + 1) * sizeof *file->cards);
  file->card_text = kugel__alloc(file->ctx, (size_t)(n + 1) * FLEN_CARD);
  KUGEL_CHECK(file->cards && file->card_text, KUGEL_ENOMEM, "no memory for %d header cards", n);
  bool dropped = true; // a CONTINUE card shares the fate of the one before it
  int64_t kept = 0;
  for (int i = 1; i <= n; i++) {
    char *card = file->card_text + kept * FLEN_CARD;
    card[0] = 0;
    if (fits_read_record(file->f, i, card, &status))
      return kugel__fits_fail("read", file->path, status);
    tidy(card);
    bool keep = strncmp(card, "CONTINUE", 8) ? !kugel__card_structural(card) && !ornament(card) : !dropped;
    dropped = !keep;
    if (keep)
      file->cards[kept++] = card;
  }
  file->info.ncards = kept;
  file->info.cards = (const char *const *)file->cards;
  return KUGEL_OK;
}

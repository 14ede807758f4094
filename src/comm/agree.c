/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: all ranks return the failure of the lowest rank that has one. */
#include <stdio.h>
#include <string.h>
#include "comm/comm.h"

typedef struct news {
  int64_t status;
  char sentence[480];
} news;

void kugel__comm_settle(kugel_comm *c)
{
  c->settled = true;
  snprintf(c->said, sizeof c->said, "%s", kugel_last_error());
}

// All ranks know that rank `who` failed.
static kugel_status spread(kugel_comm *c, kugel_status s, int who)
{
  news n = {.status = s};
  if (who == c->rank && !strcmp(kugel_last_error(), c->said)) // these ranks said before who it was
    memcpy(n.sentence, c->said, sizeof c->said);
  else if (who == c->rank)
    snprintf(n.sentence, sizeof n.sentence, "rank %d: %.460s", who, kugel_last_error());
  KUGEL_TRY(kugel_comm_bcast(c, &n, sizeof n, who));
  n.sentence[sizeof n.sentence - 1] = 0;
  kugel__set_error(n.sentence);
  kugel__comm_settle(c);
  return (kugel_status)n.status;
}

// Every agreement is a reduction of as many numbers, since a rank that has failed agrees where the others compare.
enum { NUMBERS = 1 + 2 * KUGEL__MAX_SAME };

kugel_status kugel__comm_agree(kugel_comm *c, kugel_status s)
{
  return kugel__comm_same(c, s, 0, NULL);
}

kugel_status kugel__comm_leave(kugel_comm *c, kugel_status s)
{
  if (!s || !c->settled)
    return kugel__comm_agree(c, s);
  kugel__set_error(c->said);
  return s;
}

kugel_status kugel__comm_same(kugel_comm *c, kugel_status s, int n, const kugel__same *values)
{
  int64_t v[NUMBERS] = {s ? c->rank : c->size};
  for (int i = 0; i < n; i++) {
    v[1 + 2 * i] = values[i].value;
    v[2 + 2 * i] = -values[i].value;
  }
  KUGEL_TRY(kugel__comm_reduce(c, v, NUMBERS, KUGEL_COMM_MIN));
  if (v[0] < c->size)
    return spread(c, s, (int)v[0]);
  for (int i = 0; i < n; i++)
    if (v[1 + 2 * i] != -v[2 + 2 * i]) {
      kugel_status differ = KUGEL_FAIL(
          KUGEL_EINVAL, "the ranks differ in %s, which is %lld on one and %lld on another: give all the same",
          values[i].name, (long long)v[1 + 2 * i], (long long)-v[2 + 2 * i]);
      kugel__comm_settle(c);
      return differ;
    }
  return KUGEL_OK;
}

kugel_status kugel_comm_agree(kugel_comm *c, kugel_status status)
{
  KUGEL_CHECK(c, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open");
  return kugel__comm_agree(c, status);
}

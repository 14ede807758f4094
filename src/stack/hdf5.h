/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 by libhdf5: Imaris 5.5 (.ims), BigDataViewer (.h5 and .xml), and plain files of one dataset. */
#ifndef KUGEL_STACK_HDF5_H
#define KUGEL_STACK_HDF5_H

#include <hdf5.h>
#include "stack/stack.h"

typedef enum kugel__hdf5_layout { KUGEL__HDF5_PLAIN, KUGEL__HDF5_IMARIS, KUGEL__HDF5_BDV } kugel__hdf5_layout;

enum { KUGEL__HDF5_NAME = 512, KUGEL__HDF5_BINS = 256 };

typedef struct kugel__hdf5 {
  hid_t file, dataset; // of time and channel `at`; below 0: none
  int64_t at[2];
  kugel__hdf5_layout layout;
  int level, rank;             // of a plain dataset: 2 to 5
  char name[KUGEL__HDF5_NAME]; // of a plain dataset
  hid_t type;                  // of numbers in memory
  uint64_t *bins;              // [t, c, 256], Imaris' histograms of uint8 and uint16
} kugel__hdf5;

/* Calls of libhdf5 lie between these: it need not know threads, and shall print nothing. */
void kugel__hdf5_enter(void);
void kugel__hdf5_leave(void);

void kugel__hdf5_path(const kugel__hdf5 *h, int64_t t, int64_t c, char path[KUGEL__HDF5_NAME]);
/* The dataset of a time and channel in h->dataset. */
kugel_status kugel__hdf5_select(kugel_image *im, kugel__hdf5 *h, int64_t t, int64_t c);
/* A piece between buffer and file. */
kugel_status kugel__hdf5_piece(kugel_image *im, const int64_t index[5], char *buffer, bool write);
hid_t kugel__hdf5_type(kugel_dtype t); // native; below 0: none
void kugel__hdf5_close(kugel_image *im);
kugel_status kugel__hdf5_bad(const kugel_image *im, const char *what);

/* ---- hdf5_meta.c ---- */

/* A text attribute, of one string or of characters as Imaris has them. */
bool kugel__hdf5_attribute(hid_t file, const char *object, const char *name, char *out, size_t size);
bool kugel__hdf5_set_attribute(hid_t file, const char *object, const char *name, const char *text);
void kugel__hdf5_take_imaris(kugel_image *im, const kugel__hdf5 *h);
bool kugel__hdf5_give_imaris(const kugel_image *im, const kugel__hdf5 *h);
/* The XML beside a BigDataViewer file, for reading if it is there. */
kugel_status kugel__hdf5_take_xml(kugel_image *im);
kugel_status kugel__hdf5_give_xml(const kugel_image *im);

#endif

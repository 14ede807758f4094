/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands, in the order of the overview. One line adds one. */
#ifndef KUGEL_CLI_COMMANDS_H
#define KUGEL_CLI_COMMANDS_H

#include "common/opts.h"

#define COMMAND_LIST(X)                                                                                      \
  X(smooth)                                                                                                  \
  X(filter)                                                                                                  \
  X(sources)                                                                                                 \
  X(wavelet)                                                                                                 \
  X(map2alm)                                                                                                 \
  X(alm2map)                                                                                                 \
  X(anafast)                                                                                                 \
  X(spectra)                                                                                                 \
  X(mask)                                                                                                    \
  X(synfast)                                                                                                 \
  X(at)                                                                                                      \
  X(lens)                                                                                                    \
  X(reorder)                                                                                                 \
  X(udgrade)                                                                                                 \
  X(regrid)                                                                                                  \
  X(rotate)                                                                                                  \
  X(ball)                                                                                                    \
  X(fft)                                                                                                     \
  X(nufft)                                                                                                   \
  X(convolve)                                                                                                \
  X(convert)                                                                                                 \
  X(mip)                                                                                                     \
  X(view)                                                                                                    \
  X(deconvolve)                                                                                              \
  X(psf)                                                                                                     \
  X(plot)                                                                                                    \
  X(plan)                                                                                                    \
  X(info)                                                                                                    \
  X(bench)

#define COMMAND_DECLARE_(name) extern const command command_##name;
COMMAND_LIST(COMMAND_DECLARE_)
#undef COMMAND_DECLARE_

#endif

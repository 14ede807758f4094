# SPDX-License-Identifier: BSD-3-Clause
"""ctypes prototypes of Kugel's public headers. Written by tools/gen_ffi.py; do not edit.

Types and functions are text here and become ctypes types when first used, because making all of them takes longer than most
programs do.
"""
import ctypes
import threading
from typing import Any

# core.h
KUGEL_OK = 0
KUGEL_EINVAL = -1
KUGEL_ESHAPE = -2
KUGEL_ENOMEM = -3
KUGEL_ENOTSUP = -4
KUGEL_EDEVICE = -5
KUGEL_ECOMPILE = -6
KUGEL_EIO = -7
KUGEL_EFORMAT = -8
KUGEL_ECANCELED = -9
KUGEL_ECONVERGE = -10
KUGEL_EINTERNAL = -11
KUGEL_PRECISION_F64 = 0
KUGEL_PRECISION_F32 = 1
KUGEL_PRECISION_DD = 2
KUGEL_PRECISION_F16 = 3
KUGEL_INT = 0
KUGEL_UINT = 1
KUGEL_FLOAT = 2
KUGEL_COMPLEX = 5
KUGEL_BOOL = 6
KUGEL_CPU = 1
KUGEL_CUDA = 2
KUGEL_OPENCL = 4
KUGEL_ALL = -1
KUGEL_ONLY_M0 = -2
KUGEL_UNSEEN = -1.6375e+30
# fft.h
KUGEL_FFT_C2C = 0
KUGEL_FFT_R2C = 1
KUGEL_FFT_DCT1 = 2
KUGEL_FFT_DCT2 = 3
KUGEL_FFT_DCT3 = 4
KUGEL_FFT_DCT4 = 5
KUGEL_FFT_DST1 = 6
KUGEL_FFT_DST2 = 7
KUGEL_FFT_DST3 = 8
KUGEL_FFT_DST4 = 9
KUGEL_FORWARD = -1
KUGEL_INVERSE = 1
KUGEL_FFT_ESTIMATE = 0
KUGEL_FFT_MEASURE = 1
KUGEL_FFT_COMPLEX = 0
KUGEL_FFT_MAGNITUDE = 1
KUGEL_FFT_POWER = 2
KUGEL_FFT_LOG_MAGNITUDE = 3
KUGEL_FFT_DATA = 0
KUGEL_FFT_SPECTRUM = 1
# healpix.h
KUGEL_ORDER_ANY = 0
KUGEL_ORDER_RING = 1
KUGEL_ORDER_NESTED = 2
KUGEL_ORDER_FLAT_S = 16
KUGEL_ORDER_FLAT_E = 17
KUGEL_ORDER_FLAT_N = 18
KUGEL_ORDER_FLAT_W = 19
KUGEL_ORDER_FLAT_S_CLOCKWISE = 20
KUGEL_ORDER_FLAT_E_CLOCKWISE = 21
KUGEL_ORDER_FLAT_N_CLOCKWISE = 22
KUGEL_ORDER_FLAT_W_CLOCKWISE = 23
KUGEL_FLAT_CLOCKWISE = 4
# grid.h
KUGEL_GRID_CUSTOM = 0
KUGEL_GRID_HEALPIX = 1
KUGEL_GRID_GAUSS = 2
KUGEL_GRID_CLENSHAW_CURTIS = 3
KUGEL_GRID_FEJER1 = 4
KUGEL_GRID_FEJER2 = 5
KUGEL_GRID_DRISCOLL_HEALY = 6
KUGEL_GRID_MCEWEN_WIAUX = 7
KUGEL_GRID_LOBATTO = 8
KUGEL_GRID_GAUSS_REDUCED = 9
KUGEL_GRID_GAUSS_OCTAHEDRAL = 10
# sphere.h
KUGEL_SHT_SCALAR = 0
KUGEL_SHT_SPIN = 1
KUGEL_SHT_TEB = 2
KUGEL_SHT_GRAD = 3
KUGEL_SHT_DER1 = 4
KUGEL_WEIGHTS_DEFAULT = 0
KUGEL_WEIGHTS_RING = 1
KUGEL_WEIGHTS_PIXEL = 2
KUGEL_BAD_ERROR = 0
KUGEL_BAD_ZERO = 1
KUGEL_BAD_PASS = 2
KUGEL_SHT_RECURRENCE = 0
KUGEL_SHT_CONNECTION = 1
KUGEL_SHT_ALM = 0
KUGEL_SHT_MAP = 1
# alm.h
KUGEL_CL_DIAGONAL = 0
KUGEL_CL_ROW = 1
# ball.h
KUGEL_BALL_RHOMBOIDAL = 0
KUGEL_BALL_TRIANGULAR = 1
KUGEL_BALL_TRAPEZOIDAL = 2
KUGEL_BALL_SCALAR = 0
KUGEL_BALL_VECTOR = 1
KUGEL_BALL_SPIN = 2
KUGEL_BALL_GRAD = 0
KUGEL_BALL_DIV = 1
KUGEL_BALL_CURL = 2
KUGEL_BALL_LAPLACIAN = 3
KUGEL_BALL_VECTOR_LAPLACIAN = 4
KUGEL_BALL_FROM_POTENTIALS = 5
KUGEL_BALL_TO_POTENTIALS = 6
KUGEL_BALL_L = 0
KUGEL_BALL_M = 1
KUGEL_BALL_N = 2
KUGEL_BALL_COEFFICIENTS = 0
KUGEL_BALL_PROFILES = 1
KUGEL_BALL_VALUES = 2
# banded.h
KUGEL_BANDED_LOWER = 0
KUGEL_BANDED_UPPER = 1
KUGEL_BANDED_TRIDIAGONAL = 2
KUGEL_BANDED_ROWS = 0
KUGEL_BANDED_COLUMNS = 1
KUGEL_BANDED_AUTO = 0
KUGEL_BANDED_SUBSTITUTION = 1
KUGEL_BANDED_SCAN = 2
KUGEL_BANDED_CYCLIC = 3
KUGEL_BANDED_PIVOTED = 4
# comm.h
KUGEL_COMM_AUTO = 0
KUGEL_COMM_SELF = 1
KUGEL_COMM_MPI = 2
KUGEL_COMM_MIN = 0
KUGEL_COMM_MAX = 1
KUGEL_COMM_SUM = 2
KUGEL_EVERY_RANK = -1
# conv.h
KUGEL_CONV_FULL = 0
KUGEL_CONV_SAME = 1
KUGEL_CONV_VALID = 2
# deconv.h
KUGEL_DECONV_RL = 0
KUGEL_DECONV_BIGGS = 1
KUGEL_DECONV_SHB = 2
KUGEL_DECONV_TV = 3
KUGEL_DECONV_WIENER = 4
KUGEL_DECONV_TIKHONOV = 5
KUGEL_DECONV_LANDWEBER = 6
KUGEL_DECONV_ISRA = 7
KUGEL_DECONV_UNKNOWN = 0
KUGEL_DECONV_ZERO = 1
KUGEL_DECONV_REPLICATE = 2
KUGEL_DECONV_REFLECT = 3
KUGEL_DECONV_PERIODIC = 4
KUGEL_DECONV_COUNT = 0
KUGEL_DECONV_TOLERANCE = 1
KUGEL_DECONV_DISCREPANCY = 2
KUGEL_DECONV_CALLBACK = 3
# image.h
KUGEL_IMAGE_AUTO = 0
KUGEL_IMAGE_TIFF = 1
KUGEL_IMAGE_OME_TIFF = 2
KUGEL_IMAGE_NPY = 3
KUGEL_IMAGE_NRRD = 4
KUGEL_IMAGE_MHD = 5
KUGEL_IMAGE_ZARR = 6
KUGEL_IMAGE_ZARR2 = 7
KUGEL_IMAGE_IMARIS = 8
KUGEL_IMAGE_BDV = 9
KUGEL_COMPRESS_AUTO = 0
KUGEL_COMPRESS_NONE = 1
KUGEL_COMPRESS_DEFLATE = 2
KUGEL_COMPRESS_LZW = 3
KUGEL_COMPRESS_PACKBITS = 4
KUGEL_COMPRESS_ZSTD = 5
KUGEL_COMPRESS_BLOSC = 6
KUGEL_COMPRESS_LZ4 = 7
# io.h
KUGEL_FITS_TABLE = 0
KUGEL_FITS_MAP = 1
KUGEL_FITS_ALM = 2
KUGEL_FITS_CL = 3
KUGEL_FITS_IMAGE = 4
# nufft.h
KUGEL_NUFFT_TO_MODES = 1
KUGEL_NUFFT_TO_POINTS = 2
KUGEL_NUFFT_TO_FREQUENCIES = 3
# plot.h
KUGEL_PLOT_MOLLWEIDE = 0
KUGEL_PLOT_ORTHOGRAPHIC = 1
KUGEL_PLOT_GNOMONIC = 2
KUGEL_PLOT_CARTESIAN = 3
KUGEL_PLOT_LINEAR = 0
KUGEL_PLOT_LOG = 1
KUGEL_PLOT_ASINH = 2
KUGEL_PLOT_HISTOGRAM = 3
# polynomial.h
KUGEL_WORLAND_CHEBYSHEV = 0
KUGEL_WORLAND_LEGENDRE = 1
KUGEL_WORLAND_CYLINDER_ENERGY = 2
KUGEL_WORLAND_SPHERE_ENERGY = 3
KUGEL_WORLAND_JACOBI = 4
KUGEL_WORLAND_UNITY = 0
KUGEL_WORLAND_NATURAL = 1
KUGEL_WORLAND_AUTO = 0
KUGEL_WORLAND_CONNECTION = 1
KUGEL_WORLAND_DENSE = 2
KUGEL_WORLAND_QUADRATURE = 3
KUGEL_WORLAND_BIDIAGONAL = 4
KUGEL_WORLAND_SCAN = 5
KUGEL_WORLAND_TENSOR = 6
KUGEL_WORLAND_P = 0
KUGEL_WORLAND_D1 = 1
KUGEL_WORLAND_R1 = 2
KUGEL_WORLAND_DIV_R1 = 3
KUGEL_WORLAND_DIV_R1_D1_R1 = 4
KUGEL_WORLAND_SPH_LAPL = 5
KUGEL_WORLAND_CYL_LAPL = 6
KUGEL_WORLAND_ZERO = 256
KUGEL_WORLAND_I2 = 512
KUGEL_WORLAND_I4 = 1024
KUGEL_ULTRA_AUTO = 0
KUGEL_ULTRA_DIRECT = 1
KUGEL_ULTRA_FAST = 2
# psf.h
KUGEL_PSF_BORN_WOLF = 0
KUGEL_PSF_GIBSON_LANNI = 1
KUGEL_PSF_RICHARDS_WOLF = 2
KUGEL_PSF_GAUSSIAN = 3
KUGEL_PSF_WIDEFIELD = 0
KUGEL_PSF_CONFOCAL = 1
KUGEL_PSF_TWO_PHOTON = 2
KUGEL_PSF_SHEET = 3
KUGEL_PSF_UNPOLARISED = 0
KUGEL_PSF_POLARISED_X = 1
KUGEL_PSF_POLARISED_Y = 2
KUGEL_PSF_SUM = 0
KUGEL_PSF_PEAK = 1
KUGEL_PSF_PLAIN = 2
KUGEL_PSF_NOT_FINITE = 1
KUGEL_PSF_ALL_ZERO = 2
KUGEL_PSF_NEGATIVE = 4
KUGEL_PSF_NOT_NORMALISED = 8
KUGEL_PSF_EVEN = 16
KUGEL_PSF_OFF_CENTRE = 32
KUGEL_PSF_BACKGROUND = 64
KUGEL_PSF_CUT_OFF = 128
KUGEL_PSF_FEW_PLANES = 256
KUGEL_PSF_FLAT = 512
# radial.h
KUGEL_RADIAL_GAUSSIAN = 0
KUGEL_RADIAL_TOP_HAT = 1
KUGEL_RADIAL_MEXICAN_HAT = 2
KUGEL_RADIAL_FUNCTION = 3
KUGEL_RADIAL_TABLE = 4
KUGEL_RADIAL_SERIES = 5
KUGEL_RADIAL_FISHER = 6
KUGEL_RADIAL_UNIT_INTEGRAL = 0
KUGEL_RADIAL_UNIT_PEAK = 1
KUGEL_RADIAL_AS_IS = 2
KUGEL_RADIAL_AUTO = 0
KUGEL_RADIAL_DIRECT = 1
KUGEL_RADIAL_HARMONIC = 2
KUGEL_RADIAL_RINGS = 3
KUGEL_RADIAL_ARKCOS = 4
# shell.h
KUGEL_SHELL_P = 0
KUGEL_SHELL_D1 = 1
KUGEL_SHELL_D2 = 2
KUGEL_SHELL_R1 = 3
KUGEL_SHELL_DIV_R1 = 4
KUGEL_SHELL_DIV_R2 = 5
KUGEL_SHELL_DIV_R1_D1 = 6
# sources.h
KUGEL_SOURCE_BLENDED = 1
KUGEL_SOURCE_EDGE = 2
KUGEL_SOURCE_POLE = 4
KUGEL_SOURCE_EXTENDED = 8
# spectra.h
KUGEL_APODISE_C1 = 0
KUGEL_APODISE_C2 = 1
KUGEL_APODISE_GAUSS = 2
KUGEL_COUPLING_00 = 1
KUGEL_COUPLING_0S = 2
KUGEL_COUPLING_PLUS = 4
KUGEL_COUPLING_MINUS = 8
KUGEL_COUPLING_ALL = 15
KUGEL_COUPLING_MAX_SPIN = 5
# stencil.h
KUGEL_STENCIL_PERIODIC = 0
KUGEL_STENCIL_ODD = 1
KUGEL_STENCIL_EVEN = 2
KUGEL_STENCIL_ZERO = 3
KUGEL_STENCIL_ONE_SIDED = 4
KUGEL_STENCIL_LEAPFROG = 0
KUGEL_STENCIL_RUNGE_KUTTA = 1
KUGEL_STENCIL_ADI = 2
# volume.h
KUGEL_BOUNDARY_ZERO = 0
KUGEL_BOUNDARY_REPLICATE = 1
KUGEL_BOUNDARY_REFLECT = 2
KUGEL_BOUNDARY_PERIODIC = 3
KUGEL_BOUNDARY_UNKNOWN = 4
KUGEL_VOLUME_AUTO = 0
KUGEL_VOLUME_RESIDENT = 1
KUGEL_VOLUME_TILES = 2
KUGEL_VOLUME_DIF = 3
KUGEL_VOLUME_PENCIL = 4
KUGEL_VOLUME_GLOBAL = 5
KUGEL_VOLUME_IMAGE = 0
KUGEL_VOLUME_RESULTS = 1
# worland.h
KUGEL_WORLAND_TIMES_R2 = 0
KUGEL_WORLAND_TIMES_R_UP = 1
KUGEL_WORLAND_TIMES_R_DOWN = 2
KUGEL_WORLAND_QI1 = 3
KUGEL_WORLAND_QI2 = 4
KUGEL_WORLAND_QI4 = 5
KUGEL_WORLAND_I2_SPH_LAPL = 6
KUGEL_WORLAND_I4_SPH_LAPL = 7
KUGEL_WORLAND_I4_SPH_LAPL2 = 8
KUGEL_WORLAND_I2_CYL_LAPL = 9
KUGEL_WORLAND_I4_CYL_LAPL = 10
KUGEL_WORLAND_I4_CYL_LAPL2 = 11
KUGEL_WORLAND_I1_QM = 12
KUGEL_WORLAND_I2_QM = 13
KUGEL_WORLAND_I4_QM = 14
KUGEL_WORLAND_I1_QP = 15
KUGEL_WORLAND_I2_QP = 16
KUGEL_WORLAND_I4_QP = 17
KUGEL_WORLAND_VALUE = 0
KUGEL_WORLAND_SLOPE = 1
KUGEL_WORLAND_CURVATURE = 2
KUGEL_WORLAND_INSULATING = 3
KUGEL_WORLAND_STRESS_FREE = 4
# zernike.h
KUGEL_ZERNIKE_NOLL = 0
KUGEL_ZERNIKE_ORTHONORMAL = 1
KUGEL_ZERNIKE_NATURAL = 2
KUGEL_ZERNIKE_OSA = 0
KUGEL_ZERNIKE_BY_NOLL = 1

CALLBACKS = {
    "kugel_progress_fn": "CFUNCTYPE(c_int, c_double, c_char_p, c_void_p)",
    "kugel_deconv_fn": "CFUNCTYPE(c_int, c_int64, c_double, c_void_p)",
    "kugel_plot_fn": "CFUNCTYPE(c_double, c_double, c_double, c_void_p)",
}

STRUCTS = {
    "kugel_dtype": (
        ("code", "c_uint8"),
        ("bits", "c_uint8"),
        ("lanes", "c_uint16"),
    ),
    "kugel_device": (
        ("type", "c_int32"),
        ("id", "c_int32"),
    ),
    "kugel_array": (
        ("data", "c_void_p"),
        ("device", "kugel_device"),
        ("ndim", "c_int32"),
        ("dtype", "kugel_dtype"),
        ("shape", "c_void_p"),
        ("strides", "c_void_p"),
        ("byte_offset", "c_uint64"),
    ),
    "kugel_allocator": (
        ("alloc", "CFUNCTYPE(c_void_p, c_size_t, c_size_t, c_void_p)"),
        ("free", "CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)"),
        ("user", "c_void_p"),
    ),
    "kugel_executor": (
        ("run", "CFUNCTYPE(None, c_int, c_void_p, c_void_p, c_void_p)"),
        ("threads", "c_int"),
        ("user", "c_void_p"),
    ),
    "kugel_ctx_opts": (
        ("size", "c_size_t"),
        ("device", "c_char_p"),
        ("threads", "c_int"),
        ("allocator", "POINTER(kugel_allocator)"),
        ("executor", "POINTER(kugel_executor)"),
        ("native_context", "c_void_p"),
    ),
    "kugel_device_info": (
        ("size", "c_size_t"),
        ("name", "(c_char * 64)"),
        ("description", "(c_char * 128)"),
        ("memory", "c_uint64"),
        ("units", "c_int32"),
        ("available", "c_int"),
        ("why", "(c_char * 192)"),
        ("device", "kugel_device"),
        ("lanes", "c_int32"),
        ("max_threads", "c_int32"),
        ("shared_bytes", "c_uint64"),
        ("cache_bytes", "c_uint64"),
        ("max_alloc", "c_uint64"),
        ("bandwidth", "c_double"),
        ("fp64", "c_int"),
        ("compute_capability", "c_int32"),
        ("is_gpu", "c_int"),
        ("kernels", "c_int"),
        ("driver", "(c_char * 96)"),
        ("compiler", "(c_char * 96)"),
    ),
    "kugel_kernels_info": (
        ("size", "c_size_t"),
        ("compiled", "c_int64"),
        ("cached", "c_int64"),
        ("written", "c_int64"),
        ("seconds", "c_double"),
    ),
    "kugel_copy_opts": (
        ("size", "c_size_t"),
        ("scale", "c_double"),
        ("conjugate", "c_int"),
    ),
    "kugel_fft_hook": (
        ("sign", "c_int"),
        ("write", "c_int"),
        ("axis", "c_int"),
        ("factor", "POINTER(kugel_array)"),
    ),
    "kugel_fft_opts": (
        ("size", "c_size_t"),
        ("kind", "c_int"),
        ("precision", "c_int"),
        ("naxes", "c_int"),
        ("axes", "c_void_p"),
        ("forward_scale", "c_double"),
        ("inverse_scale", "c_double"),
        ("nhooks", "c_int"),
        ("hooks", "POINTER(kugel_fft_hook)"),
        ("forward_scale_low", "c_double"),
        ("inverse_scale_low", "c_double"),
        ("modulus", "c_int"),
        ("effort", "c_int"),
        ("extent", "c_void_p"),
        ("comm", "c_void_p"),
        ("pieces", "c_int"),
        ("grid", "(c_int * 2)"),
    ),
    "kugel_fft_info": (
        ("size", "c_size_t"),
        ("ndim", "c_int"),
        ("naxes", "c_int"),
        ("n", "(c_int64 * 8)"),
        ("extent", "(c_int64 * 8)"),
        ("axes", "(c_int * 8)"),
        ("kind", "c_int"),
        ("precision", "c_int"),
        ("modulus", "c_int"),
        ("forward_scale", "c_double"),
        ("inverse_scale", "c_double"),
        ("data_first", "c_int64"),
        ("data_count", "c_int64"),
        ("spectrum_first", "c_int64"),
        ("spectrum_count", "c_int64"),
        ("data_row_first", "c_int64"),
        ("data_row_count", "c_int64"),
        ("spectrum_column_first", "c_int64"),
        ("spectrum_column_count", "c_int64"),
        ("grid", "(c_int * 2)"),
    ),
    "kugel_rings_opts": (
        ("size", "c_size_t"),
        ("npix", "c_int64"),
        ("mlim", "c_void_p"),
    ),
    "kugel_pixset": (
        ("n_ranges", "c_int64"),
        ("n_pixels", "c_int64"),
        ("ranges", "c_void_p"),
        ("ctx", "c_void_p"),
    ),
    "kugel_ud_grade_opts": (
        ("size", "c_size_t"),
        ("pessimistic", "c_int"),
        ("power", "c_double"),
    ),
    "kugel_grid_opts": (
        ("size", "c_size_t"),
        ("kind", "c_int"),
        ("nside", "c_int64"),
        ("ntheta", "c_int64"),
        ("nphi", "c_int64"),
        ("phi0", "c_double"),
        ("nrings", "c_int64"),
        ("theta", "c_void_p"),
        ("ring_nphi", "c_void_p"),
        ("ring_phi0", "c_void_p"),
        ("ring_first", "c_void_p"),
        ("ring_weight", "c_void_p"),
    ),
    "kugel_sht_opts": (
        ("size", "c_size_t"),
        ("grid", "c_void_p"),
        ("lmax", "c_int64"),
        ("mmax", "c_int64"),
        ("mode", "c_int"),
        ("spin", "c_int"),
        ("weights", "c_int"),
        ("iterations", "c_int"),
        ("bad_pixels", "c_int"),
        ("beyond_band_limit", "c_int"),
        ("engine", "c_int"),
        ("comm", "c_void_p"),
        ("pieces", "c_int"),
    ),
    "kugel_sht_info": (
        ("size", "c_size_t"),
        ("lmax", "c_int64"),
        ("mmax", "c_int64"),
        ("nalm", "c_int64"),
        ("npix", "c_int64"),
        ("n_alm_sets", "c_int"),
        ("n_maps", "c_int"),
        ("parts", "c_int64"),
        ("device_bytes", "c_uint64"),
    ),
    "kugel_solve_opts": (
        ("size", "c_size_t"),
        ("tolerance", "c_double"),
        ("max_iterations", "c_int"),
    ),
    "kugel_solve_stats": (
        ("iterations", "c_int"),
        ("residual", "c_double"),
        ("normal_residual", "c_double"),
    ),
    "kugel_smooth_opts": (
        ("size", "c_size_t"),
        ("grid", "c_void_p"),
        ("lmax", "c_int64"),
        ("mmax", "c_int64"),
        ("fwhm", "c_double"),
        ("n_window", "c_int64"),
        ("window", "c_void_p"),
        ("window_e", "c_void_p"),
        ("window_b", "c_void_p"),
        ("weights", "c_int"),
        ("iterations", "c_int"),
        ("spin", "c_int"),
        ("beyond_band_limit", "c_int"),
    ),
    "kugel_alm_random_opts": (
        ("size", "c_size_t"),
        ("n", "c_int64"),
        ("lmax", "c_int64"),
        ("mmax", "c_int64"),
        ("cl", "c_void_p"),
        ("n_cl", "c_int64"),
        ("cl_lmax", "c_int64"),
        ("order", "c_int"),
        ("seed", "c_uint64"),
        ("zero_indefinite", "c_int"),
        ("index", "c_uint64"),
    ),
    "kugel_dipole_opts": (
        ("size", "c_size_t"),
        ("nest", "c_int"),
        ("gal_cut", "c_double"),
        ("monopole_only", "c_int"),
    ),
    "kugel_ball_opts": (
        ("size", "c_size_t"),
        ("lmax", "c_int64"),
        ("mmax", "c_int64"),
        ("n", "c_int64"),
        ("truncation", "c_int"),
        ("dmax", "c_int64"),
        ("type", "c_int"),
        ("engine", "c_int"),
        ("precision", "c_int"),
        ("vectors", "c_int"),
        ("factors", "c_int"),
        ("nr", "c_int64"),
        ("ntheta", "c_int64"),
        ("nphi", "c_int64"),
        ("radii", "c_void_p"),
        ("sphere", "c_void_p"),
        ("comm", "c_void_p"),
    ),
    "kugel_ball_info": (
        ("size", "c_size_t"),
        ("lmax", "c_int64"),
        ("mmax", "c_int64"),
        ("n", "c_int64"),
        ("nlm", "c_int64"),
        ("nr", "c_int64"),
        ("ntheta", "c_int64"),
        ("nphi", "c_int64"),
        ("parts", "c_int64"),
        ("table_bytes", "c_uint64"),
        ("scalar_bytes", "c_uint64"),
        ("vector_bytes", "c_uint64"),
        ("first_radius", "c_int64"),
        ("radii", "c_int64"),
    ),
    "kugel_banded_opts": (
        ("size", "c_size_t"),
        ("kind", "c_int"),
        ("precision", "c_int"),
        ("layout", "c_int"),
        ("n", "c_int64"),
        ("matrices", "c_int64"),
        ("lower", "c_void_p"),
        ("diagonal", "c_void_p"),
        ("upper", "c_void_p"),
        ("method", "c_int"),
    ),
    "kugel_banded_info": (
        ("size", "c_size_t"),
        ("method", "c_int"),
        ("batch", "c_int64"),
        ("solvable", "c_int"),
        ("bad_matrix", "c_int64"),
        ("bad_row", "c_int64"),
        ("growth", "c_double"),
        ("propagation", "c_double"),
        ("threads", "c_int32"),
        ("elements", "c_int32"),
    ),
    "kugel_comm_opts": (
        ("size", "c_size_t"),
        ("kind", "c_int"),
        ("library", "c_char_p"),
    ),
    "kugel_exchange": (
        ("send", "c_void_p"),
        ("send_bytes", "c_void_p"),
        ("send_at", "c_void_p"),
        ("recv", "c_void_p"),
        ("recv_bytes", "c_void_p"),
        ("recv_at", "c_void_p"),
    ),
    "kugel_comm_ops": (
        ("size", "c_size_t"),
        ("name", "c_char_p"),
        ("barrier", "CFUNCTYPE(c_int, c_void_p)"),
        ("bcast", "CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_int)"),
        ("reduce", "CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int)"),
        ("begin", "CFUNCTYPE(c_int, c_void_p, POINTER(kugel_exchange), c_void_p)"),
        ("end", "CFUNCTYPE(c_int, c_void_p, c_void_p)"),
        ("split", "CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_void_p, c_void_p, c_void_p)"),
        ("close", "CFUNCTYPE(None, c_void_p)"),
    ),
    "kugel_comm_info": (
        ("size", "c_size_t"),
        ("rank", "c_int"),
        ("ranks", "c_int"),
        ("node_rank", "c_int"),
        ("node_ranks", "c_int"),
        ("nodes", "c_int"),
        ("threads", "c_int"),
    ),
    "kugel_conv_opts": (
        ("size", "c_size_t"),
        ("extent", "c_int"),
        ("circular", "c_int"),
        ("correlate", "c_int"),
        ("complex_data", "c_int"),
        ("precision", "c_int"),
        ("inputs", "c_int"),
        ("outputs", "c_int"),
        ("each", "c_int"),
    ),
    "kugel_conv_info": (
        ("size", "c_size_t"),
        ("ndim", "c_int"),
        ("inputs", "c_int"),
        ("outputs", "c_int"),
        ("precision", "c_int"),
        ("n", "(c_int64 * 8)"),
        ("m", "(c_int64 * 8)"),
    ),
    "kugel_deconv_opts": (
        ("size", "c_size_t"),
        ("method", "c_int"),
        ("iterations", "c_int64"),
        ("edges", "c_int"),
        ("precision", "c_int"),
        ("background", "c_double"),
        ("offset", "c_double"),
        ("saturation", "c_double"),
        ("lambda", "c_double"),
        ("step", "c_double"),
        ("tolerance", "c_double"),
        ("discrepancy", "c_double"),
        ("centre", "c_void_p"),
        ("back", "POINTER(kugel_array)"),
        ("memory", "c_uint64"),
        ("halo", "c_int64"),
        ("callback", "kugel_deconv_fn"),
        ("user", "c_void_p"),
        ("depths", "c_int64"),
        ("depth", "c_void_p"),
        ("exact", "c_int"),
        ("scratch", "c_char_p"),
        ("comm", "c_void_p"),
        ("engine", "c_int"),
    ),
    "kugel_deconv_cost": (
        ("size", "c_size_t"),
        ("object", "(c_int64 * 3)"),
        ("transform", "(c_int64 * 3)"),
        ("tiles", "c_int64"),
        ("tile", "(c_int64 * 3)"),
        ("bytes", "c_uint64"),
        ("seconds", "c_double"),
        ("device_bytes", "c_uint64"),
        ("kernel_bytes", "c_uint64"),
        ("engine", "c_int"),
        ("scratch_bytes", "c_uint64"),
        ("host", "c_int"),
    ),
    "kugel_deconv_info": (
        ("size", "c_size_t"),
        ("iterations", "c_int64"),
        ("stop", "c_int"),
        ("first", "c_double"),
        ("last", "c_double"),
        ("missing", "c_int64"),
        ("clipped", "c_int64"),
        ("flux_in", "c_double"),
        ("flux_out", "c_double"),
    ),
    "kugel_hdf5_info": (
        ("size", "c_size_t"),
        ("dtype", "kugel_dtype"),
        ("ndim", "c_int32"),
        ("shape", "(c_int64 * 32)"),
    ),
    "kugel_image_open_opts": (
        ("size", "c_size_t"),
        ("level", "c_int32"),
    ),
    "kugel_image_info": (
        ("size", "c_size_t"),
        ("format", "c_int32"),
        ("ndim", "c_int32"),
        ("shape", "(c_int64 * 5)"),
        ("dtype", "kugel_dtype"),
        ("big_endian", "c_int32"),
        ("nlevels", "c_int32"),
        ("reserved", "c_int32"),
        ("voxel", "(c_double * 3)"),
        ("time_step", "c_double"),
        ("chunk", "(c_int64 * 5)"),
        ("file_bytes", "c_int64"),
        ("clipped", "c_int64"),
        ("format_name", "c_char_p"),
        ("compression", "c_char_p"),
        ("unit", "c_char_p"),
        ("channel_names", "c_void_p"),
        ("text", "c_char_p"),
        ("missing", "c_int64"),
        ("thread_bytes", "c_int64"),
    ),
    "kugel_image_opts": (
        ("size", "c_size_t"),
        ("like", "c_void_p"),
        ("shape", "(c_int64 * 5)"),
        ("dtype", "kugel_dtype"),
        ("format", "c_int32"),
        ("compression", "c_int32"),
        ("voxel", "(c_double * 3)"),
        ("time_step", "c_double"),
        ("channel_names", "c_void_p"),
        ("chunk", "(c_int64 * 3)"),
        ("level", "c_int32"),
        ("bigtiff", "c_int32"),
        ("shard", "c_int32"),
        ("overwrite", "c_int32"),
        ("description", "c_char_p"),
        ("comm", "c_void_p"),
    ),
    "kugel_fits_opts": (
        ("size", "c_size_t"),
        ("hdu", "c_int64"),
        ("extname", "c_char_p"),
    ),
    "kugel_fits_info": (
        ("kind", "c_int"),
        ("hdu", "c_int64"),
        ("ncolumns", "c_int64"),
        ("nvalues", "c_int64"),
        ("nside", "c_int64"),
        ("npix", "c_int64"),
        ("order", "c_int"),
        ("partial", "c_int"),
        ("has_bad_data", "c_int"),
        ("bad_data", "c_double"),
        ("lmax", "c_int64"),
        ("mmax", "c_int64"),
        ("ncomponents", "c_int64"),
        ("first_l", "c_int64"),
        ("coordsys", "(c_char * 16)"),
        ("polcconv", "(c_char * 16)"),
        ("extname", "(c_char * 72)"),
        ("creator", "(c_char * 72)"),
        ("ncards", "c_int64"),
        ("cards", "c_void_p"),
    ),
    "kugel_fits_column": (
        ("name", "(c_char * 72)"),
        ("unit", "(c_char * 72)"),
        ("dtype", "kugel_dtype"),
        ("repeat", "c_int64"),
    ),
    "kugel_fits_write_opts": (
        ("size", "c_size_t"),
        ("overwrite", "c_int"),
        ("nowrap", "c_int"),
        ("order", "c_int"),
        ("dtype", "kugel_dtype"),
        ("coordsys", "c_char_p"),
        ("names", "c_void_p"),
        ("units", "c_void_p"),
        ("extname", "c_char_p"),
        ("creator", "c_char_p"),
        ("cards", "c_void_p"),
        ("ncards", "c_int64"),
        ("history", "c_void_p"),
        ("nhistory", "c_int64"),
        ("pixels", "c_void_p"),
        ("npixels", "c_int64"),
        ("nside", "c_int64"),
        ("skip_unseen", "c_int"),
        ("ascii", "c_int"),
        ("dtypes", "POINTER(kugel_dtype)"),
        ("checksum", "c_int"),
        ("comm", "c_void_p"),
    ),
    "kugel_cl_info": (
        ("lmax", "c_int64"),
        ("nspectra", "c_int64"),
        ("text", "c_int"),
        ("has_l", "c_int"),
        ("names", "((c_char * 24) * 16)"),
        ("unit", "(c_char * 72)"),
    ),
    "kugel_npy_info": (
        ("dtype", "kugel_dtype"),
        ("ndim", "c_int32"),
        ("shape", "(c_int64 * 32)"),
        ("count", "c_int64"),
        ("fortran_order", "c_int"),
        ("big_endian", "c_int"),
    ),
    "kugel_nufft_opts": (
        ("size", "c_size_t"),
        ("type", "c_int"),
        ("sign", "c_int"),
        ("precision", "c_int"),
        ("tolerance", "c_double"),
        ("fft_order", "c_int"),
        ("period", "c_void_p"),
        ("upsampling", "c_double"),
        ("density", "c_double"),
        ("gradient", "c_int"),
        ("real", "c_int"),
        ("comm", "c_void_p"),
    ),
    "kugel_nufft_info": (
        ("size", "c_size_t"),
        ("ndim", "c_int"),
        ("type", "c_int"),
        ("sign", "c_int"),
        ("precision", "c_int"),
        ("width", "c_int"),
        ("upsampling", "c_double"),
        ("error", "c_double"),
        ("n", "(c_int64 * 3)"),
        ("fine", "(c_int64 * 3)"),
        ("bytes", "c_uint64"),
        ("modes_first", "c_int64"),
        ("modes_count", "c_int64"),
    ),
    "kugel_plot_opts": (
        ("size", "c_size_t"),
        ("projection", "c_int"),
        ("scale", "c_int"),
        ("colors", "c_char_p"),
        ("width", "c_int32"),
        ("pixel_ratio", "c_double"),
        ("min", "c_double"),
        ("max", "c_double"),
        ("percentile", "c_double"),
        ("symmetric", "c_int"),
        ("linear_width", "c_double"),
        ("lon", "c_double"),
        ("lat", "c_double"),
        ("roll", "c_double"),
        ("coord", "c_char_p"),
        ("geo", "c_int"),
        ("half_sky", "c_int"),
        ("reso", "c_double"),
        ("lon_width", "c_double"),
        ("lat_width", "c_double"),
        ("height", "c_int32"),
        ("graticule", "c_double"),
        ("no_labels", "c_int"),
        ("no_bar", "c_int"),
        ("interpolate", "c_int"),
        ("transparent", "c_int"),
        ("title", "c_char_p"),
        ("unit", "c_char_p"),
        ("bad", "(c_uint8 * 4)"),
        ("color_table", "c_void_p"),
        ("ncolors", "c_int32"),
        ("system", "c_char_p"),
    ),
    "kugel_plot_cl_opts": (
        ("size", "c_size_t"),
        ("width", "c_int32"),
        ("height", "c_int32"),
        ("pixel_ratio", "c_double"),
        ("min", "c_double"),
        ("max", "c_double"),
        ("raw", "c_int"),
        ("linear_l", "c_int"),
        ("linear_y", "c_int"),
        ("transparent", "c_int"),
        ("title", "c_char_p"),
        ("unit", "c_char_p"),
        ("names", "c_void_p"),
        ("bands", "c_int64"),
        ("band_ends", "c_void_p"),
        ("band_values", "c_void_p"),
        ("band_errors", "c_void_p"),
    ),
    "kugel_plot_volume_opts": (
        ("size", "c_size_t"),
        ("width", "c_int32"),
        ("axes", "c_int32"),
        ("voxel", "(c_double * 3)"),
        ("min", "c_double"),
        ("max", "c_double"),
        ("gamma", "c_double"),
        ("colors", "c_char_p"),
        ("title", "c_char_p"),
    ),
    "kugel_sht_points_opts": (
        ("size", "c_size_t"),
        ("lmax", "c_int64"),
        ("mmax", "c_int64"),
        ("mode", "c_int"),
        ("spin", "c_int"),
        ("tolerance", "c_double"),
        ("precision", "c_int"),
    ),
    "kugel_sht_points_info": (
        ("size", "c_size_t"),
        ("lmax", "c_int64"),
        ("mmax", "c_int64"),
        ("nalm", "c_int64"),
        ("n_alm_sets", "c_int"),
        ("n_values", "c_int"),
        ("tolerance", "c_double"),
        ("ntheta", "c_int64"),
        ("width", "c_int"),
        ("upsampling", "c_double"),
        ("bytes", "c_uint64"),
    ),
    "kugel_jwt_opts": (
        ("size", "c_size_t"),
        ("type", "c_int"),
        ("norm", "c_int"),
        ("engine", "c_int"),
        ("precision", "c_int"),
        ("complex_data", "c_int"),
        ("n", "c_int64"),
        ("blocks", "c_int64"),
        ("l", "c_void_p"),
        ("multiplicity", "c_void_p"),
        ("nl", "c_void_p"),
        ("nr", "c_int64"),
        ("radii", "c_void_p"),
        ("max_table", "c_uint64"),
        ("energy", "c_int"),
        ("a", "c_double"),
        ("shift", "c_double"),
    ),
    "kugel_jwt_info": (
        ("size", "c_size_t"),
        ("n", "c_int64"),
        ("nr", "c_int64"),
        ("systems", "c_int64"),
        ("fewest_radii", "c_int64"),
        ("dense_blocks", "c_int64"),
        ("table_bytes", "c_uint64"),
    ),
    "kugel_alt_opts": (
        ("size", "c_size_t"),
        ("precision", "c_int"),
        ("complex_data", "c_int"),
        ("lmax", "c_int64"),
        ("blocks", "c_int64"),
        ("m", "c_void_p"),
        ("multiplicity", "c_void_p"),
        ("n", "c_int64"),
        ("theta", "c_void_p"),
    ),
    "kugel_ultra_opts": (
        ("size", "c_size_t"),
        ("n", "c_int64"),
        ("from", "c_double"),
        ("to", "c_double"),
        ("method", "c_int"),
    ),
    "kugel_psf_opts": (
        ("size", "c_size_t"),
        ("model", "c_int"),
        ("imaging", "c_int"),
        ("na", "c_double"),
        ("wavelength", "c_double"),
        ("excitation", "c_double"),
        ("voxel", "(c_double * 3)"),
        ("index", "c_double"),
        ("pinhole", "c_double"),
        ("sheet", "c_double"),
        ("sigma", "(c_double * 2)"),
        ("polarisation", "c_int"),
        ("sample_index", "c_double"),
        ("depth", "c_double"),
        ("design_index", "c_double"),
        ("working_distance", "c_double"),
        ("glass_index", "c_double"),
        ("glass_design_index", "c_double"),
        ("glass_thickness", "c_double"),
        ("glass_design_thickness", "c_double"),
        ("keep_focus", "c_int"),
        ("shift", "(c_double * 3)"),
        ("samples", "(c_int * 3)"),
        ("norm", "c_int"),
    ),
    "kugel_psf_report": (
        ("size", "c_size_t"),
        ("flags", "c_uint"),
        ("shape", "(c_int64 * 3)"),
        ("not_finite", "c_int64"),
        ("negative", "c_int64"),
        ("sum", "c_double"),
        ("least", "c_double"),
        ("largest", "c_double"),
        ("peak", "(c_int64 * 3)"),
        ("centre", "(c_double * 3)"),
        ("fwhm", "(c_double * 3)"),
        ("background", "c_double"),
        ("edge", "c_double"),
    ),
    "kugel_psf_prepare_opts": (
        ("size", "c_size_t"),
        ("voxel", "(c_double * 3)"),
        ("to_voxel", "(c_double * 3)"),
        ("background", "c_double"),
        ("keep_negative", "c_int"),
        ("keep_centre", "c_int"),
        ("norm", "c_int"),
    ),
    "kugel_psf_beads_opts": (
        ("size", "c_size_t"),
        ("snr", "c_double"),
        ("separation", "(c_double * 3)"),
        ("saturation", "c_double"),
        ("least", "c_int64"),
        ("diameter", "c_double"),
        ("norm", "c_int"),
    ),
    "kugel_psf_beads_info": (
        ("size", "c_size_t"),
        ("found", "c_int64"),
        ("used", "c_int64"),
        ("at_edge", "c_int64"),
        ("crowded", "c_int64"),
        ("saturated", "c_int64"),
        ("unlike", "c_int64"),
        ("background", "c_double"),
        ("noise", "c_double"),
        ("snr", "c_double"),
        ("scatter", "(c_double * 3)"),
        ("fwhm", "(c_double * 3)"),
    ),
    "kugel_radial_opts": (
        ("size", "c_size_t"),
        ("grid", "c_void_p"),
        ("kernel", "c_int"),
        ("width", "c_double"),
        ("function", "CFUNCTYPE(c_double, c_double, c_void_p)"),
        ("user", "c_void_p"),
        ("n", "c_int64"),
        ("angles", "c_void_p"),
        ("values", "c_void_p"),
        ("norm", "c_int"),
        ("radius", "c_double"),
        ("tolerance", "c_double"),
        ("method", "c_int"),
        ("lmax", "c_int64"),
        ("normalise_mask", "c_int"),
        ("spin", "c_int"),
        ("nparts", "c_int64"),
        ("part_weight", "c_void_p"),
        ("part_distance", "c_void_p"),
        ("part_bearing", "c_void_p"),
        ("orientation", "c_void_p"),
        ("kappa", "c_void_p"),
        ("normalise", "c_int"),
        ("comm", "c_void_p"),
    ),
    "kugel_radial_info": (
        ("size", "c_size_t"),
        ("method", "c_int"),
        ("radius", "c_double"),
        ("cut_error", "c_double"),
        ("table_error", "c_double"),
        ("integral", "c_double"),
        ("scale", "c_double"),
        ("pairs", "c_double"),
        ("band", "c_int64"),
        ("constant_least", "c_double"),
        ("constant_most", "c_double"),
        ("blocks", "c_int64"),
        ("products", "c_double"),
    ),
    "kugel_radial_stream_opts": (
        ("size", "c_size_t"),
        ("read", "CFUNCTYPE(c_int, c_void_p, c_int, c_int64, c_int64, c_void_p)"),
        ("write", "CFUNCTYPE(c_int, c_void_p, c_int, c_int64, c_int64, c_void_p)"),
        ("user", "c_void_p"),
        ("dtype", "kugel_dtype"),
        ("memory", "c_uint64"),
        ("first", "c_int64"),
        ("end", "c_int64"),
    ),
    "kugel_regrid_opts": (
        ("size", "c_size_t"),
        ("from", "c_void_p"),
        ("to", "c_void_p"),
        ("lmax", "c_int64"),
        ("spin", "c_int"),
        ("fwhm", "c_double"),
        ("n_window", "c_int64"),
        ("window", "c_void_p"),
        ("weights", "c_int"),
        ("iterations", "c_int"),
        ("bad_pixels", "c_int"),
        ("least_good", "c_double"),
        ("beyond_band_limit", "c_int"),
    ),
    "kugel_regrid_info": (
        ("size", "c_size_t"),
        ("lmax", "c_int64"),
        ("npix_in", "c_int64"),
        ("npix_out", "c_int64"),
    ),
    "kugel_shell_opts": (
        ("size", "c_size_t"),
        ("norm", "c_int"),
        ("precision", "c_int"),
        ("complex_data", "c_int"),
        ("n", "c_int64"),
        ("nr", "c_int64"),
        ("inner", "c_double"),
        ("outer", "c_double"),
    ),
    "kugel_source": (
        ("theta", "c_double"),
        ("phi", "c_double"),
        ("snr", "c_double"),
        ("peak", "c_double"),
        ("fwhm", "c_double"),
        ("flux", "c_double"),
        ("background", "c_double"),
        ("position_error", "c_double"),
        ("peak_error", "c_double"),
        ("fwhm_error", "c_double"),
        ("flux_error", "c_double"),
        ("pixel", "c_int64"),
        ("flags", "c_int64"),
    ),
    "kugel_sources_opts": (
        ("size", "c_size_t"),
        ("nside", "c_int64"),
        ("fwhm", "c_double"),
        ("threshold", "c_double"),
        ("rms", "c_double"),
        ("fixed_fwhm", "c_int"),
        ("kernel_lmax", "c_int64"),
        ("kernel", "c_void_p"),
        ("sidelobes", "c_double"),
    ),
    "kugel_catalogue_opts": (
        ("size", "c_size_t"),
        ("overwrite", "c_int32"),
        ("coordsys", "c_char"),
        ("coords", "c_char_p"),
        ("unit", "c_char_p"),
        ("history", "c_char_p"),
    ),
    "kugel_apodise_opts": (
        ("size", "c_size_t"),
        ("nside", "c_int64"),
        ("kind", "c_int"),
        ("radius", "c_double"),
    ),
    "kugel_masked_opts": (
        ("size", "c_size_t"),
        ("grid", "c_void_p"),
        ("lmax", "c_int64"),
        ("spin", "c_int"),
        ("mask", "c_void_p"),
        ("weights", "c_int"),
        ("iterations", "c_int"),
        ("pure_e", "c_int"),
        ("pure_b", "c_int"),
        ("lmax_mask", "c_int64"),
        ("beyond_mask", "c_int"),
        ("templates", "c_int64"),
        ("template_maps", "c_void_p"),
        ("template_cutoff", "c_double"),
    ),
    "kugel_coupling_opts": (
        ("size", "c_size_t"),
        ("lmax", "c_int64"),
        ("lmax_mask", "c_int64"),
        ("spin1", "c_int"),
        ("spin2", "c_int"),
        ("families", "c_int"),
        ("mask_cl", "c_void_p"),
    ),
    "kugel_spectra_opts": (
        ("size", "c_size_t"),
        ("lmax", "c_int64"),
        ("lmax_mask", "c_int64"),
        ("spin1", "c_int"),
        ("spin2", "c_int"),
        ("mask_cl", "c_void_p"),
        ("beam1", "c_void_p"),
        ("beam2", "c_void_p"),
        ("pure_e1", "c_int"),
        ("pure_b1", "c_int"),
        ("pure_e2", "c_int"),
        ("pure_b2", "c_int"),
        ("bands", "c_int64"),
        ("band", "c_void_p"),
        ("weight", "c_void_p"),
        ("factor", "c_void_p"),
    ),
    "kugel_spectra_info": (
        ("size", "c_size_t"),
        ("spectra", "c_int64"),
        ("bands", "c_int64"),
        ("lmax", "c_int64"),
        ("condition", "c_double"),
        ("mask_tail", "c_double"),
    ),
    "kugel_bandpowers_opts": (
        ("size", "c_size_t"),
        ("overwrite", "c_int32"),
        ("lmax", "c_int64"),
        ("bands", "c_int64"),
        ("band", "c_void_p"),
        ("weight", "c_void_p"),
        ("spectra", "c_int64"),
        ("names", "c_void_p"),
        ("values", "c_void_p"),
        ("errors", "c_void_p"),
    ),
    "kugel_covariance_opts": (
        ("size", "c_size_t"),
        ("lmax_mask", "c_int64"),
        ("mask_ac_bd", "c_void_p"),
        ("mask_ad_bc", "c_void_p"),
        ("cl_ac", "c_void_p"),
        ("cl_ad", "c_void_p"),
        ("cl_bc", "c_void_p"),
        ("cl_bd", "c_void_p"),
    ),
    "kugel_stencil_term": (
        ("field", "c_int"),
        ("out", "c_int"),
        ("derivative", "(c_int * 3)"),
        ("factor", "c_double"),
        ("coefficient", "c_void_p"),
    ),
    "kugel_stencil_opts": (
        ("size", "c_size_t"),
        ("ndim", "c_int"),
        ("n", "c_void_p"),
        ("h", "c_void_p"),
        ("order", "c_int"),
        ("precision", "c_int"),
        ("fields", "c_int"),
        ("outs", "c_int"),
        ("nterms", "c_int"),
        ("terms", "POINTER(kugel_stencil_term)"),
        ("boundary", "((c_int * 2) * 3)"),
        ("mask", "c_void_p"),
        ("compact", "c_int"),
        ("steps_per_pass", "c_int"),
    ),
    "kugel_stencil_info": (
        ("size", "c_size_t"),
        ("ndim", "c_int"),
        ("order", "c_int"),
        ("reach", "c_int"),
        ("fields", "c_int"),
        ("outs", "c_int"),
        ("precision", "c_int"),
        ("bound", "c_double"),
        ("n", "(c_int64 * 3)"),
        ("bytes", "c_uint64"),
        ("compact", "c_int"),
        ("steps_per_pass", "c_int"),
    ),
    "kugel_volume_opts": (
        ("size", "c_size_t"),
        ("extent", "c_int"),
        ("boundary", "c_int"),
        ("correlate", "c_int"),
        ("complex_data", "c_int"),
        ("precision", "c_int"),
        ("centre", "c_void_p"),
        ("kernels", "c_int"),
        ("engine", "c_int"),
        ("parts", "c_int"),
        ("tile", "c_void_p"),
        ("scale", "c_double"),
        ("scratch", "c_char_p"),
        ("memory", "c_uint64"),
        ("depths", "c_int64"),
        ("depth", "c_void_p"),
        ("comm", "c_void_p"),
        ("read_kernel", "CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p)"),
        ("kernel_user", "c_void_p"),
        ("device_memory", "c_uint64"),
        ("image_dtype", "kugel_dtype"),
        ("results_dtype", "kugel_dtype"),
        ("adjoint", "c_int"),
    ),
    "kugel_volume_info": (
        ("size", "c_size_t"),
        ("ndim", "c_int"),
        ("engine", "c_int"),
        ("parts", "c_int"),
        ("tiles", "c_int64"),
        ("tile", "(c_int64 * 3)"),
        ("transform", "(c_int64 * 3)"),
        ("results", "(c_int64 * 3)"),
        ("host_bytes", "c_uint64"),
        ("device_bytes", "c_uint64"),
        ("moved_bytes", "c_uint64"),
        ("seconds", "c_double"),
        ("kernel_bytes", "c_uint64"),
        ("scratch_bytes", "c_uint64"),
        ("image_first", "c_int64"),
        ("image_count", "c_int64"),
        ("results_first", "c_int64"),
        ("results_count", "c_int64"),
    ),
    "kugel_volume_stream_opts": (
        ("size", "c_size_t"),
        ("in", "kugel_dtype"),
        ("out", "kugel_dtype"),
        ("read", "CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p)"),
        ("write", "CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p)"),
        ("done", "CFUNCTYPE(c_int, c_void_p, c_int64, c_int64)"),
        ("user", "c_void_p"),
        ("first", "c_int64"),
        ("clipped", "c_void_p"),
        ("boxes", "c_int64"),
    ),
    "kugel_worland_basis": (
        ("size", "c_size_t"),
        ("type", "c_int"),
        ("norm", "c_int"),
        ("a", "c_double"),
        ("shift", "c_double"),
        ("l", "c_int64"),
        ("n", "c_int64"),
    ),
    "kugel_zernike_opts": (
        ("size", "c_size_t"),
        ("precision", "c_int"),
        ("norm", "c_int"),
        ("order", "c_int"),
        ("nmax", "c_int64"),
        ("nr", "c_int64"),
        ("nphi", "c_int64"),
        ("points", "c_int64"),
        ("r", "c_void_p"),
        ("phi", "c_void_p"),
    ),
}

# name: (result, arguments, first sentence of the manual); STATUS is the kugel_status of functions that may fail.
FUNCTIONS = {
    "kugel_status_text": (  # status
        "c_char_p", ("c_int",),
        'The text of a status, such as "invalid argument".'),
    "kugel_status_name": (  # status
        "c_char_p", ("c_int",),
        'The name of a status, such as "KUGEL_EINVAL".'),
    "kugel_last_error": (  # nothing
        "c_char_p", (),
        "This thread's latest failure as one sentence with the values and the remedy."),
    "kugel_version": (  # nothing
        "c_char_p", (),
        'Version of the library in use, such as "0.1.0"; compare with KUGEL_VERSION of the header compiled against.'),
    "kugel_ctx_create": (  # opts, out
        "STATUS", ("POINTER(kugel_ctx_opts)", "c_void_p",),
        'Makes a context: a device, an allocator and an executor that plans share.'),
    "kugel_ctx_destroy": (  # ctx
        "None", ("c_void_p",),
        "Releases the caller's reference."),
    "kugel_ctx_limit_memory": (  # ctx, bytes
        "STATUS", ("c_void_p", "c_uint64",),
        'Limits the memory of each plan made in a context from now on, including the plans that other calls (smoothing, regridding) make.'),
    "kugel_ctx_trim": (  # ctx
        "None", ("c_void_p",),
        'Frees the scratch memory that the context caches for the next call.'),
    "kugel_ctx_memory": (  # ctx, now, peak
        "None", ("c_void_p", "c_void_p", "c_void_p",),
        "Bytes allocated through the context's allocator, now and at the peak."),
    "kugel_set_num_threads": (  # threads
        "STATUS", ("c_int",),
        'Sets the number of threads for contexts that leave it open (among them the default context).'),
    "kugel_get_num_threads": (  # nothing
        "c_int", (),
        'The number of threads that contexts without a number of their own use now.'),
    "kugel_isa": (  # nothing
        "c_char_p", (),
        'Name of the instruction set in use: "avx512", "avx2" or "generic".'),
    "kugel_set_progress": (  # fn, user
        "None", ("kugel_progress_fn", "c_void_p",),
        "Sets this thread's progress callback for its later calls; fn NULL removes it."),
    "kugel_device_count": (  # nothing
        "c_int", (),
        'How many devices kugel_device_describe knows, available or not.'),
    "kugel_device_describe": (  # index, info
        "STATUS", ("c_int", "POINTER(kugel_device_info)",),
        'Describes device `index`.'),
    "kugel_ctx_describe": (  # ctx, info
        "STATUS", ("c_void_p", "POINTER(kugel_device_info)",),
        'Describes the device of a context.'),
    "kugel_device_memory": (  # ctx, available, total
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        "Memory of the context's device now."),
    "kugel_device_usage": (  # ctx, now, peak
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        'Device memory that this process has allocated through Kugel: plans, buffers, and scratch cached for the next call.'),
    "kugel_kernels_get_info": (  # info
        "STATUS", ("POINTER(kugel_kernels_info)",),
        'Reports the kernels that were compiled and loaded since the process began: why a first call took seconds, and whether the cache on disk works.'),
    "kugel_device_alloc": (  # ctx, bytes, out
        "STATUS", ("c_void_p", "c_size_t", "c_void_p",),
        "Allocates memory of the context's device, aligned to at least 64 bytes, contents unspecified."),
    "kugel_device_free": (  # ctx, ptr
        "None", ("c_void_p", "c_void_p",),
        'Frees memory from kugel_device_alloc, after waiting for the work that uses it.'),
    "kugel_device_alloc_host": (  # ctx, bytes, out
        "STATUS", ("c_void_p", "c_size_t", "c_void_p",),
        'Allocates host memory that the device copies from and to at full speed (page-locked; on the CPU plain memory).'),
    "kugel_device_free_host": (  # ctx, ptr
        "None", ("c_void_p", "c_void_p",),
        'Frees memory from kugel_device_alloc_host.'),
    "kugel_device_upload": (  # ctx, dst, offset, src, bytes, queue
        "STATUS", ("c_void_p", "c_void_p", "c_size_t", "c_void_p", "c_size_t", "c_void_p",),
        'Copies host memory to the device.'),
    "kugel_device_download": (  # ctx, dst, src, offset, bytes, queue
        "STATUS", ("c_void_p", "c_void_p", "c_void_p", "c_size_t", "c_size_t", "c_void_p",),
        'Copies device memory to the host.'),
    "kugel_device_fill": (  # ctx, dst, offset, byte, bytes, queue
        "STATUS", ("c_void_p", "c_void_p", "c_size_t", "c_int", "c_size_t", "c_void_p",),
        'Sets each byte of device memory.'),
    "kugel_queue_create": (  # ctx, out
        "STATUS", ("c_void_p", "c_void_p",),
        "Makes a queue on the context's device."),
    "kugel_queue_wrap": (  # ctx, native, out
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        'Wraps a queue that another library made, such as the stream of PyTorch or CuPy, or a cl_command_queue.'),
    "kugel_queue_wait": (  # queue
        "STATUS", ("c_void_p",),
        'Waits until all work of the queue is done.'),
    "kugel_queue_destroy": (  # queue
        "None", ("c_void_p",),
        "Waits for the queue's work, then frees the queue."),
    "kugel_array_copy": (  # ctx, in, out, opts, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "POINTER(kugel_copy_opts)", "c_void_p",),
        'Copies an array into another of the same shape and converts the elements.'),
    "kugel_fft_create": (  # ctx, ndim, n, opts, out
        "STATUS", ("c_void_p", "c_int", "c_void_p", "POINTER(kugel_fft_opts)", "c_void_p",),
        'Makes a plan for transforms of one shape.'),
    "kugel_fft_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_fft_execute": (  # plan, sign, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Transforms.'),
    "kugel_fft_layout": (  # plan, side, out
        "STATUS", ("c_void_p", "c_int", "c_void_p",),
        "The layout of a plan's arrays over ranks, for kugel_layout_move and its companions."),
    "kugel_fft_grid": (  # ndim, n, kind, ranks, grid
        "STATUS", ("c_int", "c_void_p", "c_int", "c_int", "c_void_p",),
        'The grid of ranks that plans with opts.comm choose: slabs, {ranks, 1}, where each rank gets a plane and a row, and in two dimensions; else the grid whose largest parts of data, spectrum and what lies between are the smallest in sum.'),
    "kugel_fft_gain": (  # plan
        "c_double", ("c_void_p",),
        'The factor by which forward followed by inverse multiplies the data, without the scales of the options.'),
    "kugel_fft_kernel_count": (  # plan
        "c_int", ("c_void_p",),
        'The least number of generated kernels that a transform of this plan launches on its device.'),
    "kugel_fft_kernel_source": (  # plan, sign, index, size, text, length
        "STATUS", ("c_void_p", "c_int", "c_int", "c_size_t", "c_void_p", "c_void_p",),
        'The source of one kernel of a plan, in the dialect of docs/kernels.md that CUDA and OpenCL share.'),
    "kugel_fft_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_fft_info)",),
        'Reports what a plan transforms.'),
    "kugel_fft_save": (  # plan, path
        "STATUS", ("c_void_p", "c_char_p",),
        'Writes a plan of a device to a file, with the machine code of all its kernels, for machines where kernels should not be compiled, such as the nodes of a cluster whose home folder is slow or read-only.'),
    "kugel_fft_load": (  # ctx, path, out
        "STATUS", ("c_void_p", "c_char_p", "c_void_p",),
        'Makes the plan that kugel_fft_save wrote to a file, with all its options.'),
    "kugel_fft_good_size": (  # n
        "c_int64", ("c_int64",),
        'The smallest length at least n with no prime factor above 7, for padding.'),
    "kugel_rings_create": (  # ctx, nrings, nphi, phi0, start, mmax, opts, out
        "STATUS", ("c_void_p", "c_int64", "c_void_p", "c_void_p", "c_void_p", "c_int64", "POINTER(kugel_rings_opts)", "c_void_p",),
        'Makes a plan.'),
    "kugel_rings_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_rings_npix": (  # plan
        "c_int64", ("c_void_p",),
        "Number of pixels of a plan's maps."),
    "kugel_rings_synthesis": (  # plan, coef, map, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Coefficients to pixels.'),
    "kugel_rings_adjoint": (  # plan, map, weights, coef, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "c_void_p", "POINTER(kugel_array)", "c_void_p",),
        'Pixels to coefficients: the adjoint, with weights.'),
    "kugel_healpix_npix": (  # nside
        "c_int64", ("c_int64",),
        'Number of pixels.'),
    "kugel_healpix_nside": (  # npix
        "c_int64", ("c_int64",),
        'nside of a number of pixels.'),
    "kugel_healpix_max_pixel_radius": (  # nside
        "c_double", ("c_int64",),
        "Largest distance of a pixel's corner from its centre, over all pixels."),
    "kugel_healpix_ang2pix": (  # ctx, nside, order, n, theta, phi, pixel
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_void_p", "c_void_p",),
        'Pixels of directions.'),
    "kugel_healpix_pix2ang": (  # ctx, nside, order, n, pixel, theta, phi
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_void_p", "c_void_p",),
        'Centres of pixels.'),
    "kugel_healpix_vec2pix": (  # ctx, nside, order, n, vec, pixel
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_void_p",),
        'Pixels of vectors.'),
    "kugel_healpix_pix2vec": (  # ctx, nside, order, n, pixel, vec
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_void_p",),
        'Centres of pixels as unit vectors.'),
    "kugel_healpix_pix2xyf": (  # ctx, nside, order, n, pixel, x, y, face
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        'Pixels as base face and coordinates in it, x towards the north-east, y towards the north-west.'),
    "kugel_healpix_xyf2pix": (  # ctx, nside, order, n, x, y, face, pixel
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        'The pixel at coordinates of a base face.'),
    "kugel_healpix_convert": (  # ctx, nside, from, to, n, in, out
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int", "c_int64", "c_void_p", "c_void_p",),
        'Pixel numbers from one order to another.'),
    "kugel_healpix_nest2uniq": (  # ctx, nside, n, pixel, uniq
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p", "c_void_p",),
        'NESTED pixels as numbers that carry their nside: uniq = 4 nside^2 + pixel.'),
    "kugel_healpix_uniq2nest": (  # ctx, n, uniq, nside, pixel
        "STATUS", ("c_void_p", "c_int64", "c_void_p", "c_void_p", "c_void_p",),
        'nside and NESTED pixel of numbers from kugel_healpix_nest2uniq.'),
    "kugel_healpix_rings": (  # nside, n, ring, start, count, theta, shifted
        "STATUS", ("c_int64", "c_int64", "c_void_p", "c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        "Rings: first RING pixel, number of pixels, colatitude, and whether the first pixel's centre is half a pixel from phi = 0 (else it is at phi = 0)."),
    "kugel_healpix_pix2ring": (  # ctx, nside, order, n, pixel, ring
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_void_p",),
        'The ring of each pixel.'),
    "kugel_healpix_boundaries": (  # ctx, nside, order, n, pixel, step, vec
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_int64", "c_void_p",),
        'Points on the boundaries of pixels, from the north corner through west, south and east.'),
    "kugel_healpix_neighbours": (  # ctx, nside, order, n, pixel, neighbour
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_void_p",),
        'The eight neighbours of each pixel: SW, W, NW, N, NE, E, SE, S; -1 if there is none.'),
    "kugel_healpix_interpolation": (  # ctx, nside, order, n, theta, phi, pixel, weight
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        'Bilinear interpolation: four pixels about each direction and their weights, which sum to 1.'),
    "kugel_healpix_interpolate": (  # ctx, nside, order, map, n, theta, phi, value
        "STATUS", ("c_void_p", "c_int64", "c_int", "POINTER(kugel_array)", "c_int64", "c_void_p", "c_void_p", "POINTER(kugel_array)",),
        'Values of maps at directions by bilinear interpolation: sums of four pixels times the weights of kugel_healpix_interpolation.'),
    "kugel_healpix_query_disc": (  # ctx, nside, order, vec, radius, inclusive, out
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_void_p", "c_double", "c_int", "c_void_p",),
        'Pixels of a disc: those whose centres lie in it, or with `inclusive` those that overlap it.'),
    "kugel_healpix_list_disc": (  # ctx, nside, order, vec, radius, inclusive, capacity, pixel, count
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_void_p", "c_double", "c_int", "c_int64", "c_void_p", "c_void_p",),
        "Pixels of a disc into the caller's memory, for many small discs: there is no set to allocate and destroy."),
    "kugel_healpix_query_strip": (  # ctx, nside, order, theta1, theta2, inclusive, out
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_double", "c_double", "c_int", "c_void_p",),
        'Pixels between two colatitudes; theta1 > theta2: the pixels of the two polar caps theta < theta2 and theta > theta1.'),
    "kugel_healpix_query_polygon": (  # ctx, nside, order, n, vertices, inclusive, out
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int64", "c_void_p", "c_int", "c_void_p",),
        'Pixels of a convex polygon: those whose centres lie in it.'),
    "kugel_pixset_pixels": (  # set, pixel
        "STATUS", ("POINTER(kugel_pixset)", "c_void_p",),
        'Copies the pixels of a set.'),
    "kugel_pixset_to_uniq": (  # set, nside, n, uniq
        "STATUS", ("POINTER(kugel_pixset)", "c_int64", "c_void_p", "c_void_p",),
        'A NESTED set as the fewest pixels of any nside (a multi-order coverage).'),
    "kugel_pixset_from_uniq": (  # ctx, nside, n, uniq, out
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p", "c_void_p",),
        'The NESTED pixels that are covered by pixels of any nside; a smaller pixel stands for the whole pixel around it.'),
    "kugel_pixset_destroy": (  # set
        "None", ("POINTER(kugel_pixset)",),
        'Frees a set.'),
    "kugel_healpix_reorder": (  # ctx, nside, from, to, in, out, queue
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Reorders whole maps.'),
    "kugel_healpix_ud_grade": (  # ctx, nside_in, order_in, in, nside_out, order_out, out, opts
        "STATUS", ("c_void_p", "c_int64", "c_int", "POINTER(kugel_array)", "c_int64", "c_int", "POINTER(kugel_array)", "POINTER(kugel_ud_grade_opts)",),
        'Changes nside by powers of two: coarser pixels are means of their good children (not NaN, infinite or UNSEEN), finer pixels copies of their parent.'),
    "kugel_grid_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_grid_opts)", "c_void_p",),
        'Makes a grid.'),
    "kugel_grid_destroy": (  # grid
        "None", ("c_void_p",),
        "Releases the caller's reference; plans keep the grid alive."),
    "kugel_grid_nrings": (  # grid
        "c_int64", ("c_void_p",),
        'Number of rings.'),
    "kugel_grid_npix": (  # grid
        "c_int64", ("c_void_p",),
        'Length of a map on the grid: one more than the highest pixel index.'),
    "kugel_grid_lmax": (  # grid
        "c_int64", ("c_void_p",),
        'The highest degree that a grid is made for: analysis is exact to this degree and the rings resolve it.'),
    "kugel_grid_rings": (  # grid, theta, nphi, phi0, first, weight
        "STATUS", ("c_void_p", "c_void_p", "c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        'Copies the table of rings, in the order in which the grid defines them (north first for all but custom grids).'),
    "kugel_sht_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_sht_opts)", "c_void_p",),
        'Plans transforms between alm and maps of a grid.'),
    "kugel_sht_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_sht_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_sht_info)",),
        "Reports the shapes of a plan's arrays, and the device memory that the plan uses."),
    "kugel_sht_synthesis": (  # plan, alm, map, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Synthesis: map(p) = sum_lm a_lm Y_lm(theta_p, phi_p), for each set of the batch.'),
    "kugel_sht_synthesis_adjoint": (  # plan, map, alm, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Adjoint of synthesis: a_lm = sum_p map(p) conj(Y_lm(theta_p, phi_p)).'),
    "kugel_sht_analysis": (  # plan, map, alm, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Analysis: a_lm = sum_p w_p map(p) conj(Y_lm), then opts.iterations Jacobi refinements with the residual map.'),
    "kugel_sht_analysis_adjoint": (  # plan, alm, map, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Adjoint of analysis, iterations included.'),
    "kugel_sht_solve": (  # plan, map, alm, opts, stats, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "POINTER(kugel_solve_opts)", "POINTER(kugel_solve_stats)", "c_void_p",),
        'Least-squares analysis: the alm that minimise ||map - S alm||, by conjugate gradients (CGLS).'),
    "kugel_sht_layout": (  # plan, side, out
        "STATUS", ("c_void_p", "c_int", "c_void_p",),
        "The layout of a plan's arrays over ranks, for kugel_layout_move and its companions."),
    "kugel_sht_orders": (  # plan, most, m, count
        "STATUS", ("c_void_p", "c_int64", "c_void_p", "c_void_p",),
        "The orders m of this rank's coefficients, ascending; without opts.comm all of them."),
    "kugel_smooth": (  # ctx, opts, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_smooth_opts)", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Smooths maps by a Gaussian beam or a window: analysis, multiplication, synthesis.'),
    "kugel_alm_count": (  # lmax, mmax
        "c_int64", ("c_int64", "c_int64",),
        'Number of coefficients, (mmax + 1)(lmax + 1) - mmax (mmax + 1) / 2.'),
    "kugel_alm_index": (  # lmax, l, m
        "c_int64", ("c_int64", "c_int64", "c_int64",),
        'Position of a_lm in its set: m (2 lmax + 1 - m) / 2 + l.'),
    "kugel_alm_lm": (  # lmax, index, l, m
        "STATUS", ("c_int64", "c_int64", "c_void_p", "c_void_p",),
        'Degree and order of the coefficient at `index`: the inverse of kugel_alm_index.'),
    "kugel_alm_lmax": (  # count, mmax
        "c_int64", ("c_int64", "c_int64",),
        'The lmax of a set of `count` coefficients.'),
    "kugel_alm_resize": (  # lmax, mmax, alm, lmax_out, mmax_out, out
        "STATUS", ("c_int64", "c_int64", "c_void_p", "c_int64", "c_int64", "c_void_p",),
        'Copies coefficients to another lmax and mmax: drops those beyond the new limits, sets missing ones to zero.'),
    "kugel_alm_multiply": (  # ctx, lmax, mmax, alm, nfl, fl, out
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p", "c_int64", "c_void_p", "c_void_p",),
        "Multiplies by a window: out_lm = f_l a_lm (healpy's almxfl)."),
    "kugel_alm_cl": (  # ctx, lmax, mmax, alm1, alm2, lmax_out, cl
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p", "c_void_p", "c_int64", "c_void_p",),
        'Power spectrum of one set, or cross spectrum of two: C_l = 1/(2l+1) sum_m Re(a_lm conj(b_lm)), m = -l ... l.'),
    "kugel_alm_cl_all": (  # ctx, n, lmax, mmax, alm, lmax_out, cl
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_int64", "c_void_p", "c_int64", "c_void_p",),
        'All auto and cross spectra of n sets, diagonals first as in healpy: for T, E, B: TT, EE, BB, TE, EB, TB.'),
    "kugel_beam_gauss": (  # fwhm, lmax, n, bl
        "STATUS", ("c_double", "c_int64", "c_int", "c_void_p",),
        "Window of a Gaussian beam: T exp(-l(l+1) s^2/2), E and B the same times exp(2 s^2), TE times exp(s^2), with s = fwhm / sqrt(8 ln 2) (healpy's gauss_beam and its polarised columns)."),
    "kugel_beam_to_window": (  # n, theta, beam, lmax, bl
        "STATUS", ("c_int64", "c_void_p", "c_void_p", "c_int64", "c_void_p",),
        "Window of a beam profile: b_l = 2 pi int b(theta) P_l(cos theta) sin(theta) dtheta by the trapezium rule on the given angles (healpy's beam2bl)."),
    "kugel_beam_from_window": (  # lmax, bl, n, theta, beam
        "STATUS", ("c_int64", "c_void_p", "c_int64", "c_void_p", "c_void_p",),
        "Profile of a window: b(theta) = sum_l (2l+1)/(4 pi) b_l P_l(cos theta) (healpy's bl2beam)."),
    "kugel_pixel_window": (  # ctx, nside, lmax, wl, wl_pol
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p", "c_void_p",),
        "HEALPix pixel window: w_l^2 is the average over all pixels of 4 pi/(2l+1) sum_m |w_lm|^2, where w_lm is the mean of Y_lm over the pixel; for polarisation the same with spin-2 harmonics whose frames are parallel transported to the pixel's centre."),
    "kugel_alm_random": (  # ctx, opts, alm, first_bad
        "STATUS", ("c_void_p", "POINTER(kugel_alm_random_opts)", "c_void_p", "c_void_p",),
        "Gaussian random alm with given spectra (healpy's synalm). a_l0 is real; for m > 0 Re and Im have half the variance each."),
    "kugel_rotation_from_euler": (  # psi, theta, phi, matrix
        "STATUS", ("c_double", "c_double", "c_double", "c_void_p",),
        "Matrix of Euler angles: psi about z, then theta about the fixed y axis, then phi about the fixed z axis (active); the angles of kugel_alm_rotate and of healpy's rotate_alm."),
    "kugel_rotation_to_euler": (  # matrix, psi, theta, phi
        "STATUS", ("c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        'Euler angles of a matrix, the inverse of kugel_rotation_from_euler.'),
    "kugel_rotation_from_lonlat": (  # lon, lat, psi, matrix
        "STATUS", ("c_double", "c_double", "c_double", "c_void_p",),
        "Matrix that moves the direction (lon, lat) to the x axis and then turns by psi about it: healpy's rot=(lon, lat, psi)."),
    "kugel_rotation_from_coord": (  # from, to, matrix
        "STATUS", ("c_char", "c_char", "c_void_p",),
        "Matrix from one celestial coordinate system to another: Galactic 'G', ecliptic J2000 'E', equatorial (ICRS/J2000) 'C', with the constants of HEALPix."),
    "kugel_rotation_multiply": (  # a, b, c
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        'Product c = a b: first b, then a.'),
    "kugel_rotation_invert": (  # matrix, inverse
        "STATUS", ("c_void_p", "c_void_p",),
        'Inverse of a rotation, its transpose.'),
    "kugel_rotation_vectors": (  # ctx, matrix, n, in, out
        "STATUS", ("c_void_p", "c_void_p", "c_int64", "c_void_p", "c_void_p",),
        'Rotates vectors.'),
    "kugel_rotation_angles": (  # ctx, matrix, n, theta, phi, theta_out, phi_out, psi_out
        "STATUS", ("c_void_p", "c_void_p", "c_int64", "c_void_p", "c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        'Rotates directions.'),
    "kugel_alm_rotate": (  # ctx, n, lmax, alm, psi, theta, phi
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p", "c_double", "c_double", "c_double",),
        "Rotates the field whose coefficients are alm (healpy's rotate_alm): new field at R x = old field at x."),
    "kugel_healpix_fit_dipole": (  # ctx, nside, map, opts, monopole, dipole
        "STATUS", ("c_void_p", "c_int64", "c_void_p", "POINTER(kugel_dipole_opts)", "c_void_p", "c_void_p",),
        'Least-squares fit of a constant and a dipole to a map; the fit leaves out UNSEEN, NaN and infinite pixels.'),
    "kugel_healpix_remove_dipole": (  # ctx, nside, map, opts, monopole, dipole
        "STATUS", ("c_void_p", "c_int64", "c_void_p", "POINTER(kugel_dipole_opts)", "c_void_p", "c_void_p",),
        'Fits as kugel_healpix_fit_dipole and subtracts the result from all good pixels, those inside the cut too.'),
    "kugel_healpix_ring_weights": (  # ctx, nside, weight
        "STATUS", ("c_void_p", "c_int64", "c_void_p",),
        'Ring weights: factors near 1 of the pixel area with which the mean of each Legendre polynomial of degree 1 to L over the pixels is 0; of all such factors those with the least sum of (nphi w)^2.'),
    "kugel_healpix_pixel_weights": (  # ctx, nside, weight
        "STATUS", ("c_void_p", "c_int64", "c_void_p",),
        'Pixel weights: factors near 1 of the pixel area with which the mean of each Y_lm of degree 1 to 3 nside (4 at nside 2) over the pixels is 0, so that analysis is exact for lmax up to 1.5 nside.'),
    "kugel_ball_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_ball_opts)", "c_void_p",),
        'Plans transforms.'),
    "kugel_ball_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_ball_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_ball_info)",),
        "Reports the shapes of a plan's arrays and its memory."),
    "kugel_ball_grid": (  # plan, r, theta, phi, weight_r, weight_s
        "STATUS", ("c_void_p", "c_void_p", "c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        "The points of a plan's grid, and the weights with which sums over the grid are integrals over the ball."),
    "kugel_ball_truncated": (  # plan, nl
        "STATUS", ("c_void_p", "c_void_p",),
        'The numbers N(l) of coefficients.'),
    "kugel_ball_rows": (  # plan, l, m
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        'The degrees and orders of the rows of coefficients that are here.'),
    "kugel_ball_layout": (  # plan, side, out
        "STATUS", ("c_void_p", "c_int", "c_void_p",),
        'The layout of one side of a plan with opts.comm over ranks, for kugel_layout_move and its companions.'),
    "kugel_ball_synthesis": (  # plan, kind, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Synthesis: values of series on the grid.'),
    "kugel_ball_analysis": (  # plan, kind, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Analysis: the series of values; the inverse of synthesis.'),
    "kugel_ball_synthesis_adjoint": (  # plan, kind, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of synthesis, for gradients: <S c, f> = <c, S* f>, with the sum over the grid on the left and, on the right, <a, b> = sum of a b over m = 0 plus 2 Re a conj(b) over m > 0.'),
    "kugel_ball_analysis_adjoint": (  # plan, kind, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of analysis.'),
    "kugel_ball_profiles": (  # plan, kind, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        "Profiles of a series: the functions of radius before each harmonic, on the plan's radii (with opts.radii, any)."),
    "kugel_ball_from_profiles": (  # plan, kind, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The series of profiles: the inverse of kugel_ball_profiles.'),
    "kugel_ball_profiles_adjoint": (  # plan, kind, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of kugel_ball_profiles; in products of profiles, too, orders m > 0 count twice.'),
    "kugel_ball_from_profiles_adjoint": (  # plan, kind, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of kugel_ball_from_profiles.'),
    "kugel_ball_apply": (  # plan, op, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Applies an operator to coefficients.'),
    "kugel_ball_apply_adjoint": (  # plan, op, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The transposed operator.'),
    "kugel_ball_spectrum": (  # plan, kind, axis, coeffs, energy, queue
        "STATUS", ("c_void_p", "c_int", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Energy spectra: parts of the integral of |f|^2 over the ball.'),
    "kugel_banded_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_banded_opts)", "c_void_p",),
        'Plans products and solves with one matrix, or with one for each system; factorises in double-double.'),
    "kugel_banded_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_banded_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_banded_info)",),
        'Reports what a plan found and does.'),
    "kugel_banded_solve": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Solves A x = b for each system.'),
    "kugel_banded_product": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Computes A x for each system.'),
    "kugel_comm_open": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_comm_opts)", "c_void_p",),
        'Opens the communicator of the processes that a launcher started.'),
    "kugel_comm_adopt": (  # ctx, mpi_comm, bytes, out
        "STATUS", ("c_void_p", "c_void_p", "c_size_t", "c_void_p",),
        'Makes a communicator of an MPI communicator that the program has, on a duplicate with tags of its own.'),
    "kugel_comm_threads": (  # ctx, n, out
        "STATUS", ("c_void_p", "c_int", "c_void_p",),
        'Makes n ranks of one process, each for a thread of its own: for tests, and where no MPI is installed.'),
    "kugel_comm_custom": (  # ctx, ops, user, rank, size, out
        "STATUS", ("c_void_p", "POINTER(kugel_comm_ops)", "c_void_p", "c_int", "c_int", "c_void_p",),
        'Makes a communicator of functions of the caller.'),
    "kugel_comm_split": (  # comm, color, key, out
        "STATUS", ("c_void_p", "c_int", "c_int", "c_void_p",),
        'Ranks of one color make a communicator of their own.'),
    "kugel_comm_node": (  # comm, out
        "STATUS", ("c_void_p", "c_void_p",),
        "The ranks of this rank's host."),
    "kugel_comm_destroy": (  # comm
        "None", ("c_void_p",),
        'Frees a communicator.'),
    "kugel_comm_get_info": (  # comm, info
        "STATUS", ("c_void_p", "POINTER(kugel_comm_info)",),
        'Reports the numbers of a communicator.'),
    "kugel_comm_describe": (  # comm, text, n
        "STATUS", ("c_void_p", "c_void_p", "c_size_t",),
        'One line on a communicator, such as "4 ranks on 2 hosts; Open MPI v4.1.4 (Open MPI\'s ABI)".'),
    "kugel_comm_launched": (  # rank
        "c_int", ("c_void_p",),
        'How many processes a launcher says that it started with this one, from the environment (Open MPI, MPICH and kin, PMIx, Slurm); MPI is not touched.'),
    "kugel_comm_agree": (  # comm, status
        "STATUS", ("c_void_p", "c_int",),
        "Agrees on failure: if any rank passes a failure, every rank returns that of the lowest such rank, and kugel_last_error() is that rank's sentence everywhere."),
    "kugel_comm_bcast": (  # comm, data, bytes, root
        "STATUS", ("c_void_p", "c_void_p", "c_size_t", "c_int",),
        'Copies bytes of one rank to all.'),
    "kugel_comm_reduce": (  # comm, values, n, op
        "STATUS", ("c_void_p", "c_void_p", "c_int", "c_int",),
        'Combines integers of all ranks, element by element, in place, on all ranks.'),
    "kugel_comm_barrier": (  # comm
        "STATUS", ("c_void_p",),
        'Returns when every rank has called it.'),
    "kugel_comm_measure": (  # comm, bytes, repeats, seconds
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_void_p",),
        'Measures the exchange: every rank sends as many bytes to each other rank, several times, and what arrives is checked.'),
    "kugel_comm_measure_devices": (  # comm, ctx, bytes, repeats, way, n, seconds
        "STATUS", ("c_void_p", "c_void_p", "c_int64", "c_int", "c_void_p", "c_size_t", "c_void_p",),
        "kugel_comm_measure between the ranks' devices, as plans over ranks with a device each exchange: by NCCL, or by way of host memory; straight or in two steps."),
    "kugel_layout_whole": (  # comm, count, root, out
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_void_p",),
        'The layout of an array that one rank, or every rank, has whole.'),
    "kugel_layout_create": (  # comm, count, runs, first, length, out
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p", "c_void_p", "c_void_p",),
        'Makes a layout of runs that each rank names for itself.'),
    "kugel_layout_destroy": (  # layout
        "None", ("c_void_p",),
        'Frees a layout.'),
    "kugel_layout_count": (  # layout, rank
        "c_int64", ("c_void_p", "c_int",),
        "Elements of a rank's part."),
    "kugel_layout_runs": (  # layout, rank, most, first, length, runs
        "STATUS", ("c_void_p", "c_int", "c_int64", "c_void_p", "c_void_p", "c_void_p",),
        "Runs of a rank's part."),
    "kugel_layout_move": (  # from, x, to, y
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "c_void_p", "POINTER(kugel_array)",),
        'Moves an array from one layout to another: gathers, scatters, spreads anew.'),
    "kugel_lead": (  # ctx, comm
        "STATUS", ("c_void_p", "c_void_p",),
        'Makes rank 0 the leader of a communicator: from now on, the plans that it makes in a context without opts.comm spread their work over all ranks, which are in kugel_serve meanwhile: spherical-harmonic transforms, radial convolutions by sums over pixels, convolutions and deconvolutions of volumes, transforms in the ball.'),
    "kugel_serve": (  # ctx, comm, code
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        'Works for rank 0 until it calls kugel_dismiss.'),
    "kugel_lead_measure": (  # comm, bytes, repeats, seconds
        "STATUS", ("c_void_p", "c_int64", "c_int", "c_void_p",),
        'kugel_comm_measure of rank 0 while the others are in kugel_serve.'),
    "kugel_dismiss": (  # comm, code
        "STATUS", ("c_void_p", "c_int",),
        'Ends kugel_serve on the other ranks.'),
    "kugel_conv_create": (  # ctx, ndim, n, k, kernels, opts, out
        "STATUS", ("c_void_p", "c_int", "c_void_p", "c_void_p", "POINTER(kugel_array)", "POINTER(kugel_conv_opts)", "c_void_p",),
        "Makes a plan, which holds the kernels' spectra."),
    "kugel_conv_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_conv_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_conv_info)",),
        'Reports what a plan does, the lengths of its results first of all.'),
    "kugel_conv_execute": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Convolves.'),
    "kugel_deconv_create": (  # ctx, ndim, n, k, psf, opts, out
        "STATUS", ("c_void_p", "c_int", "c_void_p", "c_void_p", "POINTER(kugel_array)", "POINTER(kugel_deconv_opts)", "c_void_p",),
        'Makes a plan, which holds the spectrum of the PSF; any number of images of the same lengths may follow.'),
    "kugel_deconv_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_deconv_layout": (  # plan, out
        "STATUS", ("c_void_p", "c_void_p",),
        'Which voxels of images, masks, starts and results each rank has, of a plan with opts.comm: runs of whole planes.'),
    "kugel_deconv_estimate": (  # ctx, ndim, n, k, opts, cost
        "STATUS", ("c_void_p", "c_int", "c_void_p", "c_void_p", "POINTER(kugel_deconv_opts)", "POINTER(kugel_deconv_cost)",),
        'What a plan would need, without making it and without a PSF.'),
    "kugel_deconv_execute": (  # plan, image, mask, start, out, info
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "POINTER(kugel_array)", "POINTER(kugel_array)", "POINTER(kugel_deconv_info)",),
        'Deconvolves one image.'),
    "kugel_hdf5_open": (  # ctx, path, out
        "STATUS", ("c_void_p", "c_char_p", "c_void_p",),
        'Opens a file for reading.'),
    "kugel_hdf5_create": (  # ctx, path, overwrite, out
        "STATUS", ("c_void_p", "c_char_p", "c_int", "c_void_p",),
        'Begins a file.'),
    "kugel_hdf5_put_array": (  # file, name, array
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_array)",),
        'Writes an array as a dataset.'),
    "kugel_hdf5_put_text": (  # file, object, attribute, text
        "STATUS", ("c_void_p", "c_char_p", "c_char_p", "c_char_p",),
        'Writes a text as an attribute.'),
    "kugel_hdf5_put_int": (  # file, object, attribute, value
        "STATUS", ("c_void_p", "c_char_p", "c_char_p", "c_int64",),
        'Writes an integer as an attribute, int64.'),
    "kugel_hdf5_commit": (  # file
        "STATUS", ("c_void_p",),
        "Ends a file that was begun: what was written is on the disk under the file's name."),
    "kugel_hdf5_close": (  # file
        "None", ("c_void_p",),
        'Closes a file.'),
    "kugel_hdf5_has": (  # file, name, out
        "STATUS", ("c_void_p", "c_char_p", "c_void_p",),
        'Whether a dataset or group is in a file.'),
    "kugel_hdf5_get_info": (  # file, name, info
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_hdf5_info)",),
        'Type and shape of a dataset.'),
    "kugel_hdf5_get_array": (  # file, name, array
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_array)",),
        'Reads a dataset, whatever its layout, compression and byte order.'),
    "kugel_hdf5_get_text": (  # file, object, attribute, text, bytes
        "STATUS", ("c_void_p", "c_char_p", "c_char_p", "c_void_p", "c_size_t",),
        'Reads an attribute that is a text.'),
    "kugel_hdf5_get_int": (  # file, object, attribute, preset, value
        "STATUS", ("c_void_p", "c_char_p", "c_char_p", "c_int64", "c_void_p",),
        'Reads an attribute that is a number.'),
    "kugel_image_open": (  # ctx, path, opts, out
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_image_open_opts)", "c_void_p",),
        'Opens a stack.'),
    "kugel_image_get_info": (  # image, out
        "STATUS", ("c_void_p", "POINTER(kugel_image_info)",),
        'Describes an open stack, or one that is being written.'),
    "kugel_image_read": (  # image, time, channel, lo, n, values
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p", "c_void_p", "POINTER(kugel_array)",),
        'Reads a box of one channel at one time point.'),
    "kugel_image_create": (  # ctx, path, opts, out
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_image_opts)", "c_void_p",),
        'Creates a stack, which kugel_image_close names.'),
    "kugel_image_estimate": (  # ctx, path, opts, out
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_image_opts)", "POINTER(kugel_image_info)",),
        'Describes the stack that kugel_image_create would make, of which nothing is made: its pieces, and what threads take.'),
    "kugel_image_write": (  # image, time, channel, lo, n, values
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p", "c_void_p", "POINTER(kugel_array)",),
        'Writes a box of one channel at one time point, in any order; each voxel once.'),
    "kugel_image_close": (  # image, keep
        "STATUS", ("c_void_p", "c_int",),
        'Closes a stack.'),
    "kugel_files_begin": (  # nothing
        "STATUS", (),
        'Begins a batch: the files that this thread writes until kugel_files_end appear together.'),
    "kugel_files_end": (  # keep
        "STATUS", ("c_int",),
        'Ends the batch.'),
    "kugel_fits_open": (  # ctx, path, opts, out
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_fits_opts)", "c_void_p",),
        "Opens a FITS file (also gzip-compressed) and reads one HDU's header."),
    "kugel_fits_close": (  # file
        "None", ("c_void_p",),
        'Closes the file and frees its info.'),
    "kugel_fits_get_info": (  # file
        "POINTER(kugel_fits_info)", ("c_void_p",),
        "Describes the file's contents."),
    "kugel_fits_get_column": (  # file, column, out
        "STATUS", ("c_void_p", "c_int64", "POINTER(kugel_fits_column)",),
        'Describes a data column.'),
    "kugel_fits_find_column": (  # file, name, column
        "STATUS", ("c_void_p", "c_char_p", "c_void_p",),
        'Finds a column by its name (case does not matter) or its number from 0 in decimal digits.'),
    "kugel_fits_get_keyword": (  # file, keyword, text, size
        "STATUS", ("c_void_p", "c_char_p", "c_void_p", "c_size_t",),
        'The value of a header keyword as text, without quotes.'),
    "kugel_fits_read_maps": (  # file, ncolumns, columns, order, maps
        "STATUS", ("c_void_p", "c_int64", "c_void_p", "c_int", "POINTER(kugel_array)",),
        'Reads whole-sky maps, one per column.'),
    "kugel_fits_read_values": (  # file, column, first, values
        "STATUS", ("c_void_p", "c_int64", "c_int64", "POINTER(kugel_array)",),
        'Reads values of one column in the order of the file; bad values of maps become KUGEL_UNSEEN as in kugel_fits_read_maps.'),
    "kugel_fits_read_pixels": (  # file, first, count, pixels
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_void_p",),
        "Pixel numbers of a partial map, in the file's ordering, to go with kugel_fits_read_values."),
    "kugel_fits_read_alm": (  # file, component, lmax, mmax, alm
        "STATUS", ("c_void_p", "c_int64", "c_int64", "c_int64", "POINTER(kugel_array)",),
        'Reads a_lm.'),
    "kugel_fits_write_maps": (  # ctx, path, opts, maps
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_fits_write_opts)", "POINTER(kugel_array)",),
        'Writes HEALPix maps as one binary table that every HEALPix library reads.'),
    "kugel_lead_write_maps": (  # ctx, comm, path, opts, maps
        "STATUS", ("c_void_p", "c_void_p", "c_char_p", "POINTER(kugel_fits_write_opts)", "POINTER(kugel_array)",),
        'kugel_fits_write_maps of rank 0 while the others are in kugel_serve (comm.h): each rank writes runs of rows at their place in the file, with the bytes of kugel_fits_write_maps.'),
    "kugel_fits_writer_create": (  # ctx, path, opts, nside, ncolumns, out
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_fits_write_opts)", "c_int64", "c_int64", "c_void_p",),
        'Begins a file like that of kugel_fits_write_maps, whose pixels are written later, in any order.'),
    "kugel_fits_writer_put": (  # writer, column, first, values
        "STATUS", ("c_void_p", "c_int64", "c_int64", "POINTER(kugel_array)",),
        'Writes pixels [first, first + n) of a map.'),
    "kugel_fits_writer_close": (  # writer, keep
        "STATUS", ("c_void_p", "c_int",),
        'Closes the writer and renames the file to its name.'),
    "kugel_fits_write_alm": (  # ctx, path, opts, lmax, mmax, alm
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_fits_write_opts)", "c_int64", "c_int64", "POINTER(kugel_array)",),
        'Writes a_lm: one HDU per component with columns INDEX = l^2+l+m+1, REAL, IMAG, as healpy and HEALPix do.'),
    "kugel_fits_write_table": (  # ctx, path, opts, from, columns
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_fits_write_opts)", "c_void_p", "POINTER(kugel_array)",),
        'Writes a binary table of reals, or a copy of an open table with further columns: its own columns keep their bytes, scales and units, its keywords are preserved unless opts has cards of its own.'),
    "kugel_cl_inspect": (  # ctx, path, out
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_cl_info)",),
        'Describes a file with power spectra: a FITS table or image (one row per multipole), or text (numbers in columns, the first being l if it increases by one per row; # starts a comment; CAMB writes such files).'),
    "kugel_cl_read": (  # ctx, path, is_dl, nspectra, lmax, cl
        "STATUS", ("c_void_p", "c_char_p", "c_int", "c_int64", "c_int64", "c_void_p",),
        'Reads power spectra.'),
    "kugel_cl_write": (  # ctx, path, opts, nspectra, lmax, cl
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_fits_write_opts)", "c_int64", "c_int64", "c_void_p",),
        'Writes power spectra: text (l, then one column each, 17 digits) if the name ends in ".txt", ".dat" or ".csv", else a FITS table.'),
    "kugel_npy_inspect": (  # ctx, path, out
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_npy_info)",),
        'Reads the header of an NPY file, versions 1 to 3.'),
    "kugel_npy_read": (  # ctx, path, array
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_array)",),
        'Reads an NPY file into C order.'),
    "kugel_npy_write": (  # ctx, path, overwrite, array
        "STATUS", ("c_void_p", "c_char_p", "c_int", "POINTER(kugel_array)",),
        'Writes an NPY file (version 1, little-endian, C order).'),
    "kugel_nufft_create": (  # ctx, ndim, n, opts, out
        "STATUS", ("c_void_p", "c_int", "c_void_p", "POINTER(kugel_nufft_opts)", "c_void_p",),
        'Makes a plan for one grid of modes.'),
    "kugel_nufft_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_nufft_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_nufft_info)",),
        'Reports what a plan does.'),
    "kugel_nufft_layout": (  # plan, out
        "STATUS", ("c_void_p", "c_void_p",),
        'The layout of the modes of a plan with opts.comm over ranks, for kugel_layout_move and its companions: each rank has rows along axis 1, [n[0], modes_count, n[2]] (real plans: of the halved last axis), shared out evenly; with more ranks than rows some have none, and pass arrays of extent 0.'),
    "kugel_nufft_points_create": (  # plan, points, out
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "c_void_p",),
        'Sorts points for a plan.'),
    "kugel_nufft_frequencies_create": (  # plan, points, frequencies, out
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Makes the points and frequencies of a plan of type 3.'),
    "kugel_nufft_points_destroy": (  # points
        "None", ("c_void_p",),
        'Frees a set of points.'),
    "kugel_nufft_execute": (  # points, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Transforms.'),
    "kugel_nufft_adjoint": (  # points, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Applies the adjoint (conjugate transpose) of kugel_nufft_execute: a transform of the other type with the other sign.'),
    "kugel_nufft_spread": (  # points, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Spreads strengths on the fine grid alone: the first step of type 1, without FFT and division.'),
    "kugel_nufft_interpolate": (  # points, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Interpolates the fine grid at the points alone: the last step of type 2, and the transpose of kugel_nufft_spread.'),
    "kugel_nufft_normal_create": (  # plan, points, weights, out
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Makes the normal operator A^H W A of modes, where A takes modes to points (execute of type 2, adjoint of type 1), as a convolution of modes: its cost does not depend on the points.'),
    "kugel_nufft_density": (  # points, iterations, weights
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)",),
        "Density weights of points: w <- w / |S' S w| from w = 1, with spreading S and interpolation S'."),
    "kugel_plot_healpix": (  # ctx, opts, order, map, out
        "STATUS", ("c_void_p", "POINTER(kugel_plot_opts)", "c_int", "POINTER(kugel_array)", "c_void_p",),
        'Draws a HEALPix map.'),
    "kugel_plot_latlon": (  # ctx, opts, theta, phi0, map, out
        "STATUS", ("c_void_p", "POINTER(kugel_plot_opts)", "c_void_p", "c_double", "POINTER(kugel_array)", "c_void_p",),
        'Draws an array of latitude rows (row 0 northernmost, equal longitude steps).'),
    "kugel_plot_function": (  # ctx, opts, fn, user, out
        "STATUS", ("c_void_p", "POINTER(kugel_plot_opts)", "kugel_plot_fn", "c_void_p", "c_void_p",),
        'Draws a function of direction.'),
    "kugel_plot_cl": (  # ctx, opts, nspectra, lmax, cl, out
        "STATUS", ("c_void_p", "POINTER(kugel_plot_cl_opts)", "c_int64", "c_int64", "c_void_p", "c_void_p",),
        'Draws power spectra against the multipole: a faint dot for each l from 2 on, and a line through averages over narrow ranges of l (3 per cent; on a linear axis of l, 1/250 of it).'),
    "kugel_plot_volume": (  # ctx, opts, n, xy, xz, yz, out
        "STATUS", ("c_void_p", "POINTER(kugel_plot_volume_opts)", "c_void_p", "c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        'Draws three views of a volume, such as its maximum projections: xy, xz below it and yz on its right, with a scale bar.'),
    "kugel_plot_destroy": (  # picture
        "None", ("c_void_p",),
        'Frees a picture.'),
    "kugel_plot_pixels": (  # picture, width, height
        "c_void_p", ("c_void_p", "c_void_p", "c_void_p",),
        "The picture's pixels: RGBA, 8 bits each, rows from the top, not premultiplied."),
    "kugel_plot_map_box": (  # picture, box
        "STATUS", ("c_void_p", "c_void_p",),
        'Where the map itself lies in the picture.'),
    "kugel_plot_range": (  # picture, ends
        "STATUS", ("c_void_p", "c_void_p",),
        'The values at the ends of the colour bar.'),
    "kugel_plot_circles": (  # picture, n, theta, phi, radius
        "STATUS", ("c_void_p", "c_int64", "c_void_p", "c_void_p", "c_double",),
        'Draws circles about directions, such as sources, on a picture of a map; circles outside the view are not drawn.'),
    "kugel_plot_encode": (  # picture, bytes, size
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        'Encodes the picture as PNG in memory, for notebooks and web servers.'),
    "kugel_plot_write": (  # picture, path, overwrite
        "STATUS", ("c_void_p", "c_char_p", "c_int",),
        'Writes the picture as a PNG file.'),
    "kugel_plot_colors_name": (  # index
        "c_char_p", ("c_int",),
        'Names of the colour maps, for help texts and menus.'),
    "kugel_plot_colors_at": (  # name, t, rgb
        "STATUS", ("c_char_p", "c_double", "c_void_p",),
        'A colour of a colour map.'),
    "kugel_sht_points_plan_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_sht_points_opts)", "c_void_p",),
        'Plans sums up to one lmax.'),
    "kugel_sht_points_plan_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_sht_points_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_sht_points_info)",),
        "Reports the shapes of a plan's arrays, and what it does."),
    "kugel_sht_points_create": (  # plan, points, out
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "c_void_p",),
        'Sorts points for a plan.'),
    "kugel_sht_points_destroy": (  # points
        "None", ("c_void_p",),
        'Frees a set of points.'),
    "kugel_sht_points_synthesis": (  # points, alm, values, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Synthesis: values(j) = sum_lm a_lm Y_lm(theta_j, phi_j), for each set of the batch.'),
    "kugel_sht_points_adjoint": (  # points, values, alm, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Adjoint of synthesis: a_lm = sum_j values(j) conj(Y_lm(theta_j, phi_j)).'),
    "kugel_sht_points_solve": (  # points, values, alm, opts, stats, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "POINTER(kugel_solve_opts)", "POINTER(kugel_solve_stats)", "c_void_p",),
        'Least-squares analysis: the alm that minimise sum_j |values(j) - (S alm)(j)|^2, by conjugate gradients (CGLS).'),
    "kugel_points_deflect": (  # ctx, points, deflection, moved, turn
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "POINTER(kugel_array)", "POINTER(kugel_array)",),
        'Moves points along great circles, as gravitational lensing moves the direction in which light is seen to that from which it comes, and tells how a direction turns on the way back: with values E + i F of spin s at the moved points (Q + i U: s = 2; theta and phi components of a vector: s = 1), (E + i F) e^{i s turn} are the values seen at the points.'),
    "kugel_lens_create": (  # plan, points, deflection, out
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Moves points by deflections and sorts them for a plan: kugel_points_deflect and kugel_sht_points_create in one.'),
    "kugel_lens_destroy": (  # lens
        "None", ("c_void_p",),
        'Frees a lens.'),
    "kugel_lens_synthesis": (  # lens, alm, values, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        "The lensed sky: values(j) at the end of point j's deflection, seen at point j: pairs of values with a direction (Q, U; spins; gradients) are in the frame of point j."),
    "kugel_lens_adjoint": (  # lens, values, alm, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of the computed kugel_lens_synthesis, to rounding, at any tolerance: the gradient by the unlensed alm of a function of the lensed values.'),
    "kugel_jwt_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_jwt_opts)", "c_void_p",),
        'Plans transforms of all systems of a list of degrees.'),
    "kugel_jwt_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_jwt_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_jwt_info)",),
        'Reports what a plan holds.'),
    "kugel_jwt_grid": (  # plan, r, weight
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        'The radii of a plan, and the weights of the quadrature for the integral of f(r) dr / sqrt(1 - r^2) over [0, 1].'),
    "kugel_jwt_synthesis": (  # plan, op, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Synthesis: values of an operator on series, out_k = sum_n in_n (op W_n^l)(r_k).'),
    "kugel_jwt_analysis": (  # plan, op, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Analysis: coefficients of an operator on values.'),
    "kugel_jwt_synthesis_adjoint": (  # plan, op, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of synthesis, for gradients: out_n = sum_k in_k (op W_n^l)(r_k).'),
    "kugel_jwt_analysis_adjoint": (  # plan, op, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of analysis.'),
    "kugel_jwt_energy": (  # plan, op, coeffs, energy, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Energy of each system: the integral of |op f|^2 r^2 dr over [0, 1].'),
    "kugel_alt_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_alt_opts)", "c_void_p",),
        'Plans transforms between coefficients of P_l^m, l = m ... lmax, and values at colatitudes.'),
    "kugel_alt_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_alt_synthesis": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Values: out_i = sum_l in_l P_l^m(cos theta_i).'),
    "kugel_alt_analysis": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Coefficients of values: the inverse of synthesis for functions of degree lmax, exact on lmax + 1 colatitudes.'),
    "kugel_alt_synthesis_adjoint": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of synthesis, for gradients: out_l = sum_i in_i P_l^m(cos theta_i).'),
    "kugel_alt_analysis_adjoint": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of analysis.'),
    "kugel_ultra_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_ultra_opts)", "c_void_p",),
        'Plans changes of basis between ultraspherical (Gegenbauer) polynomials: the same polynomial, other coefficients.'),
    "kugel_ultra_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_ultra_execute": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Coefficients in the other family.'),
    "kugel_ultra_adjoint": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint: the transposed matrix.'),
    "kugel_cheb2leg": (  # ctx, in, out
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)",),
        'Chebyshev coefficients to Legendre coefficients, by a plan used once.'),
    "kugel_leg2cheb": (  # ctx, in, out
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)",),
        'Legendre coefficients to Chebyshev coefficients, by a plan used once.'),
    "kugel_psf_compute": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_psf_opts)", "POINTER(kugel_array)",),
        'Computes a PSF.'),
    "kugel_psf_shape": (  # opts, n, shape
        "STATUS", ("POINTER(kugel_psf_opts)", "c_void_p", "c_void_p",),
        'The lengths of a PSF that loses nothing which an image of n voxels could show: 2 n - 1 planes, where a widefield PSF never ends, and the cone of light across, at most 2 n - 1.'),
    "kugel_psf_check": (  # ctx, psf, image, report
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "c_void_p", "POINTER(kugel_psf_report)",),
        'Judges a PSF.'),
    "kugel_psf_text": (  # report, flag, text, size
        "c_int", ("POINTER(kugel_psf_report)", "c_uint", "c_void_p", "c_size_t",),
        'The sentence of one flag, with the numbers and the remedy.'),
    "kugel_psf_prepare": (  # ctx, in, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_psf_prepare_opts)", "POINTER(kugel_array)",),
        "Makes a PSF of a measured or foreign one: takes off background, centres to a fraction of a voxel, resamples to the image's voxels (averaging where they are larger), pads or crops to the result's lengths, scales."),
    "kugel_psf_crop": (  # ctx, psf, energy, lo, n, lost
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "c_double", "c_void_p", "c_void_p", "c_void_p",),
        'The smallest box around the middle that holds a part of the energy: at most (1 - energy) / 3 is lost along each axis.'),
    "kugel_psf_from_beads": (  # ctx, image, opts, out, info
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_psf_beads_opts)", "POINTER(kugel_array)", "POINTER(kugel_psf_beads_info)",),
        'Measures a PSF: finds beads as maxima over the background, leaves out what is at the edge, crowded, saturated or unlike the others, aligns the rest to a fraction of a voxel and averages them, brightest with the largest weight.'),
    "kugel_radial_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_radial_opts)", "c_void_p",),
        'Plans the convolution of maps of one grid with one kernel.'),
    "kugel_radial_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_radial_layout": (  # plan, out
        "STATUS", ("c_void_p", "c_void_p",),
        'The layout of a plan over ranks: rank r has a run of rings from the pole on and their mirrors, on HEALPix two runs of pixels, so many that all ranks have about the same work.'),
    "kugel_radial_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_radial_info)",),
        'Reports what a plan does.'),
    "kugel_radial_evaluate": (  # plan, n, angles, values
        "STATUS", ("c_void_p", "c_int64", "c_void_p", "c_void_p",),
        'The kernel as normalised and cut off.'),
    "kugel_radial_coefficients": (  # plan, lmax, b
        "STATUS", ("c_void_p", "c_int64", "c_void_p",),
        'The Legendre coefficients b_l = 2 pi int K(a) P_l(cos a) sin a da of the kernel as normalised and cut off.'),
    "kugel_radial_execute": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Convolves maps.'),
    "kugel_radial_stream": (  # plan, opts
        "STATUS", ("c_void_p", "POINTER(kugel_radial_stream_opts)",),
        'Convolves a map, or a pair with a spin, that need not fit into memory.'),
    "kugel_radial_adjoint": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The transpose of kugel_radial_execute without normalise_mask: s_j = w_j sum_i K(angle_ij) f_i, or, with opts.normalise, of f_i over what the sum makes of the constant 1 at pixel i.'),
    "kugel_radial_ellipse": (  # major, minor, n, weight, distance, bearing
        "STATUS", ("c_double", "c_double", "c_int64", "c_void_p", "c_void_p", "c_void_p",),
        'Parts of an elliptical Gaussian beam: circular ones of FWHM `minor` along the major axis, by Gauss-Hermite quadrature.'),
    "kugel_radial_bank_create": (  # ctx, n, opts, out
        "STATUS", ("c_void_p", "c_int", "c_void_p", "c_void_p",),
        'Plans convolutions of a map with n kernels.'),
    "kugel_radial_bank_destroy": (  # bank
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_radial_bank_plan": (  # bank, i
        "c_void_p", ("c_void_p", "c_int",),
        'The plan of one kernel, which lives as long as the bank.'),
    "kugel_radial_bank_execute": (  # bank, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Convolves maps with all kernels.'),
    "kugel_regrid_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_regrid_opts)", "c_void_p",),
        'Plans regridding.'),
    "kugel_regrid_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_regrid_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_regrid_info)",),
        "Reports the shapes of a plan's arrays."),
    "kugel_regrid_execute": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Regrids maps.'),
    "kugel_regrid_adjoint": (  # plan, out, in, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of kugel_regrid_execute as a linear map without masks, for gradients.'),
    "kugel_shell_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_shell_opts)", "c_void_p",),
        'Plans transforms.'),
    "kugel_shell_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_shell_grid": (  # plan, r
        "STATUS", ("c_void_p", "c_void_p",),
        'The radii of a plan.'),
    "kugel_shell_synthesis": (  # plan, op, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Values of an operator on series.'),
    "kugel_shell_analysis": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Coefficients of values: the inverse of synthesis of KUGEL_SHELL_P.'),
    "kugel_shell_synthesis_adjoint": (  # plan, op, in, out, queue
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of synthesis.'),
    "kugel_shell_analysis_adjoint": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of analysis.'),
    "kugel_filter_matched": (  # lmax, beam, power, psi, sigma
        "STATUS", ("c_int64", "c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        'The matched filter: of all linear filters that give a source of height 1 the value 1 at its centre, the one of the least variance: psi_l = (b_l / P_l) / (sum_k (2k + 1) / 4 pi tau_k b_k / P_k), tau_l = b_l / b(0), b(0) = sum_l (2l + 1) / 4 pi b_l.'),
    "kugel_sources_find": (  # ctx, opts, map, filtered, max, out, n
        "STATUS", ("c_void_p", "POINTER(kugel_sources_opts)", "c_void_p", "c_void_p", "c_int64", "POINTER(kugel_source)", "c_void_p",),
        'Finds the sources of a filtered map.'),
    "kugel_sources_write": (  # ctx, path, opts, n, list
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_catalogue_opts)", "c_int64", "POINTER(kugel_source)",),
        'Writes a catalogue: a FITS table if the name ends in .fits, else comma-separated text whose first line has the names of the columns: lon, lat (degrees), snr, peak, fwhm_arcmin, flux, background, position_error_arcmin, peak_error, fwhm_error_arcmin, flux_error, id (1 ... n), pixel, flags; then lon and lat of further systems as glon, glat, elon, elat or ra, dec.'),
    "kugel_apodise": (  # ctx, opts, mask, out
        "STATUS", ("c_void_p", "POINTER(kugel_apodise_opts)", "c_void_p", "c_void_p",),
        'Multiplies a mask by a window that falls smoothly to 0 at its masked pixels (those not above 0).'),
    "kugel_mask_distance": (  # ctx, nside, limit, mask, out
        "STATUS", ("c_void_p", "c_int64", "c_double", "c_void_p", "c_void_p",),
        "Angle from each pixel's centre to the nearest masked pixel's centre: 0 at masked pixels, pi everywhere if none is masked."),
    "kugel_masked_alm": (  # ctx, opts, map, alm
        "STATUS", ("c_void_p", "POINTER(kugel_masked_opts)", "c_void_p", "c_void_p",),
        'Coefficients of a masked map.'),
    "kugel_coupling": (  # ctx, opts, xi
        "STATUS", ("c_void_p", "POINTER(kugel_coupling_opts)", "c_void_p",),
        "Couplings Xi(l, l') of the degrees of masked fields, symmetric; the mean pseudo-spectrum is sum_l' (2 l' + 1) Xi(l, l') C_l'."),
    "kugel_couplings": (  # ctx, opts, mask_cl, xi, queue
        "STATUS", ("c_void_p", "POINTER(kugel_coupling_opts)", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        "The same for several masks, to an array that may be on the context's device."),
    "kugel_spectra_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_spectra_opts)", "c_void_p",),
        'Plans the bandpowers of a pair of masked fields: the binned coupling matrix K = P M Q and its factors, P the weighted mean over a band, Q a spectrum constant (times 1 / factor) in each band.'),
    "kugel_spectra_destroy": (  # plan
        "None", ("c_void_p",),
        'Releases a plan.'),
    "kugel_spectra_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_spectra_info)",),
        'What a plan holds.'),
    "kugel_spectra_couple": (  # plan, cl, out
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        'Mean pseudo-spectrum of fields with the spectrum cl: couplings and beams.'),
    "kugel_spectra_decouple": (  # plan, pseudo, noise, out
        "STATUS", ("c_void_p", "c_void_p", "c_void_p", "c_void_p",),
        'Bandpowers of a pseudo-spectrum: K^-1 P (pseudo - noise).'),
    "kugel_spectra_windows": (  # plan, out
        "STATUS", ("c_void_p", "c_void_p",),
        'Windows of the bandpowers: a spectrum C gives, in the mean, the bandpowers sum over spectra j and l of windows[i][b][j][l] C_jl.'),
    "kugel_bandpowers_write": (  # ctx, path, opts
        "STATUS", ("c_void_p", "c_char_p", "POINTER(kugel_bandpowers_opts)",),
        'Writes bandpowers as comma-separated text.'),
    "kugel_spectra_covariance": (  # first, second, opts, out
        "STATUS", ("c_void_p", "c_void_p", "POINTER(kugel_covariance_opts)", "c_void_p",),
        'Covariance of the bandpowers of fields a, b (of `first`) with those of fields c, d (of `second`), if all are Gaussian, in the narrow-kernel approximation: spectra vary little over the width of a coupling.'),
    "kugel_stencil_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_stencil_opts)", "c_void_p",),
        'Makes a plan.'),
    "kugel_stencil_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_stencil_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_stencil_info)",),
        'Reports what a plan is.'),
    "kugel_stencil_apply": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Applies the operator.'),
    "kugel_stencil_adjoint": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Applies the transpose of the operator, boundaries, coefficients and mask included: the same numbers, other rows.'),
    "kugel_stencil_advance": (  # plan, method, dt, steps, state, queue
        "STATUS", ("c_void_p", "c_int", "c_double", "c_int64", "POINTER(kugel_array)", "c_void_p",),
        'Advances fields in time, in place.'),
    "kugel_stencil_advance_adjoint": (  # plan, method, dt, steps, state, queue
        "STATUS", ("c_void_p", "c_int", "c_double", "c_int64", "POINTER(kugel_array)", "c_void_p",),
        'Applies the transpose of kugel_stencil_advance, which is linear: if advance takes u to A u, this takes v to A^T v, the gradient by the first state of a function with the gradient v by the last.'),
    "kugel_volume_create": (  # ctx, ndim, n, k, kernel, opts, out
        "STATUS", ("c_void_p", "c_int", "c_void_p", "c_void_p", "POINTER(kugel_array)", "POINTER(kugel_volume_opts)", "c_void_p",),
        "Makes a plan, which holds the kernel's spectrum."),
    "kugel_volume_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_volume_get_info": (  # plan, info
        "STATUS", ("c_void_p", "POINTER(kugel_volume_info)",),
        'Reports what a plan does: its engine, lengths, memory, time.'),
    "kugel_volume_estimate": (  # ctx, ndim, n, k, opts, info
        "STATUS", ("c_void_p", "c_int", "c_void_p", "c_void_p", "POINTER(kugel_volume_opts)", "POINTER(kugel_volume_info)",),
        'Reports what a plan would do, without a kernel and without making the plan.'),
    "kugel_volume_layout": (  # plan, side, out
        "STATUS", ("c_void_p", "c_int", "c_void_p",),
        "The layout of a plan's arrays over ranks, for kugel_layout_move and its companions: planes along axis 0, shared out evenly, to one; results of TILES by whole rows of tiles."),
    "kugel_volume_execute": (  # plan, in, out, clipped, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p", "c_void_p",),
        'Convolves (or correlates).'),
    "kugel_volume_adjoint": (  # plan, in, out, clipped, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p", "c_void_p",),
        'Applies the exact adjoint H* of what kugel_volume_execute applies, H, with its boundary, extent and scale: <H x, y> = <x, H* y> for all x and y.'),
    "kugel_dif_length": (  # least, parts
        "c_int64", ("c_int64", "c_int",),
        'The least length at least `least` that splits into parts: 2 parts n with no prime factor of n above 7.'),
    "kugel_dif_twist": (  # length, parts, part, twist
        "STATUS", ("c_int64", "c_int", "c_int", "c_void_p",),
        'The twist of a part: W_N^{(part + 1/2) j}, j = 0 ... length / (2 parts) - 1.'),
    "kugel_dif_decompose": (  # ctx, parts, data
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)",),
        'Decomposes real data in place along the first axis: slabs 2 p and 2 p + 1 of the 2 parts slabs become the real and the imaginary parts of sum_q W_{2Q}^{(p + 1/2) q} x(j + q n).'),
    "kugel_dif_compose": (  # ctx, parts, data
        "STATUS", ("c_void_p", "c_int", "POINTER(kugel_array)",),
        'The inverse of kugel_dif_decompose.'),
    "kugel_volume_stream": (  # plan, opts
        "STATUS", ("c_void_p", "POINTER(kugel_volume_stream_opts)",),
        'Convolves an image that need not be in memory: with KUGEL_VOLUME_TILES box by box along axis 0, where the limit of kugel_ctx_limit_memory() leaves too little for whole planes also along the other axes; with KUGEL_VOLUME_PENCIL slab by slab, which are all read before the first one is written; with other engines in one box.'),
    "kugel_worland_band": (  # ctx, basis, op, lower, upper, band
        "STATUS", ("c_void_p", "POINTER(kugel_worland_basis)", "c_int", "c_void_p", "c_void_p", "c_void_p",),
        'A sparse operator, n x n.'),
    "kugel_worland_boundary": (  # basis, condition, row
        "STATUS", ("POINTER(kugel_worland_basis)", "c_int", "c_void_p",),
        'A boundary row: a condition at r = 1 of each function.'),
    "kugel_worland_stencil": (  # basis, conditions, condition, stencil
        "STATUS", ("POINTER(kugel_worland_basis)", "c_int", "c_void_p", "c_void_p",),
        'A Galerkin stencil, n x (n - conditions): columns W_j + s_1 W_{j+1} + ... that satisfy one or two conditions.'),
    "kugel_zernike_index": (  # order, n, m, index
        "STATUS", ("c_int", "c_int64", "c_int64", "c_void_p",),
        'Index of a coefficient.'),
    "kugel_zernike_nm": (  # order, index, n, m
        "STATUS", ("c_int", "c_int64", "c_void_p", "c_void_p",),
        'Degree and order of a coefficient: the inverse of kugel_zernike_index.'),
    "kugel_zernike_create": (  # ctx, opts, out
        "STATUS", ("c_void_p", "POINTER(kugel_zernike_opts)", "c_void_p",),
        'Plans transforms of (nmax + 1) (nmax + 2) / 2 coefficients.'),
    "kugel_zernike_destroy": (  # plan
        "None", ("c_void_p",),
        'Frees a plan.'),
    "kugel_zernike_grid": (  # plan, r, phi
        "STATUS", ("c_void_p", "c_void_p", "c_void_p",),
        'The grid of a plan, or its points.'),
    "kugel_zernike_synthesis": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Values: f(r, phi) = sum of c_nm Z_n^m(r, phi).'),
    "kugel_zernike_analysis": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'Coefficients of values on the grid: the inverse of synthesis.'),
    "kugel_zernike_synthesis_adjoint": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of synthesis: c_nm = sum of f Z_n^m over the grid or the points.'),
    "kugel_zernike_analysis_adjoint": (  # plan, in, out, queue
        "STATUS", ("c_void_p", "POINTER(kugel_array)", "POINTER(kugel_array)", "c_void_p",),
        'The adjoint of analysis.'),
}

_lock = threading.RLock()  # one type per name, whatever the number of threads that ask first


class _Types(dict[str, Any]):
    """The names that the texts use: those of ctypes, and the types above."""

    def __missing__(self, name):
        return __getattr__(name)


_types = _Types(vars(ctypes))


def _type(text):
    return eval(text, {}, _types)


def __getattr__(name: str) -> Any:
    """A struct or the type of a callback, made when first named."""
    if name not in STRUCTS and name not in CALLBACKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _lock:
        if name not in globals():
            if name in STRUCTS:
                members = [(member, _type(kind)) for member, kind in STRUCTS[name]]
                globals()[name] = type(name, (ctypes.Structure,), {"_fields_": members, "__module__": __name__})
            else:
                globals()[name] = _type(CALLBACKS[name])
        return globals()[name]


def declare(function, name, status_check):
    """Gives a function of the loaded library its prototype; `status_check` is called with each status that it returns."""
    result, arguments, doc = FUNCTIONS[name]
    with _lock:
        function.argtypes = [_type(kind) for kind in arguments]
        function.restype = ctypes.c_int if result == "STATUS" else _type(result)
    function.__doc__ = doc
    if result == "STATUS":
        function.errcheck = status_check
    return function

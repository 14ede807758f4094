# SPDX-License-Identifier: BSD-3-Clause
"""ctypes prototypes of Kugel's public headers. Written by tools/gen_ffi.py; do not edit."""
from ctypes import *  # noqa: F403

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
KUGEL_INT = 0
KUGEL_UINT = 1
KUGEL_FLOAT = 2
KUGEL_COMPLEX = 5
KUGEL_BOOL = 6
KUGEL_CPU = 1
KUGEL_CUDA = 2
KUGEL_OPENCL = 4
kugel_progress_fn = CFUNCTYPE(c_int, c_double, c_char_p, c_void_p)


class kugel_dtype(Structure):
    _fields_ = [
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
    ]


class kugel_device(Structure):
    _fields_ = [
        ("type", c_int32),
        ("id", c_int32),
    ]


class kugel_array(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", kugel_device),
        ("ndim", c_int32),
        ("dtype", kugel_dtype),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("byte_offset", c_uint64),
    ]


class kugel_allocator(Structure):
    _fields_ = [
        ("alloc", CFUNCTYPE(c_void_p, c_size_t, c_size_t, c_void_p)),
        ("free", CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)),
        ("user", c_void_p),
    ]


class kugel_executor(Structure):
    _fields_ = [
        ("run", CFUNCTYPE(None, c_int, c_void_p, c_void_p, c_void_p)),
        ("threads", c_int),
        ("user", c_void_p),
    ]


class kugel_ctx_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("device", c_char_p),
        ("threads", c_int),
        ("allocator", POINTER(kugel_allocator)),
        ("executor", POINTER(kugel_executor)),
        ("native_context", c_void_p),
    ]


# device.h


class kugel_device_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", (c_char * 64)),
        ("description", (c_char * 128)),
        ("memory", c_uint64),
        ("units", c_int32),
        ("available", c_int32),
        ("why", (c_char * 192)),
        ("device", kugel_device),
        ("lanes", c_int32),
        ("max_threads", c_int32),
        ("shared_bytes", c_uint64),
        ("cache_bytes", c_uint64),
        ("max_alloc", c_uint64),
        ("bandwidth", c_double),
        ("fp64", c_int32),
        ("compute_capability", c_int32),
        ("is_gpu", c_int32),
        ("kernels", c_int32),
        ("driver", (c_char * 96)),
        ("compiler", (c_char * 96)),
    ]


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
KUGEL_FFT_F64 = 0
KUGEL_FFT_F32 = 1
KUGEL_FFT_DD = 2
KUGEL_FFT_F16 = 3
KUGEL_FORWARD = -1
KUGEL_INVERSE = 1
KUGEL_FFT_ESTIMATE = 0
KUGEL_FFT_MEASURE = 1
KUGEL_FFT_COMPLEX = 0
KUGEL_FFT_MAGNITUDE = 1
KUGEL_FFT_POWER = 2
KUGEL_FFT_LOG_MAGNITUDE = 3


class kugel_fft_hook(Structure):
    _fields_ = [
        ("sign", c_int),
        ("write", c_int),
        ("axis", c_int),
        ("factor", POINTER(kugel_array)),
    ]


class kugel_fft_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("single_precision", c_int),
        ("naxes", c_int),
        ("axes", c_void_p),
        ("forward_scale", c_double),
        ("inverse_scale", c_double),
        ("nhooks", c_int),
        ("hooks", POINTER(kugel_fft_hook)),
        ("precision", c_int),
        ("forward_scale_low", c_double),
        ("inverse_scale_low", c_double),
        ("modulus", c_int),
        ("effort", c_int),
        ("extent", c_void_p),
    ]


class kugel_fft_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ndim", c_int),
        ("naxes", c_int),
        ("n", (c_int64 * 8)),
        ("extent", (c_int64 * 8)),
        ("axes", (c_int * 8)),
        ("kind", c_int),
        ("precision", c_int),
        ("modulus", c_int),
        ("forward_scale", c_double),
        ("inverse_scale", c_double),
    ]


# rings.h


class kugel_rings_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("npix", c_int64),
        ("mlim", c_void_p),
    ]


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


class kugel_pixset(Structure):
    _fields_ = [
        ("n_ranges", c_int64),
        ("n_pixels", c_int64),
        ("ranges", c_void_p),
        ("ctx", c_void_p),
    ]


class kugel_ud_grade_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("pessimistic", c_int),
        ("power", c_double),
    ]


# sphere.h
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
KUGEL_UNSEEN = -1.6375e+30


class kugel_grid_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("nside", c_int64),
        ("ntheta", c_int64),
        ("nphi", c_int64),
        ("phi0", c_double),
        ("nrings", c_int64),
        ("theta", c_void_p),
        ("ring_nphi", c_void_p),
        ("ring_phi0", c_void_p),
        ("ring_first", c_void_p),
        ("ring_weight", c_void_p),
    ]


class kugel_sht_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("grid", c_void_p),
        ("lmax", c_int64),
        ("mmax", c_int64),
        ("mode", c_int),
        ("spin", c_int),
        ("weights", c_int),
        ("iterations", c_int),
        ("bad_pixels", c_int),
        ("max_memory", c_int64),
    ]


class kugel_solve_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("tolerance", c_double),
        ("max_iterations", c_int),
    ]


class kugel_solve_stats(Structure):
    _fields_ = [
        ("iterations", c_int),
        ("residual", c_double),
        ("normal_residual", c_double),
    ]


class kugel_smooth_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("grid", c_void_p),
        ("lmax", c_int64),
        ("mmax", c_int64),
        ("fwhm", c_double),
        ("n_window", c_int64),
        ("window", c_void_p),
        ("window_e", c_void_p),
        ("window_b", c_void_p),
        ("weights", c_int),
        ("iterations", c_int),
        ("spin", c_int),
    ]


# alm.h
KUGEL_CL_DIAGONAL = 0
KUGEL_CL_ROW = 1


class kugel_alm_random_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("lmax", c_int64),
        ("mmax", c_int64),
        ("cl", c_void_p),
        ("n_cl", c_int64),
        ("cl_lmax", c_int64),
        ("order", c_int),
        ("seed", c_uint64),
        ("zero_indefinite", c_int),
    ]


class kugel_dipole_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("nest", c_int),
        ("gal_cut", c_double),
        ("monopole_only", c_int),
    ]


# banded.h
KUGEL_BANDED_LOWER = 0
KUGEL_BANDED_UPPER = 1
KUGEL_BANDED_TRIDIAGONAL = 2
KUGEL_BANDED_F64 = 0
KUGEL_BANDED_F32 = 1
KUGEL_BANDED_DD = 2
KUGEL_BANDED_ROWS = 0
KUGEL_BANDED_COLUMNS = 1
KUGEL_BANDED_AUTO = 0
KUGEL_BANDED_SUBSTITUTION = 1
KUGEL_BANDED_SCAN = 2
KUGEL_BANDED_CYCLIC = 3


class kugel_banded_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("precision", c_int),
        ("layout", c_int),
        ("n", c_int64),
        ("matrices", c_int64),
        ("lower", c_void_p),
        ("diagonal", c_void_p),
        ("upper", c_void_p),
        ("method", c_int),
    ]


class kugel_banded_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("method", c_int),
        ("batch", c_int64),
        ("solvable", c_int32),
        ("bad_matrix", c_int64),
        ("bad_row", c_int64),
        ("growth", c_double),
        ("propagation", c_double),
        ("threads", c_int32),
        ("elements", c_int32),
    ]


# conv.h
KUGEL_CONV_FULL = 0
KUGEL_CONV_SAME = 1
KUGEL_CONV_VALID = 2


class kugel_conv_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("extent", c_int),
        ("circular", c_int),
        ("correlate", c_int),
        ("complex_data", c_int),
        ("single_precision", c_int),
        ("inputs", c_int),
        ("outputs", c_int),
        ("each", c_int),
    ]


# io.h
KUGEL_FITS_TABLE = 0
KUGEL_FITS_MAP = 1
KUGEL_FITS_ALM = 2
KUGEL_FITS_CL = 3
KUGEL_FITS_IMAGE = 4
KUGEL_MOLLWEIDE = 0
KUGEL_ORTHOGRAPHIC = 1
KUGEL_GNOMONIC = 2
KUGEL_CARTESIAN = 3
KUGEL_SCALE_LINEAR = 0
KUGEL_SCALE_LOG = 1
KUGEL_SCALE_ASINH = 2
KUGEL_SCALE_HISTOGRAM = 3
kugel_plot_fn = CFUNCTYPE(c_double, c_double, c_double, c_void_p)


class kugel_fits_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("hdu", c_int64),
        ("extname", c_char_p),
    ]


class kugel_fits_info(Structure):
    _fields_ = [
        ("kind", c_int),
        ("hdu", c_int64),
        ("ncolumns", c_int64),
        ("nvalues", c_int64),
        ("nside", c_int64),
        ("npix", c_int64),
        ("order", c_int),
        ("partial", c_int32),
        ("has_bad_data", c_int32),
        ("bad_data", c_double),
        ("lmax", c_int64),
        ("mmax", c_int64),
        ("ncomponents", c_int64),
        ("first_l", c_int64),
        ("coordsys", (c_char * 16)),
        ("polcconv", (c_char * 16)),
        ("extname", (c_char * 72)),
        ("creator", (c_char * 72)),
        ("ncards", c_int64),
        ("cards", c_void_p),
    ]


class kugel_fits_column(Structure):
    _fields_ = [
        ("name", (c_char * 72)),
        ("unit", (c_char * 72)),
        ("dtype", kugel_dtype),
        ("repeat", c_int64),
    ]


class kugel_fits_write_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("overwrite", c_int32),
        ("nowrap", c_int32),
        ("order", c_int),
        ("dtype", kugel_dtype),
        ("coordsys", c_char_p),
        ("names", c_void_p),
        ("units", c_void_p),
        ("extname", c_char_p),
        ("creator", c_char_p),
        ("cards", c_void_p),
        ("ncards", c_int64),
        ("history", c_void_p),
        ("nhistory", c_int64),
        ("pixels", c_void_p),
        ("npixels", c_int64),
        ("nside", c_int64),
        ("skip_unseen", c_int32),
        ("ascii", c_int32),
    ]


class kugel_cl_info(Structure):
    _fields_ = [
        ("lmax", c_int64),
        ("nspectra", c_int64),
        ("text", c_int32),
        ("has_l", c_int32),
        ("names", ((c_char * 24) * 16)),
        ("unit", (c_char * 72)),
    ]


class kugel_npy_info(Structure):
    _fields_ = [
        ("dtype", kugel_dtype),
        ("ndim", c_int32),
        ("shape", (c_int64 * 32)),
        ("count", c_int64),
        ("fortran_order", c_int32),
        ("big_endian", c_int32),
    ]


class kugel_plot_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("projection", c_int),
        ("scale", c_int),
        ("colors", c_char_p),
        ("width", c_int32),
        ("pixel_ratio", c_double),
        ("min", c_double),
        ("max", c_double),
        ("percentile", c_double),
        ("symmetric", c_int32),
        ("linear_width", c_double),
        ("lon", c_double),
        ("lat", c_double),
        ("roll", c_double),
        ("coord", c_char_p),
        ("geo", c_int32),
        ("half_sky", c_int32),
        ("reso", c_double),
        ("lon_width", c_double),
        ("lat_width", c_double),
        ("height", c_int32),
        ("graticule", c_double),
        ("no_labels", c_int32),
        ("no_bar", c_int32),
        ("interpolate", c_int32),
        ("transparent", c_int32),
        ("title", c_char_p),
        ("unit", c_char_p),
        ("bad", (c_uint8 * 4)),
    ]


class kugel_plot_cl_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("width", c_int32),
        ("height", c_int32),
        ("pixel_ratio", c_double),
        ("min", c_double),
        ("max", c_double),
        ("raw", c_int32),
        ("linear_l", c_int32),
        ("linear_y", c_int32),
        ("transparent", c_int32),
        ("title", c_char_p),
        ("unit", c_char_p),
        ("names", c_void_p),
    ]


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


class kugel_radial_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("grid", c_void_p),
        ("kernel", c_int),
        ("width", c_double),
        ("function", CFUNCTYPE(c_double, c_double, c_void_p)),
        ("user", c_void_p),
        ("n", c_int64),
        ("angles", c_void_p),
        ("values", c_void_p),
        ("norm", c_int),
        ("radius", c_double),
        ("tolerance", c_double),
        ("method", c_int),
        ("lmax", c_int64),
        ("normalise_mask", c_int),
        ("spin", c_int),
        ("nparts", c_int64),
        ("part_weight", c_void_p),
        ("part_distance", c_void_p),
        ("part_bearing", c_void_p),
        ("orientation", c_void_p),
        ("kappa", c_void_p),
        ("max_memory", c_int64),
    ]


class kugel_radial_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("method", c_int),
        ("radius", c_double),
        ("cut_error", c_double),
        ("table_error", c_double),
        ("integral", c_double),
        ("scale", c_double),
        ("pairs", c_double),
        ("band", c_int64),
        ("constant_least", c_double),
        ("constant_most", c_double),
        ("blocks", c_int64),
        ("products", c_double),
    ]


class kugel_radial_stream_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("read", CFUNCTYPE(c_int, c_void_p, c_int, c_int64, c_int64, c_void_p)),
        ("write", CFUNCTYPE(c_int, c_void_p, c_int, c_int64, c_int64, c_void_p)),
        ("user", c_void_p),
        ("dtype", kugel_dtype),
        ("memory", c_uint64),
        ("first", c_int64),
        ("end", c_int64),
    ]


# regrid.h


class kugel_regrid_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("from", c_void_p),
        ("to", c_void_p),
        ("lmax", c_int64),
        ("spin", c_int),
        ("fwhm", c_double),
        ("n_window", c_int64),
        ("window", c_void_p),
        ("weights", c_int),
        ("iterations", c_int),
        ("bad_pixels", c_int),
        ("least_good", c_double),
    ]


# sources.h


class kugel_source(Structure):
    _fields_ = [
        ("theta", c_double),
        ("phi", c_double),
        ("snr", c_double),
        ("peak", c_double),
        ("fwhm", c_double),
        ("flux", c_double),
        ("background", c_double),
        ("pixel", c_int64),
    ]


class kugel_sources_opts(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("nside", c_int64),
        ("fwhm", c_double),
        ("threshold", c_double),
        ("rms", c_double),
        ("fixed_fwhm", c_int64),
    ]


class STATUS:  # the result of functions that may fail
    pass


FUNCTIONS = {
    "kugel_status_text": (  # status
        c_char_p, [c_int],
        'The text of a status, such as "invalid argument".'),
    "kugel_status_name": (  # status
        c_char_p, [c_int],
        'The name of a status, such as "KUGEL_EINVAL".'),
    "kugel_last_error": (  # nothing
        c_char_p, [],
        "This thread's latest failure as one sentence with the values and the remedy."),
    "kugel_version": (  # nothing
        c_char_p, [],
        'Version of the library in use, such as "0.1.0"; compare with KUGEL_VERSION of the header compiled against.'),
    "kugel_ctx_create": (  # opts, out
        STATUS, [POINTER(kugel_ctx_opts), c_void_p],
        'Makes a context: a device, an allocator and an executor that plans share.'),
    "kugel_ctx_destroy": (  # ctx
        None, [c_void_p],
        "Gives the caller's reference back."),
    "kugel_ctx_trim": (  # ctx
        None, [c_void_p],
        'Frees the scratch memory that the context keeps for the next call.'),
    "kugel_ctx_memory": (  # ctx, now, peak
        None, [c_void_p, c_void_p, c_void_p],
        "Bytes of memory held through the context's allocator now and at the highest."),
    "kugel_set_num_threads": (  # threads
        STATUS, [c_int],
        'Sets the number of threads for contexts that leave it open (among them the default context).'),
    "kugel_get_num_threads": (  # nothing
        c_int, [],
        'The number of threads now in force for such contexts.'),
    "kugel_isa": (  # nothing
        c_char_p, [],
        'Name of the instruction set in use: "avx512", "avx2" or "generic".'),
    "kugel_set_progress": (  # fn, user
        None, [kugel_progress_fn, c_void_p],
        "Sets this thread's progress callback for its later calls; fn NULL removes it."),
    "kugel_device_count": (  # nothing
        c_int, [],
        'How many devices kugel_device_describe knows, available or not.'),
    "kugel_device_describe": (  # index, info
        STATUS, [c_int, POINTER(kugel_device_info)],
        'Describes device `index`.'),
    "kugel_ctx_describe": (  # ctx, info
        STATUS, [c_void_p, POINTER(kugel_device_info)],
        'Describes the device of a context.'),
    "kugel_device_memory": (  # ctx, available, total
        STATUS, [c_void_p, c_void_p, c_void_p],
        "Memory of the context's device now."),
    "kugel_device_usage": (  # ctx, now, peak
        STATUS, [c_void_p, c_void_p, c_void_p],
        'Device memory that this process holds through Kugel: plans, buffers, what is kept for the next call.'),
    "kugel_device_alloc": (  # ctx, bytes, out
        STATUS, [c_void_p, c_size_t, c_void_p],
        "Allocates memory of the context's device, aligned to at least 64 bytes, contents unspecified."),
    "kugel_device_free": (  # ctx, ptr
        None, [c_void_p, c_void_p],
        'Frees memory that kugel_device_alloc gave, once work that uses it is done.'),
    "kugel_device_alloc_host": (  # ctx, bytes, out
        STATUS, [c_void_p, c_size_t, c_void_p],
        'Allocates host memory that the device copies from and to at full speed (page-locked; on the CPU plain memory).'),
    "kugel_device_free_host": (  # ctx, ptr
        None, [c_void_p, c_void_p],
        'Frees memory that kugel_device_alloc_host gave.'),
    "kugel_device_upload": (  # ctx, dst, offset, src, bytes, queue
        STATUS, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p],
        'Copies host memory to the device.'),
    "kugel_device_download": (  # ctx, dst, src, offset, bytes, queue
        STATUS, [c_void_p, c_void_p, c_void_p, c_size_t, c_size_t, c_void_p],
        'Copies device memory to the host.'),
    "kugel_device_fill": (  # ctx, dst, offset, byte, bytes, queue
        STATUS, [c_void_p, c_void_p, c_size_t, c_int, c_size_t, c_void_p],
        'Sets each byte of device memory.'),
    "kugel_queue_create": (  # ctx, out
        STATUS, [c_void_p, c_void_p],
        "Makes a queue on the context's device."),
    "kugel_queue_wrap": (  # ctx, native, out
        STATUS, [c_void_p, c_void_p, c_void_p],
        'Wraps a queue that another library made, such as the stream of PyTorch or CuPy, or a cl_command_queue.'),
    "kugel_queue_wait": (  # queue
        STATUS, [c_void_p],
        'Waits until all work given to the queue is done.'),
    "kugel_queue_destroy": (  # queue
        None, [c_void_p],
        "Waits for the queue's work, then lets it go."),
    "kugel_fft_create": (  # ctx, ndim, n, opts, out
        STATUS, [c_void_p, c_int, c_void_p, POINTER(kugel_fft_opts), c_void_p],
        'Makes a plan for transforms of one shape.'),
    "kugel_fft_destroy": (  # plan
        None, [c_void_p],
        'Frees a plan.'),
    "kugel_fft_execute": (  # plan, sign, in, out
        STATUS, [c_void_p, c_int, POINTER(kugel_array), POINTER(kugel_array)],
        'Transforms.'),
    "kugel_fft_execute_on": (  # plan, sign, in, out, queue
        STATUS, [c_void_p, c_int, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        "The same on a device's queue."),
    "kugel_fft_gain": (  # plan
        c_double, [c_void_p],
        'The factor that forward and then inverse multiply by, without the scales of the options.'),
    "kugel_fft_kernel_count": (  # plan
        c_int, [c_void_p],
        'How many generated kernels a transform of this plan launches on its device, at least.'),
    "kugel_fft_kernel_source": (  # plan, sign, index, size, text, length
        STATUS, [c_void_p, c_int, c_int, c_size_t, c_void_p, c_void_p],
        'The source of one of those kernels, in the dialect of docs/kernels.md that CUDA and OpenCL share.'),
    "kugel_fft_describe": (  # plan, info
        STATUS, [c_void_p, POINTER(kugel_fft_info)],
        'Tells what a plan transforms.'),
    "kugel_fft_save": (  # plan, path
        STATUS, [c_void_p, c_char_p],
        'Writes a plan of a device to a file, with the machine code of all its kernels: to be loaded where nothing shall be compiled, as on the nodes of a cluster whose home folder is slow or read-only.'),
    "kugel_fft_load": (  # ctx, path, out
        STATUS, [c_void_p, c_char_p, c_void_p],
        'Makes the plan of a file of kugel_fft_save, with all its options, and compiles nothing, now or later.'),
    "kugel_fft_good_size": (  # n
        c_int64, [c_int64],
        'The smallest length at least n with no prime factor above 7, for padding.'),
    "kugel_rings_create": (  # ctx, nrings, nphi, phi0, start, mmax, opts, out
        STATUS, [c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_int64, POINTER(kugel_rings_opts), c_void_p],
        'Makes a plan.'),
    "kugel_rings_destroy": (  # plan
        None, [c_void_p],
        'Frees a plan.'),
    "kugel_rings_npix": (  # plan
        c_int64, [c_void_p],
        "Number of pixels of a plan's maps."),
    "kugel_rings_synthesis": (  # plan, coef, map
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array)],
        'Coefficients to pixels.'),
    "kugel_rings_adjoint": (  # plan, map, weights, coef
        STATUS, [c_void_p, POINTER(kugel_array), c_void_p, POINTER(kugel_array)],
        'Pixels to coefficients: the adjoint, with weights.'),
    "kugel_healpix_npix": (  # nside
        c_int64, [c_int64],
        'Number of pixels.'),
    "kugel_healpix_nside": (  # npix
        c_int64, [c_int64],
        'nside of a number of pixels.'),
    "kugel_healpix_max_pixel_radius": (  # nside
        c_double, [c_int64],
        "Largest distance of a pixel's corner from its centre, over all pixels."),
    "kugel_healpix_ang2pix": (  # ctx, nside, order, n, theta, phi, pixel
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_void_p, c_void_p],
        'Pixels of directions.'),
    "kugel_healpix_pix2ang": (  # ctx, nside, order, n, pixel, theta, phi
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_void_p, c_void_p],
        'Centres of pixels.'),
    "kugel_healpix_vec2pix": (  # ctx, nside, order, n, vec, pixel
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_void_p],
        'Pixels of vectors.'),
    "kugel_healpix_pix2vec": (  # ctx, nside, order, n, pixel, vec
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_void_p],
        'Centres of pixels as unit vectors.'),
    "kugel_healpix_pix2xyf": (  # ctx, nside, order, n, pixel, x, y, face
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_void_p, c_void_p, c_void_p],
        'Pixels as base face and coordinates in it, x towards the north-east, y towards the north-west.'),
    "kugel_healpix_xyf2pix": (  # ctx, nside, order, n, x, y, face, pixel
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_void_p, c_void_p, c_void_p],
        'The pixel at coordinates of a base face.'),
    "kugel_healpix_convert": (  # ctx, nside, from, to, n, in, out
        STATUS, [c_void_p, c_int64, c_int, c_int, c_int64, c_void_p, c_void_p],
        'Pixel numbers from one order to another.'),
    "kugel_healpix_nest2uniq": (  # ctx, nside, n, pixel, uniq
        STATUS, [c_void_p, c_int64, c_int64, c_void_p, c_void_p],
        'NESTED pixels as numbers that carry their nside: uniq = 4 nside^2 + pixel.'),
    "kugel_healpix_uniq2nest": (  # ctx, n, uniq, nside, pixel
        STATUS, [c_void_p, c_int64, c_void_p, c_void_p, c_void_p],
        'nside and NESTED pixel of each such number.'),
    "kugel_healpix_rings": (  # nside, n, ring, start, count, theta, shifted
        STATUS, [c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p],
        'Rings: first RING pixel, number of pixels, colatitude, and whether the first centre is half a pixel from phi = 0.'),
    "kugel_healpix_pix2ring": (  # ctx, nside, order, n, pixel, ring
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_void_p],
        'The ring of each pixel.'),
    "kugel_healpix_boundaries": (  # ctx, nside, order, n, pixel, step, vec
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_int64, c_void_p],
        'Points on the boundaries of pixels, from the north corner through west, south and east.'),
    "kugel_healpix_neighbours": (  # ctx, nside, order, n, pixel, neighbour
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_void_p],
        'The eight neighbours of each pixel: SW, W, NW, N, NE, E, SE, S; -1 where there is none.'),
    "kugel_healpix_interpolation": (  # ctx, nside, order, n, theta, phi, pixel, weight
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_void_p, c_void_p, c_void_p],
        'Bilinear interpolation: four pixels about each direction and their weights, which sum to 1.'),
    "kugel_healpix_interpolate": (  # ctx, nside, order, map, n, theta, phi, value
        STATUS, [c_void_p, c_int64, c_int, POINTER(kugel_array), c_int64, c_void_p, c_void_p, POINTER(kugel_array)],
        'Values of maps at directions by bilinear interpolation: sums of four pixels times the weights above.'),
    "kugel_healpix_query_disc": (  # ctx, nside, order, vec, radius, inclusive, out
        STATUS, [c_void_p, c_int64, c_int, c_void_p, c_double, c_int, c_void_p],
        'Pixels of a disc: those whose centres lie in it, or with `inclusive` those that overlap it.'),
    "kugel_healpix_list_disc": (  # ctx, nside, order, vec, radius, inclusive, capacity, pixel, count
        STATUS, [c_void_p, c_int64, c_int, c_void_p, c_double, c_int, c_int64, c_void_p, c_void_p],
        "Pixels of a disc into the caller's memory: for many small discs, no set to destroy."),
    "kugel_healpix_query_strip": (  # ctx, nside, order, theta1, theta2, inclusive, out
        STATUS, [c_void_p, c_int64, c_int, c_double, c_double, c_int, c_void_p],
        'Pixels between two colatitudes; theta1 > theta2 gives the two polar caps outside.'),
    "kugel_healpix_query_polygon": (  # ctx, nside, order, n, vertices, inclusive, out
        STATUS, [c_void_p, c_int64, c_int, c_int64, c_void_p, c_int, c_void_p],
        'Pixels of a convex polygon: those whose centres lie in it.'),
    "kugel_pixset_pixels": (  # set, pixel
        STATUS, [POINTER(kugel_pixset), c_void_p],
        'Copies the pixels of a set.'),
    "kugel_pixset_to_uniq": (  # set, nside, n, uniq
        STATUS, [POINTER(kugel_pixset), c_int64, c_void_p, c_void_p],
        'A NESTED set as the fewest pixels of any size.'),
    "kugel_pixset_from_uniq": (  # ctx, nside, n, uniq, out
        STATUS, [c_void_p, c_int64, c_int64, c_void_p, c_void_p],
        'The NESTED pixels that pixels of any size cover; a smaller one counts as the pixel that holds it.'),
    "kugel_pixset_destroy": (  # set
        None, [POINTER(kugel_pixset)],
        'Frees a set.'),
    "kugel_healpix_reorder": (  # ctx, nside, from, to, in, out, queue
        STATUS, [c_void_p, c_int64, c_int, c_int, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'Reorders whole maps.'),
    "kugel_healpix_ud_grade": (  # ctx, nside_in, order_in, in, nside_out, order_out, out, opts
        STATUS, [c_void_p, c_int64, c_int, POINTER(kugel_array), c_int64, c_int, POINTER(kugel_array), POINTER(kugel_ud_grade_opts)],
        'Changes nside by powers of two: means of the good children (not NaN, infinite or UNSEEN), or copies of the parent.'),
    "kugel_grid_create": (  # ctx, opts, out
        STATUS, [c_void_p, POINTER(kugel_grid_opts), c_void_p],
        'Makes a grid.'),
    "kugel_grid_destroy": (  # grid
        None, [c_void_p],
        "Gives the caller's reference back; plans keep the grid alive."),
    "kugel_grid_nrings": (  # grid
        c_int64, [c_void_p],
        'Number of rings.'),
    "kugel_grid_npix": (  # grid
        c_int64, [c_void_p],
        'Length of a map on the grid: one more than the highest pixel index.'),
    "kugel_grid_rings": (  # grid, theta, nphi, phi0, first, weight
        STATUS, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p],
        "Copies the table of rings, in the order of their first pixels' rows as the grid defines them (north first for the ready-made grids)."),
    "kugel_sht_create": (  # ctx, opts, out
        STATUS, [c_void_p, POINTER(kugel_sht_opts), c_void_p],
        'Plans transforms between alm and maps of a grid.'),
    "kugel_sht_destroy": (  # plan
        None, [c_void_p],
        'Frees a plan.'),
    "kugel_sht_shape": (  # plan, nalm, npix, n_alm_sets, n_maps
        STATUS, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p],
        "The numbers that fix the shapes of a plan's arrays."),
    "kugel_sht_limit_memory": (  # ctx, bytes
        STATUS, [c_void_p, c_uint64],
        'Limits what plans made in a context from now on may hold on its device, those inside of smoothing and regridding too; opts.max_memory of a plan goes before it.'),
    "kugel_sht_memory": (  # plan, device_bytes, parts
        STATUS, [c_void_p, c_void_p, c_void_p],
        'What the plan holds on its device, and whether it works in parts.'),
    "kugel_sht_synthesis": (  # plan, alm, map, queue
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'Synthesis: map(p) = sum_lm a_lm Y_lm(theta_p, phi_p), for each set of the batch.'),
    "kugel_sht_synthesis_adjoint": (  # plan, map, alm, queue
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'Adjoint of synthesis: a_lm = sum_p map(p) conj(Y_lm(theta_p, phi_p)).'),
    "kugel_sht_analysis": (  # plan, map, alm, queue
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'Analysis: a_lm = sum_p w_p map(p) conj(Y_lm), then opts.iterations Jacobi refinements with the residual map.'),
    "kugel_sht_analysis_adjoint": (  # plan, alm, map, queue
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'Adjoint of analysis, iterations included.'),
    "kugel_sht_solve": (  # plan, map, alm, opts, stats
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), POINTER(kugel_solve_opts), POINTER(kugel_solve_stats)],
        'Least-squares analysis: the alm that minimise ||map - S alm||, by conjugate gradients (CGLS).'),
    "kugel_smooth": (  # ctx, opts, in, out
        STATUS, [c_void_p, POINTER(kugel_smooth_opts), POINTER(kugel_array), POINTER(kugel_array)],
        'Smooths maps by a Gaussian beam or a window: analysis, multiplication, synthesis.'),
    "kugel_alm_count": (  # lmax, mmax
        c_int64, [c_int64, c_int64],
        'Number of coefficients, (mmax + 1)(lmax + 1) - mmax (mmax + 1) / 2.'),
    "kugel_alm_index": (  # lmax, l, m
        c_int64, [c_int64, c_int64, c_int64],
        'Position of a_lm in its set: m (2 lmax + 1 - m) / 2 + l.'),
    "kugel_alm_lm": (  # lmax, index, l, m
        STATUS, [c_int64, c_int64, c_void_p, c_void_p],
        'Degree and order of the coefficient at `index`: the inverse of kugel_alm_index.'),
    "kugel_alm_lmax": (  # count, mmax
        c_int64, [c_int64, c_int64],
        'The lmax of a set of `count` coefficients.'),
    "kugel_alm_resize": (  # lmax, mmax, alm, lmax_out, mmax_out, out
        STATUS, [c_int64, c_int64, c_void_p, c_int64, c_int64, c_void_p],
        'Copies coefficients to another lmax and mmax: cuts what does not fit, fills what is missing with zeros.'),
    "kugel_alm_multiply": (  # ctx, lmax, mmax, alm, nfl, fl, out
        STATUS, [c_void_p, c_int64, c_int64, c_void_p, c_int64, c_void_p, c_void_p],
        "Multiplies by a window: out_lm = f_l a_lm (healpy's almxfl)."),
    "kugel_alm_cl": (  # ctx, lmax, mmax, alm1, alm2, lmax_out, cl
        STATUS, [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_int64, c_void_p],
        'Power spectrum of one set, or cross spectrum of two: C_l = 1/(2l+1) sum_m Re(a_lm conj(b_lm)), m = -l ... l.'),
    "kugel_alm_cl_all": (  # ctx, n, lmax, mmax, alm, lmax_out, cl
        STATUS, [c_void_p, c_int64, c_int64, c_int64, c_void_p, c_int64, c_void_p],
        'All auto and cross spectra of n sets, diagonals first as in healpy: for T, E, B: TT, EE, BB, TE, EB, TB.'),
    "kugel_beam_gauss": (  # fwhm, lmax, n, bl
        STATUS, [c_double, c_int64, c_int, c_void_p],
        "Window of a Gaussian beam: T exp(-l(l+1) s^2/2), E and B the same times exp(2 s^2), TE times exp(s^2), with s = fwhm / sqrt(8 ln 2) (healpy's gauss_beam and its polarised columns)."),
    "kugel_beam_to_window": (  # ctx, n, theta, beam, lmax, bl
        STATUS, [c_void_p, c_int64, c_void_p, c_void_p, c_int64, c_void_p],
        "Window of a beam profile: b_l = 2 pi int b(theta) P_l(cos theta) sin(theta) dtheta by the trapezium rule on the given angles (healpy's beam2bl)."),
    "kugel_beam_from_window": (  # ctx, lmax, bl, n, theta, beam
        STATUS, [c_void_p, c_int64, c_void_p, c_int64, c_void_p, c_void_p],
        "Profile of a window: b(theta) = sum_l (2l+1)/(4 pi) b_l P_l(cos theta) (healpy's bl2beam)."),
    "kugel_pixel_window": (  # ctx, nside, lmax, wl, wl_pol
        STATUS, [c_void_p, c_int64, c_int64, c_void_p, c_void_p],
        "HEALPix pixel window: w_l^2 is the average over all pixels of 4 pi/(2l+1) sum_m |w_lm|^2, where w_lm is the mean of Y_lm over the pixel; for polarisation the same with spin-2 harmonics whose frames are carried to the pixel's centre."),
    "kugel_alm_random": (  # ctx, opts, alm, first_bad
        STATUS, [c_void_p, POINTER(kugel_alm_random_opts), c_void_p, c_void_p],
        "Gaussian random alm with given spectra (healpy's synalm). a_l0 is real; Re and Im of the others have half the variance."),
    "kugel_rotation_from_euler": (  # psi, theta, phi, matrix
        STATUS, [c_double, c_double, c_double, c_void_p],
        "Matrix of Euler angles: psi about z, then theta about the fixed y axis, then phi about the fixed z axis (active); the angles of kugel_alm_rotate and of healpy's rotate_alm."),
    "kugel_rotation_to_euler": (  # matrix, psi, theta, phi
        STATUS, [c_void_p, c_void_p, c_void_p, c_void_p],
        'Euler angles of a matrix, the inverse of kugel_rotation_from_euler.'),
    "kugel_rotation_from_lonlat": (  # lon, lat, psi, matrix
        STATUS, [c_double, c_double, c_double, c_void_p],
        "Matrix that moves the direction (lon, lat) to the x axis and then turns by psi about it: healpy's rot=(lon, lat, psi)."),
    "kugel_rotation_from_coord": (  # from, to, matrix
        STATUS, [c_char, c_char, c_void_p],
        "Matrix from one celestial coordinate system to another: Galactic 'G', ecliptic J2000 'E', equatorial (ICRS/J2000) 'C', with the constants of HEALPix."),
    "kugel_rotation_multiply": (  # a, b, c
        STATUS, [c_void_p, c_void_p, c_void_p],
        'Product c = a b: first b, then a.'),
    "kugel_rotation_invert": (  # matrix, inverse
        STATUS, [c_void_p, c_void_p],
        'Inverse of a rotation, its transpose.'),
    "kugel_rotation_vectors": (  # ctx, matrix, n, in, out
        STATUS, [c_void_p, c_void_p, c_int64, c_void_p, c_void_p],
        'Rotates vectors.'),
    "kugel_rotation_angles": (  # ctx, matrix, n, theta, phi, theta_out, phi_out, psi_out
        STATUS, [c_void_p, c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p],
        'Rotates directions.'),
    "kugel_alm_rotate": (  # ctx, n, lmax, alm, psi, theta, phi
        STATUS, [c_void_p, c_int64, c_int64, c_void_p, c_double, c_double, c_double],
        "Rotates the field that alm stand for (healpy's rotate_alm): new field at R x = old field at x."),
    "kugel_healpix_fit_dipole": (  # ctx, nside, map, opts, monopole, dipole
        STATUS, [c_void_p, c_int64, c_void_p, POINTER(kugel_dipole_opts), c_void_p, c_void_p],
        'Least-squares fit of a constant and a dipole to a map; UNSEEN, NaN and infinite pixels do not count.'),
    "kugel_healpix_remove_dipole": (  # ctx, nside, map, opts, monopole, dipole
        STATUS, [c_void_p, c_int64, c_void_p, POINTER(kugel_dipole_opts), c_void_p, c_void_p],
        'Fits as kugel_healpix_fit_dipole and subtracts the result from all good pixels, those inside the cut too.'),
    "kugel_healpix_ring_weights": (  # ctx, nside, weight
        STATUS, [c_void_p, c_int64, c_void_p],
        'Ring weights: factors near 1 on the pixel area, of least sum of (nphi w)^2, with which the mean of each Legendre polynomial of degree 1 to L over the pixels is 0.'),
    "kugel_healpix_pixel_weights": (  # ctx, nside, weight
        STATUS, [c_void_p, c_int64, c_void_p],
        'Pixel weights: factors near 1 on the pixel area with which the mean of each Y_lm of degree 1 to 3 nside (4 at nside 2) over the pixels is 0: analysis is then exact for lmax up to 1.5 nside.'),
    "kugel_banded_create": (  # ctx, opts, out
        STATUS, [c_void_p, POINTER(kugel_banded_opts), c_void_p],
        'Plans products and solves with one matrix, or with one for each system; factorises in double-double.'),
    "kugel_banded_destroy": (  # plan
        None, [c_void_p],
        'Frees a plan.'),
    "kugel_banded_get_info": (  # plan, info
        STATUS, [c_void_p, POINTER(kugel_banded_info)],
        'What a plan found and is going to do.'),
    "kugel_banded_solve": (  # plan, in, out
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array)],
        'Solves A x = b for each system.'),
    "kugel_banded_product": (  # plan, in, out
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array)],
        'Computes A x for each system.'),
    "kugel_banded_solve_on": (  # plan, in, out, queue
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'kugel_banded_solve on a queue: with device arrays it returns once the work is given to the queue.'),
    "kugel_banded_product_on": (  # plan, in, out, queue
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'kugel_banded_product on a queue: with device arrays it returns once the work is given to the queue.'),
    "kugel_conv_create": (  # ctx, ndim, n, k, kernels, opts, out
        STATUS, [c_void_p, c_int, c_void_p, c_void_p, POINTER(kugel_array), POINTER(kugel_conv_opts), c_void_p],
        "Makes a plan, which holds the kernels' spectra: data are cut into tiles of a length that costs least."),
    "kugel_conv_destroy": (  # plan
        None, [c_void_p],
        'Frees a plan.'),
    "kugel_conv_shape": (  # plan, m
        STATUS, [c_void_p, c_void_p],
        'The lengths of the results.'),
    "kugel_conv_execute": (  # plan, in, out, queue
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'Convolves.'),
    "kugel_fits_open": (  # ctx, path, opts, out
        STATUS, [c_void_p, c_char_p, POINTER(kugel_fits_opts), c_void_p],
        "Opens a FITS file (also gzip-compressed) and reads one HDU's header."),
    "kugel_fits_close": (  # file
        None, [c_void_p],
        'Closes the file and frees its info.'),
    "kugel_fits_get_info": (  # file
        POINTER(kugel_fits_info), [c_void_p],
        'What the file holds.'),
    "kugel_fits_get_column": (  # file, column, out
        STATUS, [c_void_p, c_int64, POINTER(kugel_fits_column)],
        'Describes a data column.'),
    "kugel_fits_find_column": (  # file, name, column
        STATUS, [c_void_p, c_char_p, c_void_p],
        'Finds a column by its name (case does not matter) or its number from 0 in decimal digits.'),
    "kugel_fits_get_keyword": (  # file, keyword, text, size
        STATUS, [c_void_p, c_char_p, c_void_p, c_size_t],
        'The value of a header keyword as text, without quotes.'),
    "kugel_fits_read_maps": (  # file, ncolumns, columns, order, maps
        STATUS, [c_void_p, c_int64, c_void_p, c_int, POINTER(kugel_array)],
        'Reads whole-sky maps, one a column.'),
    "kugel_fits_read_values": (  # file, column, first, values
        STATUS, [c_void_p, c_int64, c_int64, POINTER(kugel_array)],
        'Reads values of one column as they lie in the file, first to last; bad values as in kugel_fits_read_maps if it is a map.'),
    "kugel_fits_read_pixels": (  # file, first, count, pixels
        STATUS, [c_void_p, c_int64, c_int64, c_void_p],
        "Pixel numbers of a partial map, in the file's ordering, to go with kugel_fits_read_values."),
    "kugel_fits_read_alm": (  # file, component, lmax, mmax, alm
        STATUS, [c_void_p, c_int64, c_int64, c_int64, POINTER(kugel_array)],
        'Reads a_lm.'),
    "kugel_fits_write_maps": (  # ctx, path, opts, maps
        STATUS, [c_void_p, c_char_p, POINTER(kugel_fits_write_opts), POINTER(kugel_array)],
        'Writes HEALPix maps as one binary table that every HEALPix library reads.'),
    "kugel_fits_writer_create": (  # ctx, path, opts, nside, ncolumns, out
        STATUS, [c_void_p, c_char_p, POINTER(kugel_fits_write_opts), c_int64, c_int64, c_void_p],
        'Begins a file like that of kugel_fits_write_maps, whose pixels are put later, in any order.'),
    "kugel_fits_writer_put": (  # writer, column, first, values
        STATUS, [c_void_p, c_int64, c_int64, POINTER(kugel_array)],
        'Puts pixels [first, first + n) of a map.'),
    "kugel_fits_writer_close": (  # writer, keep
        STATUS, [c_void_p, c_int],
        'Closes the writer and moves the file to its place.'),
    "kugel_fits_write_alm": (  # ctx, path, opts, lmax, mmax, alm
        STATUS, [c_void_p, c_char_p, POINTER(kugel_fits_write_opts), c_int64, c_int64, POINTER(kugel_array)],
        'Writes a_lm: one HDU a component with columns INDEX = l^2+l+m+1, REAL, IMAG, as healpy and HEALPix do.'),
    "kugel_cl_inspect": (  # ctx, path, out
        STATUS, [c_void_p, c_char_p, POINTER(kugel_cl_info)],
        "What a file with power spectra holds: a FITS table or image (one row a multipole), or text (numbers in columns, the first being l when it counts up by one; # starts a comment; CAMB's files are such)."),
    "kugel_cl_read": (  # ctx, path, is_dl, nspectra, lmax, cl
        STATUS, [c_void_p, c_char_p, c_int, c_int64, c_int64, c_void_p],
        'Reads power spectra.'),
    "kugel_cl_write": (  # ctx, path, opts, nspectra, lmax, cl
        STATUS, [c_void_p, c_char_p, POINTER(kugel_fits_write_opts), c_int64, c_int64, c_void_p],
        'Writes power spectra: text (l, then one column each, 17 digits) if the name ends in ".txt", ".dat" or ".csv", else a FITS table.'),
    "kugel_npy_inspect": (  # ctx, path, out
        STATUS, [c_void_p, c_char_p, POINTER(kugel_npy_info)],
        'Reads the header of a NPY file, versions 1 to 3.'),
    "kugel_npy_read": (  # ctx, path, array
        STATUS, [c_void_p, c_char_p, POINTER(kugel_array)],
        'Reads a NPY file into C order.'),
    "kugel_npy_write": (  # ctx, path, overwrite, array
        STATUS, [c_void_p, c_char_p, c_int, POINTER(kugel_array)],
        'Writes a NPY file (version 1, little-endian, C order).'),
    "kugel_plot_healpix": (  # ctx, opts, order, map, out
        STATUS, [c_void_p, POINTER(kugel_plot_opts), c_int, POINTER(kugel_array), c_void_p],
        'Draws a HEALPix map.'),
    "kugel_plot_latlon": (  # ctx, opts, theta, phi0, map, out
        STATUS, [c_void_p, POINTER(kugel_plot_opts), c_void_p, c_double, POINTER(kugel_array), c_void_p],
        'Draws an array of latitude rows (row 0 northernmost, equal longitude steps).'),
    "kugel_plot_function": (  # ctx, opts, fn, user, out
        STATUS, [c_void_p, POINTER(kugel_plot_opts), kugel_plot_fn, c_void_p, c_void_p],
        'Draws a function of direction.'),
    "kugel_plot_cl": (  # ctx, opts, nspectra, lmax, cl, out
        STATUS, [c_void_p, POINTER(kugel_plot_cl_opts), c_int64, c_int64, c_void_p, c_void_p],
        'Draws power spectra against the multipole: a faint dot for each l from 2 on, and a line through averages over narrow ranges of l (3 per cent; on a linear axis of l, 1/250 of it).'),
    "kugel_picture_destroy": (  # picture
        None, [c_void_p],
        'Frees a picture.'),
    "kugel_picture_pixels": (  # picture, width, height
        c_void_p, [c_void_p, c_void_p, c_void_p],
        "The picture's pixels: RGBA, 8 bits each, rows from the top, not premultiplied."),
    "kugel_picture_map_box": (  # picture, box
        STATUS, [c_void_p, c_void_p],
        'Where the map itself lies in the picture.'),
    "kugel_picture_range": (  # picture, ends
        STATUS, [c_void_p, c_void_p],
        'The values at the ends of the colour bar.'),
    "kugel_picture_encode": (  # picture, bytes, size
        STATUS, [c_void_p, c_void_p, c_void_p],
        'Encodes the picture as PNG in memory, for notebooks and web servers.'),
    "kugel_picture_write": (  # picture, path, overwrite
        STATUS, [c_void_p, c_char_p, c_int],
        'Writes the picture as a PNG file.'),
    "kugel_colors_name": (  # index
        c_char_p, [c_int],
        'Names of the colour maps, for help texts and menus.'),
    "kugel_colors_at": (  # name, t, rgb
        STATUS, [c_char_p, c_double, c_void_p],
        'A colour of a colour map.'),
    "kugel_radial_create": (  # ctx, opts, out
        STATUS, [c_void_p, POINTER(kugel_radial_opts), c_void_p],
        'Plans the convolution of maps of one grid with one kernel.'),
    "kugel_radial_destroy": (  # plan
        None, [c_void_p],
        'Frees a plan.'),
    "kugel_radial_get_info": (  # plan, info
        STATUS, [c_void_p, POINTER(kugel_radial_info)],
        'What a plan is going to do.'),
    "kugel_radial_evaluate": (  # plan, n, angles, values
        STATUS, [c_void_p, c_int64, c_void_p, c_void_p],
        'The kernel as normalised and cut off.'),
    "kugel_radial_coefficients": (  # plan, lmax, b
        STATUS, [c_void_p, c_int64, c_void_p],
        'The Legendre coefficients b_l = 2 pi int K(a) P_l(cos a) sin a da of the kernel as normalised and cut off.'),
    "kugel_radial_execute": (  # plan, in, out
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array)],
        'Convolves maps.'),
    "kugel_radial_stream": (  # plan, opts
        STATUS, [c_void_p, POINTER(kugel_radial_stream_opts)],
        'Convolves a map, or a pair with a spin, that need not fit into memory.'),
    "kugel_radial_adjoint": (  # plan, in, out
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array)],
        'The transpose of kugel_radial_execute without normalise_mask: s_j = w_j sum_i K(angle_ij) f_i.'),
    "kugel_radial_ellipse": (  # major, minor, n, weight, distance, bearing
        STATUS, [c_double, c_double, c_int64, c_void_p, c_void_p, c_void_p],
        'Parts of an elliptical Gaussian beam: circular ones of FWHM `minor` along the major axis, by Gauss-Hermite quadrature.'),
    "kugel_radial_bank_create": (  # ctx, n, opts, out
        STATUS, [c_void_p, c_int, c_void_p, c_void_p],
        'Plans convolutions of a map with n kernels.'),
    "kugel_radial_bank_destroy": (  # bank
        None, [c_void_p],
        'Frees a plan.'),
    "kugel_radial_bank_plan": (  # bank, i
        c_void_p, [c_void_p, c_int],
        'The plan of one kernel, which lives as long as the bank.'),
    "kugel_radial_bank_execute": (  # bank, in, out
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array)],
        'Convolves maps with all kernels.'),
    "kugel_grid_lmax": (  # grid
        c_int64, [c_void_p],
        'The highest multipole that a grid is made for: to which analysis on it is exact (on HEALPix: 2 nside, approximately) and its rings resolve.'),
    "kugel_regrid_create": (  # ctx, opts, out
        STATUS, [c_void_p, POINTER(kugel_regrid_opts), c_void_p],
        'Plans regridding.'),
    "kugel_regrid_destroy": (  # plan
        None, [c_void_p],
        'Frees a plan.'),
    "kugel_regrid_shape": (  # plan, lmax, npix_in, npix_out
        STATUS, [c_void_p, c_void_p, c_void_p, c_void_p],
        "The numbers that fix the shapes of a plan's arrays."),
    "kugel_regrid_execute": (  # plan, in, out, queue
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'Regrids maps.'),
    "kugel_regrid_adjoint": (  # plan, out, in, queue
        STATUS, [c_void_p, POINTER(kugel_array), POINTER(kugel_array), c_void_p],
        'The adjoint of kugel_regrid_execute as a linear map without masks, for gradients.'),
    "kugel_filter_matched": (  # lmax, beam, power, psi, sigma
        STATUS, [c_int64, c_void_p, c_void_p, c_void_p, c_void_p],
        'The matched filter: of all linear filters that give a source of height 1 the value 1 at its centre, the one of the least variance: psi_l = (b_l / P_l) / (sum_k (2k + 1) / 4 pi tau_k b_k / P_k), tau_l = b_l / b(0), b(0) = sum_l (2l + 1) / 4 pi b_l.'),
    "kugel_sources_find": (  # ctx, opts, map, filtered, max, out, n
        STATUS, [c_void_p, POINTER(kugel_sources_opts), c_void_p, c_void_p, c_int64, POINTER(kugel_source), c_void_p],
        'Peaks of a filtered map: pixels above the threshold and above their neighbours, all of them observed, and not within half a FWHM of a higher one.'),
}


def bind(library, status_check):
    """Gives the functions of a loaded library their prototypes; `status_check` is called with each status returned.
    What an older library lacks raises AttributeError when it is used."""
    for name, (result, arguments, doc) in FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            continue
        function.argtypes = arguments
        function.restype = c_int if result is STATUS else result
        function.__doc__ = doc
        if result is STATUS:
            function.errcheck = status_check

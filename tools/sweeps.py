#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lint: every public function that allocates runs in a test in which each of its allocations fails once.

usage: tools/sweeps.py [root]

A function counts as swept if its name stands in a test's function that calls kugel__fault_alloc (or kugel__fault_device), or in one
that such a function names, in the same file or a header that it includes. What does not allocate is listed here by name.
"""
import pathlib
import re
import sys

ALLOCATE_NOTHING = set("""
kugel_alm_cl kugel_alm_cl_all kugel_alm_index kugel_alm_lm kugel_alm_lmax kugel_alm_multiply kugel_alm_resize
kugel_ball_rows kugel_comm_reduce kugel_banded_get_info kugel_nufft_get_info kugel_sht_points_get_info kugel_points_deflect kugel_beam_from_window kugel_beam_gauss kugel_beam_to_window kugel_plot_colors_at kugel_plot_colors_name
kugel_device_fill kugel_device_memory kugel_fft_get_info kugel_fft_grid kugel_kernels_get_info kugel_fft_gain kugel_filter_matched kugel_fits_get_column
kugel_fits_get_info kugel_fits_get_keyword kugel_get_num_threads kugel_grid_lmax kugel_grid_nrings kugel_grid_rings
kugel_healpix_ang2pix kugel_healpix_boundaries kugel_healpix_interpolate kugel_healpix_interpolation
kugel_healpix_max_pixel_radius kugel_healpix_neighbours kugel_healpix_npix kugel_healpix_nside kugel_healpix_pix2ang
kugel_healpix_pix2ring kugel_healpix_pix2vec kugel_healpix_pix2xyf kugel_healpix_remove_dipole kugel_healpix_rings
kugel_healpix_ud_grade kugel_healpix_vec2pix kugel_healpix_xyf2pix kugel_isa kugel_jwt_get_info kugel_jwt_grid kugel_plot_map_box kugel_plot_pixels
kugel_plot_range kugel_pixset_pixels kugel_radial_bank_plan kugel_radial_ellipse kugel_radial_evaluate
kugel_radial_get_info kugel_regrid_get_info kugel_rings_npix kugel_rotation_angles kugel_rotation_from_coord
kugel_rotation_from_euler kugel_rotation_from_lonlat kugel_rotation_invert kugel_rotation_multiply kugel_rotation_to_euler
kugel_rotation_vectors kugel_ctx_limit_memory kugel_volume_get_info kugel_dif_twist kugel_status_name kugel_status_text kugel_version
kugel_comm_agree kugel_comm_barrier kugel_comm_bcast kugel_comm_describe kugel_comm_launched kugel_layout_count kugel_layout_runs kugel_sht_orders
kugel_psf_shape kugel_psf_text kugel_zernike_index kugel_zernike_nm kugel_worland_boundary kugel_worland_stencil
""".split())

# The same code allocates for both.
AS_ANOTHER = {"kugel_comm_adopt": "kugel_comm_open", "kugel_queue_wrap": "kugel_queue_create", "kugel_banded_product_on": "kugel_banded_product",
              "kugel_banded_solve_on": "kugel_banded_solve"}

FUNCTION = re.compile(r"^(?!\s|#|typedef|struct|enum|extern)[^\n;=]*?\b(\w+)\([^;{]*?\)\s*\n?\{", re.M)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def bodies(text):
    """{name: body} of the functions of a C file, whose braces end in column 0; main case by case."""
    found = {}
    for match in FUNCTION.finditer(text):
        body = text[match.end():text.find("\n}", match.end())]
        if match.group(1) == "main":
            for i, case in enumerate(re.split(r"\bCASE\(", body)):
                found[f"main {i}"] = case
        else:
            found[match.group(1)] = body
    return found


def swept_in(path, tests):
    """Words within reach of the fault injection of one test program."""
    text = path.read_text()
    functions = bodies(text)
    for header in re.findall(r'#include "([^"]+)"', text):
        if (tests / header).exists():
            functions = {**bodies((tests / header).read_text()), **functions}
    todo = [name for name, body in functions.items() if "kugel__fault_alloc" in body or "kugel__fault_device" in body]
    for name in list(todo):  # what is handed to a sweep is swept: sweep(write_maps)
        for body in functions.values():
            for arguments in re.findall(rf"\b{name}\(([^;]*)\)", body):
                todo += [n for n in WORD.findall(arguments) if n in functions]
    reached, seen = set(), set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            words = set(WORD.findall(functions[name]))
            reached |= words
            todo += [n for n in words if n in functions]
    return reached


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    tests = root / "tests"
    public = set((tests / "abi/symbols.txt").read_text().split())
    swept = set()
    for path in sorted(tests.rglob("*.c")):
        if "fuzz" not in path.parts:
            swept |= swept_in(path, tests)
    swept |= {name for name, other in AS_ANOTHER.items() if other in swept}
    problems = [f"{name} is in no sweep of allocations: add it to one, or to ALLOCATE_NOTHING of tools/sweeps.py"
                for name in sorted(public - swept - ALLOCATE_NOTHING)]
    problems += [f"{name} is no public function: drop it from ALLOCATE_NOTHING" for name in sorted(ALLOCATE_NOTHING - public)]
    print("\n".join(problems) or f"{len(public)} public functions, {len(public & swept)} in sweeps")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())

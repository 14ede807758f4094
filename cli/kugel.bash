# SPDX-License-Identifier: BSD-3-Clause
# bash completion for kugel
_kugel()
{
  local at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} options=
  # bash splits --name=value at the sign
  if [ "$word" = = ]; then word=; elif [ "${COMP_WORDS[at-1]}" = = ]; then ((at--)); fi
  local before=${COMP_WORDS[at-1]} commands="smooth filter sources wavelet map2alm alm2map anafast spectra mask synfast at lens reorder udgrade regrid rotate ball fft nufft convolve convert mip view deconvolve psf plot plan info bench"
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "--version --help help $commands" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
  help) COMPREPLY=($(compgen -W "$commands" -- "$word")); return ;;
  smooth)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -w | --weights) COMPREPLY=($(compgen -W "equal ring pixel" -- "$word")); return ;;
    -m | --method) COMPREPLY=($(compgen -W "harmonic direct auto rings arkcos" -- "$word")); return ;;
    -o | --order) COMPREPLY=($(compgen -W "input ring nested" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --fwhm --sigma --beam --lmax --iter --weights --method --normalise-mask --no-normalise --columns --no-pol --order --plot --radius --cut-rms --nest --ring --partial --device --mem --each --ext --task --resume" ;;
  filter)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -k | --kernel) COMPREPLY=($(compgen -W "mexican-hat matched top-hat" -- "$word")); return ;;
    -m | --method) COMPREPLY=($(compgen -W "auto direct harmonic rings arkcos" -- "$word")); return ;;
    -o | --order) COMPREPLY=($(compgen -W "input ring nested" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --kernel --width --fwhm --beam --cl --noise --lmax --method --normalise-mask --columns --order --plot --radius --cut-rms --nest --ring --partial --device --mem --each --ext --task --resume" ;;
  sources)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -k | --kernel) COMPREPLY=($(compgen -W "mexican-hat matched none" -- "$word")); return ;;
    --coord) COMPREPLY=($(compgen -W "GE GC EG EC CG CE" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --fwhm --threshold --kernel --mask --fixed-fwhm --coord --columns --filtered --plot --radius --cut-rms --nest --ring --partial --device --mem --each --ext --task --resume" ;;
  wavelet)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --rule) COMPREPLY=($(compgen -W "adaptive hard soft" -- "$word")); return ;;
    -o | --order) COMPREPLY=($(compgen -W "input ring nested" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --denoise --noise --noise-map --noise-cl --rule --threshold --scales --per-octave --coefficients --lmax --iter --columns --order --plot --nest --ring --partial --device --mem --each --ext --task --resume" ;;
  map2alm)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -w | --weights) COMPREPLY=($(compgen -W "equal ring pixel" -- "$word")); return ;;
    --engine) COMPREPLY=($(compgen -W "recurrence connection" -- "$word")); return ;;
    --grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --lmax --mmax --iter --tolerance --weights --lsq --steps --columns --no-pol --engine --f32 --grid --south-first --lon0 --force --nest --ring --device --mem --each --ext --task --resume" ;;
  alm2map)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -o | --order) COMPREPLY=($(compgen -W "ring nested" -- "$word")); return ;;
    --to-grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    --engine) COMPREPLY=($(compgen -W "recurrence connection" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --nside --order --f32 --to-grid --rows --engine --nest --ring --partial --device --mem --lmax --fwhm --pixwin --der1 --no-pol --each --ext --task --resume" ;;
  anafast)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -r | --remove) COMPREPLY=($(compgen -W "nothing monopole dipole" -- "$word")); return ;;
    -w | --weights) COMPREPLY=($(compgen -W "equal ring pixel" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --cross --mask --remove --gal-cut --lmax --iter --tolerance --weights --columns --no-pol --alm --plot --nest --ring --device --mem --each --ext --task --resume" ;;
  spectra)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --window) COMPREPLY=($(compgen -W "c1 c2 gauss" -- "$word")); return ;;
    --pure) COMPREPLY=($(compgen -W "none e b eb" -- "$word")); return ;;
    -w | --weights) COMPREPLY=($(compgen -W "equal ring pixel" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --cross --mask --apodise --window --width --edges --dl --lmax --lmax-mask --beam --cross-beam --pixwin --pure --beyond-mask --errors --iter --weights --columns --windows --plot --device --mem --nest --ring --each --ext --task --resume" ;;
  mask)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --window) COMPREPLY=($(compgen -W "c1 c2 gauss" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --seen --apodise --window --distance --limit --columns --plot --nest --ring --partial --each --ext --task --resume" ;;
  synfast)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -o | --order) COMPREPLY=($(compgen -W "ring nested" -- "$word")); return ;;
    --to-grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    --engine) COMPREPLY=($(compgen -W "recurrence connection" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --nside --order --f32 --to-grid --rows --engine --nest --ring --partial --device --mem --seed --index --count --lmax --fwhm --pixwin --no-pol --dl --zero-indefinite --unit --alm --each --ext --task --resume" ;;
  at)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --coord) COMPREPLY=($(compgen -W "GE GC EG EC CG CE" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --columns --lonlat --coord --exact --iter --lmax --eps --no-pol --device" ;;
  lens)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --nside --adjoint --lmax --eps --no-pol --device" ;;
  reorder)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -t | --to) COMPREPLY=($(compgen -W "other ring nested" -- "$word")); return ;;
    --coordsys) COMPREPLY=($(compgen -W "G E C" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --to --columns --coordsys --unit --nest --ring --partial --device --each --ext --task --resume" ;;
  udgrade)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -o | --order) COMPREPLY=($(compgen -W "input ring nested" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --nside --columns --order --power --pessimistic --nest --ring --partial --device --each --ext --task --resume" ;;
  regrid)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -o | --order) COMPREPLY=($(compgen -W "ring nested" -- "$word")); return ;;
    --to-grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    --engine) COMPREPLY=($(compgen -W "recurrence connection" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --from-grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --nside --order --f32 --to-grid --rows --engine --nest --ring --partial --device --mem --from-grid --south-first --lon0 --columns --winds --lmax --iter --fwhm --force --least-good --name --unit --each --ext --task --resume" ;;
  rotate)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --from) COMPREPLY=($(compgen -W "G E C" -- "$word")); return ;;
    -t | --to) COMPREPLY=($(compgen -W "G E C" -- "$word")); return ;;
    -w | --weights) COMPREPLY=($(compgen -W "equal ring pixel" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --from --to --euler --lmax --iter --tolerance --weights --points --nside --eps --columns --no-pol --nest --ring --partial --device --mem --each --ext --task --resume" ;;
  ball)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --truncation) COMPREPLY=($(compgen -W "rhomboidal triangular trapezoidal" -- "$word")); return ;;
    --type) COMPREPLY=($(compgen -W "chebyshev legendre cylinder-energy sphere-energy" -- "$word")); return ;;
    -a | --axis) COMPREPLY=($(compgen -W "l m n" -- "$word")); return ;;
    -c | --cut) COMPREPLY=($(compgen -W "equatorial meridional surface" -- "$word")); return ;;
    --component) COMPREPLY=($(compgen -W "r theta phi" -- "$word")); return ;;
    -p | --projection) COMPREPLY=($(compgen -W "mollweide orthographic" -- "$word")); return ;;
    -m | --colors) COMPREPLY=($(compgen -W "planck planck_r diverging diverging_r viridis viridis_r magma magma_r inferno inferno_r plasma plasma_r ice ice_r relief relief_r grey grey_r phase phase_r" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    ball) COMPREPLY=($(compgen -W "synthesis analysis spectrum plot" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --vector --spin --lmax --mmax --n --truncation --dmax --type --nr --ntheta --nphi --axis --cut --component --radius --longitude --projection --colors --min --max --title --unit --size --device --mem" ;;
  fft)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -k | --kind) COMPREPLY=($(compgen -W "c2c r2c dct1 dct2 dct3 dct4 dst1 dst2 dst3 dst4" -- "$word")); return ;;
    --norm) COMPREPLY=($(compgen -W "backward ortho forward" -- "$word")); return ;;
    -p | --precision) COMPREPLY=($(compgen -W "file f32 f64 dd half" -- "$word")); return ;;
    --effort) COMPREPLY=($(compgen -W "estimate measure" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --kind --inverse --axes --norm --length --precision --effort --device --mem --print-kernel --shape" ;;
  nufft)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -t | --type) COMPREPLY=($(compgen -W "1 2 3" -- "$word")); return ;;
    -s | --sign) COMPREPLY=($(compgen -W "default plus minus" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --type --modes --frequencies --eps --sign --fft-order --period" ;;
  convolve)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -m | --mode) COMPREPLY=($(compgen -W "same full valid" -- "$word")); return ;;
    -b | --boundary) COMPREPLY=($(compgen -W "zero replicate reflect periodic unknown" -- "$word")); return ;;
    --nan) COMPREPLY=($(compgen -W "refuse zero keep" -- "$word")); return ;;
    -t | --dtype) COMPREPLY=($(compgen -W "keep u8 i8 u16 i16 u32 i32 f16 f32 f64" -- "$word")); return ;;
    -p | --precision) COMPREPLY=($(compgen -W "f32 f64" -- "$word")); return ;;
    --plan) COMPREPLY=($(compgen -W "auto resident tiles dif pencil" -- "$word")); return ;;
    --compress) COMPREPLY=($(compgen -W "auto none deflate lzw packbits zstd blosc lz4" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --mode --boundary --correlate --normalise --centre --nan --depths --dtype --precision --plan --scratch --compress --channel --any-voxel --mem --resume --ranks --ext --task --device" ;;
  convert)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    -t | --dtype) COMPREPLY=($(compgen -W "keep u8 i8 u16 i16 u32 i32 f16 f32 f64" -- "$word")); return ;;
    --compress) COMPREPLY=($(compgen -W "auto none deflate lzw packbits zstd blosc lz4" -- "$word")); return ;;
    --zarr) COMPREPLY=($(compgen -W "0.5 0.4" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --ext --task --resume --dtype --compress --level --channel --time --crop --chunk --scale --zarr" ;;
  mip)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -a | --axis) COMPREPLY=($(compgen -W "xyz z y x" -- "$word")); return ;;
    --colors) COMPREPLY=($(compgen -W "planck planck_r diverging diverging_r viridis viridis_r magma magma_r inferno inferno_r plasma plasma_r ice ice_r relief relief_r grey grey_r phase phase_r" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --axis --channel --time --crop --slice --min --max --gamma --colors --width --title --voxel --scale --task --resume" ;;
  view)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --columns --nside --channel --time --size --title --voxel --nest --ring" ;;
  deconvolve)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --method) COMPREPLY=($(compgen -W "rl biggs shb tv wiener tikhonov landweber isra" -- "$word")); return ;;
    --background) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    -b | --boundary) COMPREPLY=($(compgen -W "unknown zero replicate reflect periodic" -- "$word")); return ;;
    --plan) COMPREPLY=($(compgen -W "auto halo global" -- "$word")); return ;;
    -t | --dtype) COMPREPLY=($(compgen -W "keep u8 i8 u16 i16 u32 i32 f16 f32 f64" -- "$word")); return ;;
    -p | --precision) COMPREPLY=($(compgen -W "f32 f64" -- "$word")); return ;;
    --compress) COMPREPLY=($(compgen -W "auto none deflate lzw packbits zstd blosc lz4" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --method --centre --depths --iter --tol --discrepancy --lambda --background --offset --saturation --mask --boundary --mem --exact --scratch --plan --dtype --precision --compress --channel --any-voxel --ext --task --resume --device" ;;
  psf)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -t | --dtype) COMPREPLY=($(compgen -W "f32 f64" -- "$word")); return ;;
    psf) COMPREPLY=($(compgen -W "bw gl rw gauss confocal two-photon sheet beads prepare info" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --na --wavelength --excitation --voxel --shape --image --index --sample-index --depth --pinhole --sheet --sigma --snr --to-voxel --background --energy --dtype" ;;
  plot)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -p | --projection) COMPREPLY=($(compgen -W "mollweide orthographic gnomonic cartesian" -- "$word")); return ;;
    -s | --scale) COMPREPLY=($(compgen -W "linear log asinh histogram" -- "$word")); return ;;
    -m | --colors) COMPREPLY=($(compgen -W "planck planck_r diverging diverging_r viridis viridis_r magma magma_r inferno inferno_r plasma plasma_r ice ice_r relief relief_r grey grey_r phase phase_r" -- "$word")); return ;;
    --coord) COMPREPLY=($(compgen -W "GE GC EG EC CG CE" -- "$word")); return ;;
    --grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    --task) COMPREPLY=($(compgen -W "auto" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --column --projection --scale --colors --min --max --percentile --symmetric --title --unit --size --center --roll --coord --geo --half --reso --graticule --no-graticule --no-labels --no-bar --smooth-pixels --transparent --grid --nest --ring --each --ext --task --resume" ;;
  plan)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    -k | --kind) COMPREPLY=($(compgen -W "r2c c2c" -- "$word")); return ;;
    --dtype) COMPREPLY=($(compgen -W "f32 f64" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --nside --lmax --fft --kind --dtype --ranks --hosts --gpu --polarised --iter --alone --latency --peer --inside --outside" ;;
  info)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --stats --ranks" ;;
  bench)
    case $before in
    --progress) COMPREPLY=($(compgen -W "auto bar json none" -- "$word")); return ;;
    --device) COMPREPLY=($(compgen -W "cpu auto cuda:0 opencl:0" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --progress --quiet --help --seconds --ranks --device --mem" ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -o bashdefault -F _kugel kugel

# SPDX-License-Identifier: BSD-3-Clause
# bash completion for kugel
_kugel()
{
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "--version --help help smooth filter sources wavelet map2alm alm2map anafast synfast reorder udgrade regrid rotate fft plot info bench" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
  smooth)
    case $before in
    --weights) COMPREPLY=($(compgen -W "equal ring pixel" -- "$word")); return ;;
    --method) COMPREPLY=($(compgen -W "harmonic direct auto rings arkcos" -- "$word")); return ;;
    --order) COMPREPLY=($(compgen -W "input ring nested" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --fwhm --sigma --beam --lmax --iter --weights --method --normalise-mask --columns --no-pol --order --plot --device --mem" ;;
  filter)
    case $before in
    --kernel) COMPREPLY=($(compgen -W "mexican-hat matched top-hat" -- "$word")); return ;;
    --method) COMPREPLY=($(compgen -W "auto direct harmonic rings arkcos" -- "$word")); return ;;
    --order) COMPREPLY=($(compgen -W "input ring nested" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --kernel --width --fwhm --beam --cl --noise --lmax --method --normalise-mask --columns --order --plot --device --mem" ;;
  sources)
    case $before in
    --kernel) COMPREPLY=($(compgen -W "mexican-hat matched none" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --fwhm --threshold --kernel --mask --fixed-fwhm --columns --filtered --plot" ;;
  wavelet)
    case $before in
    --order) COMPREPLY=($(compgen -W "input ring nested" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --scales --denoise --soft --coefficients --lmax --iter --columns --order --plot --device --mem" ;;
  map2alm)
    case $before in
    --weights) COMPREPLY=($(compgen -W "equal ring pixel" -- "$word")); return ;;
    --grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --lmax --mmax --iter --weights --lsq --steps --columns --no-pol --f32 --grid --device --mem" ;;
  alm2map)
    case $before in
    --order) COMPREPLY=($(compgen -W "ring nested" -- "$word")); return ;;
    --to-grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --nside --order --f32 --to-grid --rows --device --mem --lmax --fwhm --pixwin --der1 --no-pol" ;;
  anafast)
    case $before in
    --remove) COMPREPLY=($(compgen -W "nothing monopole dipole" -- "$word")); return ;;
    --weights) COMPREPLY=($(compgen -W "equal ring pixel" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --cross --mask --remove --gal-cut --lmax --iter --weights --columns --no-pol --alm --plot --device --mem" ;;
  synfast)
    case $before in
    --order) COMPREPLY=($(compgen -W "ring nested" -- "$word")); return ;;
    --to-grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --nside --order --f32 --to-grid --rows --device --mem --seed --lmax --fwhm --pixwin --no-pol --dl --zero-indefinite --unit --alm" ;;
  reorder)
    case $before in
    --to) COMPREPLY=($(compgen -W "other ring nested" -- "$word")); return ;;
    --coordsys) COMPREPLY=($(compgen -W "G E C" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --to --columns --coordsys --unit" ;;
  udgrade)
    case $before in
    --order) COMPREPLY=($(compgen -W "input ring nested" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --nside --columns --order --power --pessimistic" ;;
  regrid)
    case $before in
    --order) COMPREPLY=($(compgen -W "ring nested" -- "$word")); return ;;
    --to-grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    --from-grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --nside --order --f32 --to-grid --rows --device --mem --from-grid --columns --winds --lmax --iter --fwhm --least-good --name --unit" ;;
  rotate)
    case $before in
    --from) COMPREPLY=($(compgen -W "G E C" -- "$word")); return ;;
    --to) COMPREPLY=($(compgen -W "G E C" -- "$word")); return ;;
    --weights) COMPREPLY=($(compgen -W "equal ring pixel" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --from --to --euler --lmax --iter --weights --columns --no-pol --device --mem" ;;
  fft)
    case $before in
    --kind) COMPREPLY=($(compgen -W "c2c r2c dct1 dct2 dct3 dct4 dst1 dst2 dst3 dst4" -- "$word")); return ;;
    --norm) COMPREPLY=($(compgen -W "backward ortho forward" -- "$word")); return ;;
    --precision) COMPREPLY=($(compgen -W "file f32 f64 dd half" -- "$word")); return ;;
    --extent) COMPREPLY=($(compgen -W "full same valid" -- "$word")); return ;;
    --effort) COMPREPLY=($(compgen -W "estimate measure" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --kind --inverse --axes --norm --length --precision --convolve --correlate --extent --circular --effort --device --print-kernel --shape" ;;
  plot)
    case $before in
    --projection) COMPREPLY=($(compgen -W "mollweide orthographic gnomonic cartesian" -- "$word")); return ;;
    --scale) COMPREPLY=($(compgen -W "linear log asinh histogram" -- "$word")); return ;;
    --grid) COMPREPLY=($(compgen -W "gauss cc fejer1 fejer2 dh mw lobatto octahedral" -- "$word")); return ;;
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --column --projection --scale --colors --min --max --percentile --symmetric --title --unit --size --center --roll --coord --geo --half --reso --graticule --no-graticule --no-labels --no-bar --smooth-pixels --transparent --grid" ;;
  info)
    case $before in
    esac
    options="--threads --json --dry-run --overwrite --quiet --help" ;;
  bench)
    case $before in
    esac
    options="--threads --json --dry-run --overwrite --quiet --help --seconds --device --mem" ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -o bashdefault -F _kugel kugel

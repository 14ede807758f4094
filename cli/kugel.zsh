#compdef kugel
# SPDX-License-Identifier: BSD-3-Clause
# zsh completion for kugel
_kugel()
{
  local -a names
  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then
    names=(
      'smooth:smooth a map by a Gaussian beam or a window'
      'filter:bring out point sources or structure of one size'
      'sources:find point sources and write a catalogue'
      'wavelet:decompose a map into scales, denoise, recompose'
      'map2alm:spherical-harmonic coefficients of a map'
      'alm2map:map of spherical-harmonic coefficients'
      'anafast:power spectra of a map, or of two'
      'spectra:power spectra of masked maps\: bandpowers without the mask'\''s bias'
      'mask:apodised masks, and distances to masked pixels'
      'synfast:a random map with given power spectra'
      'at:values of coefficients or maps at the positions of a catalogue'
      'lens:maps of a sky seen through a lensing potential'
      'reorder:RING to NESTED ordering, or back'
      'udgrade:change nside by averaging or repeating pixels'
      'regrid:from one grid to another through a_lm'
      'rotate:rotate a map or a_lm, to other coordinates or by angles'
      'ball:transforms and pictures of fields in the full ball'
      'fft:Fourier, cosine and sine transforms of arrays'
      'nufft:Fourier transforms between points at any places and modes'
      'convolve:convolve stacks of images with a kernel'
      'convert:convert stacks of images between formats'
      'mip:draw maximum projections of a stack'
      'view:make a page to look at maps or stacks in a browser'
      'deconvolve:take the blur of a known PSF off images'
      'psf:compute or measure point spread functions of microscopes'
      'plot:draw a map as PNG'
      'plan:predict memory, time and traffic of a transform over processes'
      'info:describe a file, or Kugel and this machine'
      'bench:time a problem and check its result'
      'help:print the help of a command'
    )
    (( CURRENT == 2 )) && compadd -- --version --help
    _describe command names
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
  smooth)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-f --fwhm)'{-f+,--fwhm=}'[full width at half maximum of a Gaussian beam]:ANGLE:' \
      '(-s --sigma)'{-s+,--sigma=}'[standard deviation of a Gaussian beam, instead]:ANGLE:' \
      '(-b --beam)'{-b+,--beam=}'[beam window b_l (FITS or text), instead\: one column, or one each for T, E and B]:FILE:_files' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole; 3 nside - 1 when not given]:N:' \
      '(-i --iter)'{-i+,--iter=}'[refinements of the analysis]:N:' \
      '(-w --weights)'{-w+,--weights=}'[quadrature weights of the analysis]:value:(equal ring pixel)' \
      '(-m --method)'{-m+,--method=}'[direct\: the sum over pixels, which does not ring; rings\: the same by series along rings; auto\: whichever is the fastest; arkcos\: series as Elsner and Wandelt (2011) have them, for comparison]:value:(harmonic direct auto rings arkcos)' \
      '--normalise-mask[with --method direct, rings or auto\: unseen pixels do not count, instead of counting as zero]' \
      '--no-normalise[do not divide by what sums over pixels make of a constant]' \
      '(-c --columns)'{-c+,--columns=}'[columns by name or number with commas between, or all; I, Q, U where there are such, else the first]:LIST:' \
      '--no-pol[smooth I, Q and U as three scalar maps]' \
      '(-o --order)'{-o+,--order=}'[ordering of the output]:value:(input ring nested)' \
      '(-p --plot)'{-p+,--plot=}'[also draw the result (its first column) as PNG]:FILE:_files' \
      '(-r --radius)'{-r+,--radius=}'[sums over pixels\: leave out pixels farther than this]:ANGLE:' \
      '--cut-rms=[sums over pixels\: where --radius is not given, so far that smoothed white noise has this rms error relative to its rms; it also bounds the error of rings and auto]:X:' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory that may be used, such as 20G\: of the device, or of this machine, where sums over pixels then go from file to file ring by ring]:SIZE:' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  filter)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-k --kernel)'{-k+,--kernel=}'[matched\: the filter with the least noise for point sources, given beam and spectra]:value:(mexican-hat matched top-hat)' \
      '(-W --width)'{-W+,--width=}'[scale of the Mexican hat, radius of the top hat]:ANGLE:' \
      '(-f --fwhm)'{-f+,--fwhm=}'[beam of the map; for the Mexican hat, the scale that suits it\: fwhm / sqrt(8 ln 2)]:ANGLE:' \
      '(-b --beam)'{-b+,--beam=}'[beam window b_l (FITS or text), instead]:FILE:_files' \
      '--cl=[matched\: spectrum C_l of the sky without beam; the map'\''s own spectrum when not given]:FILE:_files' \
      '--noise=[with --cl\: rms of the noise of a pixel, in the map'\''s unit]:X:' \
      '(-l --lmax)'{-l+,--lmax=}'[matched\: highest multipole; 2 nside when not given]:N:' \
      '(-m --method)'{-m+,--method=}'[direct\: the sum over pixels, which does not ring]:value:(auto direct harmonic rings arkcos)' \
      '--normalise-mask[top hat\: divide by the filtered map of seen pixels, so that unseen ones do not count]' \
      '(-c --columns)'{-c+,--columns=}'[columns by name or number with commas between, or all]:LIST:' \
      '(-o --order)'{-o+,--order=}'[ordering of the output]:value:(input ring nested)' \
      '(-p --plot)'{-p+,--plot=}'[also draw the result (its first column) as PNG]:FILE:_files' \
      '(-r --radius)'{-r+,--radius=}'[sums over pixels\: leave out pixels farther than this]:ANGLE:' \
      '--cut-rms=[sums over pixels\: where --radius is not given, so far that smoothed white noise has this rms error relative to its rms; it also bounds the error of rings and auto]:X:' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory that may be used, such as 20G\: of the device, or of this machine, where sums over pixels then go from file to file ring by ring]:SIZE:' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  sources)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-f --fwhm)'{-f+,--fwhm=}'[full width at half maximum of a source in the map]:ANGLE:' \
      '(-t --threshold)'{-t+,--threshold=}'[lowest peak, in units of the filtered map'\''s rms]:N:' \
      '(-k --kernel)'{-k+,--kernel=}'[filter before peaks are sought; matched takes the map'\''s own spectrum for the noise'\''s]:value:(mexican-hat matched none)' \
      '--mask=[leave out peaks where this map is 0 or unseen]:FILE:_files' \
      '--fixed-fwhm[do not fit widths]' \
      '--coord=[positions in these systems too\: G, E and C for Galactic, ecliptic and equatorial, such as GC]:value:(GE GC EG EC CG CE)' \
      '(-c --columns)'{-c+,--columns=}'[the column, by name or number]:LIST:' \
      '--filtered=[also write the filtered map]:FILE:_files' \
      '(-p --plot)'{-p+,--plot=}'[also draw the filtered map as PNG, sources circled]:FILE:_files' \
      '(-r --radius)'{-r+,--radius=}'[sums over pixels\: leave out pixels farther than this]:ANGLE:' \
      '--cut-rms=[sums over pixels\: where --radius is not given, so far that smoothed white noise has this rms error relative to its rms; it also bounds the error of rings and auto]:X:' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  wavelet)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-d --denoise)'{-d,--denoise}'[take noise off all scales but the coarsest; given by one of the next three, else estimated]' \
      '--noise=[rms of the noise of a pixel, white, such as 30uK]:X:' \
      '--noise-map=[map of the rms of each pixel'\''s noise]:FILE:_files' \
      '--noise-cl=[spectrum C_l of the noise in the map (FITS or text); it goes on as it ends]:FILE:_files' \
      '--rule=[adaptive\: multiply by 1 - noise / power about each place, and keep values above the threshold; hard\: keep values above the threshold; soft\: and take the threshold off them]:value:(adaptive hard soft)' \
      '(-t --threshold)'{-t+,--threshold=}'[in units of the scale'\''s noise; 4, with hard 3, with soft 1.5 when not given. Several with commas between, coarse to fine, the last for all finer scales]:LIST:' \
      '(-s --scales)'{-s+,--scales=}'[number of scales; down to multipole 8 when not given]:N:' \
      '--per-octave=[scales per octave; 1, with --denoise 2, when not given]:N:' \
      '--coefficients=[also write the scales, a column each, coarsest first]:FILE:_files' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole; 2 nside when not given]:N:' \
      '(-i --iter)'{-i+,--iter=}'[refinements of the analysis]:N:' \
      '(-c --columns)'{-c+,--columns=}'[the column, by name or number]:LIST:' \
      '(-o --order)'{-o+,--order=}'[ordering of the output]:value:(input ring nested)' \
      '(-p --plot)'{-p+,--plot=}'[also draw the result as PNG]:FILE:_files' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  map2alm)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole; 3 nside - 1 when not given]:N:' \
      '(-m --mmax)'{-m+,--mmax=}'[highest m; lmax when not given]:N:' \
      '(-i --iter)'{-i+,--iter=}'[refinements of the analysis]:N:' \
      '--tolerance=[refine until a refinement changes the coefficients by no more than this share, instead of --iter times]:X:' \
      '(-w --weights)'{-w+,--weights=}'[quadrature weights]:value:(equal ring pixel)' \
      '--lsq=[least squares by conjugate gradients instead, until the residual of the normal equations falls to this share]:TOLERANCE:' \
      '--steps=[with --lsq\: steps before giving up]:N:' \
      '(-c --columns)'{-c+,--columns=}'[one column, or three that are I, Q, U, by name or number; I, Q, U where there are such, else the first]:LIST:' \
      '--no-pol[the first column only, without polarisation]' \
      '--engine=[Legendre functions by recurrence over degrees, or coefficients by rotations between orders, which is more exact near the poles and slower]:value:(recurrence connection)' \
      '--f32[write 32-bit numbers]' \
      '--grid=[NPY input\: the grid of its rows]:value:(gauss cc fejer1 fejer2 dh mw lobatto octahedral)' \
      '--south-first[NPY input\: its rows run from south to north]' \
      '--lon0=[NPY input\: longitude of its first column, such as -180deg; half a column for fejer1, else 0, when not given]:ANGLE:' \
      '--force[NPY input\: also beyond the multipoles to which its grid is exact]' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  alm2map)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-N --nside)'{-N+,--nside=}'[HEALPix output\: resolution of the map]:N:' \
      '(-o --order)'{-o+,--order=}'[HEALPix output\: ordering]:value:(ring nested)' \
      '--f32[write 32-bit numbers]' \
      '--to-grid=[NPY output\: grid]:value:(gauss cc fejer1 fejer2 dh mw lobatto octahedral)' \
      '--rows=[NPY output\: rows of latitude; the columns are twice as many, but for octahedral]:N:' \
      '--engine=[Legendre functions by recurrence over degrees, or coefficients by rotations between orders, which is more exact near the poles and slower]:value:(recurrence connection)' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole to use; the file'\''s when not given]:N:' \
      '(-f --fwhm)'{-f+,--fwhm=}'[smooth by a Gaussian beam]:ANGLE:' \
      '--pixwin[multiply by the pixel window of nside]' \
      '--der1[three columns\: the field, d/dtheta, and 1/sin(theta) d/dphi, of the first component]' \
      '--no-pol[the first component only]' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  anafast)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-x --cross)'{-x+,--cross=}'[a second map of the same nside\: cross spectra]:FILE:_files' \
      '(-k --mask)'{-k+,--mask=}'[mask by which the maps are multiplied; its zeros count as unseen]:FILE:_files' \
      '(-r --remove)'{-r+,--remove=}'[fit and remove the mean (monopole), or mean and dipole, of the seen pixels of T]:value:(nothing monopole dipole)' \
      '--gal-cut=[with --remove\: fit only where the latitude exceeds this]:ANGLE:' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole; 3 nside - 1 when not given]:N:' \
      '(-i --iter)'{-i+,--iter=}'[refinements of the analysis]:N:' \
      '--tolerance=[refine until a refinement changes the coefficients by no more than this share, instead of --iter times]:X:' \
      '(-w --weights)'{-w+,--weights=}'[quadrature weights]:value:(equal ring pixel)' \
      '(-c --columns)'{-c+,--columns=}'[one column, or three that are I, Q, U; I, Q, U where there are such, else the first]:LIST:' \
      '--no-pol[the spectrum of the first column only]' \
      '--alm=[also write the coefficients of the first map]:FILE:_files' \
      '(-p --plot)'{-p+,--plot=}'[also draw l(l+1) C_l / 2 pi of TT, or TT, EE, BB and TE, as PNG]:FILE:_files' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  spectra)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-x --cross)'{-x+,--cross=}'[a second map of the same nside\: cross spectra]:FILE:_files' \
      '(-k --mask)'{-k+,--mask=}'[weights of the pixels; when not given, 1 where the maps are seen]:FILE:_files' \
      '(-a --apodise)'{-a+,--apodise=}'[first let the mask fall smoothly to 0 over this angle at its edges]:ANGLE:' \
      '--window=[the function by which it falls, see docs/spectra.md]:value:(c1 c2 gauss)' \
      '--width=[degrees of a band, from 2 on]:N:' \
      '--edges=[instead of --width\: text with the first degree of each band, and that after the last]:FILE:_files' \
      '--dl[bandpowers of l(l+1) C_l / 2 pi]' \
      '(-l --lmax)'{-l+,--lmax=}'[highest degree; 2 nside when not given]:N:' \
      '--lmax-mask=[highest degree of the mask; 3 nside - 1 when not given]:N:' \
      '(-b --beam)'{-b+,--beam=}'[FWHM of the map'\''s Gaussian beam, which is divided out]:ANGLE:' \
      '--cross-beam=[that of the second map; when not given, the same]:ANGLE:' \
      '--pixwin[divide out the window of the pixels]' \
      '--pure=[components of polarisation to which the other does not leak at the mask'\''s edge; needs an apodised mask]:value:(none e b eb)' \
      '--beyond-mask[with --pure\: use the map where the mask is 0 too, where it is good; purer, if nothing bright is there]' \
      '(-e --errors)'{-e,--errors}'[also standard deviations of Gaussian fields with the spectra of these maps, signal and noise]' \
      '(-i --iter)'{-i+,--iter=}'[refinements of each analysis]:N:' \
      '(-w --weights)'{-w+,--weights=}'[quadrature weights]:value:(equal ring pixel)' \
      '(-c --columns)'{-c+,--columns=}'[one column, or three that are I, Q, U; I, Q, U where there are such, else the first]:LIST:' \
      '--windows=[also write the windows of the bandpowers, NPY \[spectra, bands, spectra, lmax + 1\]; one column only]:FILE:_files' \
      '(-p --plot)'{-p+,--plot=}'[also draw TT, or TT, EE, BB and TE, as PNG; with --errors, error bars]:FILE:_files' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  mask)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '--seen[the input is a map of the sky\: its seen pixels, whatever their value, are not masked]' \
      '(-a --apodise)'{-a+,--apodise=}'[let the mask fall smoothly to 0 over this angle at its edges]:ANGLE:' \
      '--window=[the function by which it falls, see docs/spectra.md]:value:(c1 c2 gauss)' \
      '(-d --distance)'{-d,--distance}'[instead, the angle in degrees from each pixel to the nearest masked one]' \
      '--limit=[with --distance\: larger angles are written as this one]:ANGLE:' \
      '(-c --columns)'{-c+,--columns=}'[the column that is the mask, by name or number]:COLUMN:' \
      '(-p --plot)'{-p+,--plot=}'[also draw the result as PNG]:FILE:_files' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  synfast)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-N --nside)'{-N+,--nside=}'[HEALPix output\: resolution of the map]:N:' \
      '(-o --order)'{-o+,--order=}'[HEALPix output\: ordering]:value:(ring nested)' \
      '--f32[write 32-bit numbers]' \
      '--to-grid=[NPY output\: grid]:value:(gauss cc fejer1 fejer2 dh mw lobatto octahedral)' \
      '--rows=[NPY output\: rows of latitude; the columns are twice as many, but for octahedral]:N:' \
      '--engine=[Legendre functions by recurrence over degrees, or coefficients by rotations between orders, which is more exact near the poles and slower]:value:(recurrence connection)' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '(-s --seed)'{-s+,--seed=}'[seed\: the same seed gives the same map on any machine and threads]:N:' \
      '--index=[number of the map\: maps of one seed are independent]:I:' \
      '--count=[make N maps, numbered from --index, in the folder OUTPUT\: map-000000.fits if INPUT is map.txt]:N:' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole; the file'\''s, at most 3 nside - 1, when not given]:N:' \
      '(-f --fwhm)'{-f+,--fwhm=}'[smooth by a Gaussian beam]:ANGLE:' \
      '--pixwin[multiply by the pixel window of nside]' \
      '--no-pol[T only, even if the file has polarisation]' \
      '--dl[the file holds l(l+1) C_l / 2 pi, as CAMB'\''s text files do]' \
      '--zero-indefinite[no power at multipoles whose spectra are no covariance, instead of failing]' \
      '(-u --unit)'{-u+,--unit=}'[unit of the map, written to the file]:TEXT:' \
      '--alm=[also write the coefficients]:FILE:_files' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  at)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '--columns=[names, or numbers from 0, of the columns of POINTS]:LON,LAT:' \
      '--lonlat[POINTS holds longitude and latitude, in degrees (NPY, text without names)]' \
      '--coord=[coordinates of POINTS and of INPUT, such as CG\: G, E and C for Galactic, ecliptic and equatorial; one letter where INPUT says its own]:value:(GE GC EG EC CG CE)' \
      '--exact[maps\: the sum of their harmonics up to --lmax at the positions, instead of interpolation]' \
      '(-i --iter)'{-i+,--iter=}'[with --exact\: refinements of the map'\''s analysis]:N:' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole to use; the file'\''s, or with --exact 3 nside - 1, when not given]:N:' \
      '(-e --eps)'{-e+,--eps=}'[root mean square of errors, relative to the field'\''s]:TOLERANCE:' \
      '--no-pol[the first component only]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, or auto; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '*:file:_files' ;;
  lens)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-N --nside)'{-N+,--nside=}'[resolution of the map; required, but with --adjoint INPUT'\''s]:N:' \
      '--adjoint[the transpose\: a_lm = sum over pixels of their values times conj(Y_lm) where their light comes from]' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole of the sky to use; the file'\''s, or with --adjoint 3 nside - 1, when not given]:N:' \
      '(-e --eps)'{-e+,--eps=}'[root mean square of errors, relative to the map'\''s]:TOLERANCE:' \
      '--no-pol[the first component only]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, or auto; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '*:file:_files' ;;
  reorder)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-t --to)'{-t+,--to=}'[ordering of the output]:value:(other ring nested)' \
      '(-c --columns)'{-c+,--columns=}'[columns by name or number with commas between]:LIST:' \
      '--coordsys=[write this coordinate system, where the input'\''s is missing or wrong]:value:(G E C)' \
      '(-u --unit)'{-u+,--unit=}'[write this unit, likewise]:TEXT:' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, or auto; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  udgrade)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-N --nside)'{-N+,--nside=}'[resolution of the output, a power of two]:N:' \
      '(-c --columns)'{-c+,--columns=}'[columns by name or number with commas between]:LIST:' \
      '(-o --order)'{-o+,--order=}'[ordering of the output]:value:(input ring nested)' \
      '(-p --power)'{-p+,--power=}'[scale values by (nside out / nside in)^X; -2 keeps the sum, as for counts]:X:' \
      '--pessimistic[an output pixel is unseen if any of its input pixels is]' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, or auto; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  regrid)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-N --nside)'{-N+,--nside=}'[HEALPix output\: resolution of the map]:N:' \
      '(-o --order)'{-o+,--order=}'[HEALPix output\: ordering]:value:(ring nested)' \
      '--f32[write 32-bit numbers]' \
      '--to-grid=[NPY output\: grid]:value:(gauss cc fejer1 fejer2 dh mw lobatto octahedral)' \
      '--rows=[NPY output\: rows of latitude; the columns are twice as many, but for octahedral]:N:' \
      '--engine=[Legendre functions by recurrence over degrees, or coefficients by rotations between orders, which is more exact near the poles and slower]:value:(recurrence connection)' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '--from-grid=[NPY input\: the grid of its rows]:value:(gauss cc fejer1 fejer2 dh mw lobatto octahedral)' \
      '--south-first[NPY input\: its rows run from south to north]' \
      '--lon0=[NPY input\: longitude of its first column, such as -180deg; half a column for fejer1, else 0, when not given]:ANGLE:' \
      '(-c --columns)'{-c+,--columns=}'[HEALPix input\: columns by name or number, commas between]:LIST:' \
      '(-w --winds)'{-w,--winds}'[two maps are a vector\: (u eastward, v northward), or its parts along theta and phi]' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole; when not given what both grids are made for, 2 nside for HEALPix]:N:' \
      '(-i --iter)'{-i+,--iter=}'[HEALPix input\: refinements of the analysis]:N:' \
      '(-f --fwhm)'{-f+,--fwhm=}'[smooth by a Gaussian beam on the way]:ANGLE:' \
      '--force[also beyond the multipoles to which the analysis on the input'\''s grid is exact]' \
      '--least-good=[bad pixels count as zero; the result has none where the part of good ones about is below this]:X:' \
      '--name=[FITS output\: name of the column; the input'\''s when not given]:TEXT:' \
      '(-u --unit)'{-u+,--unit=}'[FITS output\: unit of the map; the input'\''s when not given]:TEXT:' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  rotate)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '--from=[coordinates of the input\: Galactic, ecliptic, equatorial (J2000); the file'\''s when not given]:value:(G E C)' \
      '(-t --to)'{-t+,--to=}'[coordinates of the output]:value:(G E C)' \
      '(-e --euler)'{-e+,--euler=}'[turn by PSI about z, then THETA about y, then PHI about z, instead]:PSI,THETA,PHI:' \
      '(-l --lmax)'{-l+,--lmax=}'[maps\: highest multipole; 3 nside - 1 when not given]:N:' \
      '(-i --iter)'{-i+,--iter=}'[maps\: refinements of the analysis]:N:' \
      '--tolerance=[maps\: refine until a refinement changes the coefficients by no more than this share, instead of --iter times]:X:' \
      '(-w --weights)'{-w+,--weights=}'[maps\: quadrature weights]:value:(equal ring pixel)' \
      '--points[maps\: sum the harmonics where each pixel'\''s centre lies in INPUT, instead of rotating coefficients, whose cost grows as lmax^3]' \
      '(-N --nside)'{-N+,--nside=}'[with --points\: of OUTPUT; INPUT'\''s when not given]:N:' \
      '--eps=[with --points\: root mean square of errors, relative to the map'\''s]:TOLERANCE:' \
      '(-c --columns)'{-c+,--columns=}'[maps\: one column, or three that are I, Q, U; I, Q, U where there are such, else the first]:LIST:' \
      '--no-pol[the first column or component only]' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--partial[FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = EXPLICIT)]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  ball)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-v --vector)'{-v,--vector}'[the field is a vector, with an axis of 3 more]' \
      '(-s --spin)'{-s,--spin}'[the field is a vector; its values are components of spin -1, 0, 1, complex, not r, theta, phi]' \
      '(-l --lmax)'{-l+,--lmax=}'[analysis\: highest degree; the highest that the input'\''s grid resolves when not given]:N:' \
      '--mmax=[highest order; the highest degree when not given]:N:' \
      '(-N --n)'{-N+,--n=}'[analysis\: functions of radius; as many as the input'\''s grid resolves when not given]:N:' \
      '--truncation=[which functions of radius belong to a degree l\: N, N - l/2, or N with l + 2 n to --dmax]:value:(rhomboidal triangular trapezoidal)' \
      '--dmax=[trapezoidal truncation\: highest degree of a polynomial]:N:' \
      '--type=[weight under which the functions of radius are orthogonal]:value:(chebyshev legendre cylinder-energy sphere-energy)' \
      '--nr=[synthesis\: radii; the fewest that do when not given]:N:' \
      '--ntheta=[synthesis\: colatitudes (Gauss); the same]:N:' \
      '--nphi=[synthesis\: longitudes; the same]:N:' \
      '(-a --axis)'{-a+,--axis=}'[spectrum\: by degree, order or function of radius]:value:(l m n)' \
      '(-c --cut)'{-c+,--cut=}'[plot\: which cut]:value:(equatorial meridional surface)' \
      '--component=[plot\: which component of a vector]:value:(r theta phi)' \
      '(-r --radius)'{-r+,--radius=}'[plot of a surface\: its radius]:R:' \
      '--longitude=[meridional plot\: of its right half; the left half is opposite]:ANGLE:' \
      '(-p --projection)'{-p+,--projection=}'[plot of a surface\: projection]:value:(mollweide orthographic)' \
      '(-m --colors)'{-m+,--colors=}'[plot\: colour map, as for kugel plot]:value:(planck planck_r diverging diverging_r viridis viridis_r magma magma_r inferno inferno_r plasma plasma_r ice ice_r relief relief_r grey grey_r phase phase_r)' \
      '--min=[plot\: value at the lower end of the colours]:X:' \
      '--max=[plot\: value at the upper end of the colours]:X:' \
      '(-t --title)'{-t+,--title=}'[plot\: title above it]:TEXT:' \
      '(-u --unit)'{-u+,--unit=}'[plot\: unit at the colour bar]:TEXT:' \
      '--size=[plot\: width of the picture in pixels]:N:' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, or auto; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory that synthesis and analysis may use, such as 20G\: of this machine, on which they then go in parts of the radii, or of the device]:SIZE:' \
      '1:what:(synthesis analysis spectrum plot)' \
      '*:file:_files' ;;
  fft)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-k --kind)'{-k+,--kind=}'[which transform; r2c halves the last axis, and its inverse is complex to real]:value:(c2c r2c dct1 dct2 dct3 dct4 dst1 dst2 dst3 dst4)' \
      '(-i --inverse)'{-i,--inverse}'[the inverse]' \
      '(-a --axes)'{-a+,--axes=}'[axes to transform, negative ones counted from the last; all when not given]:N,N:' \
      '--norm=[which direction divides\: the inverse, both by the root, or forward]:value:(backward ortho forward)' \
      '(-l --length)'{-l+,--length=}'[inverse of r2c\: length of the last axis of the result; 2 (m - 1) for m complex numbers when not given]:N:' \
      '(-p --precision)'{-p+,--precision=}'[file\: float32, complex64 and float16 stay what they are, all else is double; dd\: about 31 digits, files have a last axis of 2 more for high and low parts; half\: float16, complex numbers with a last axis of 2 more for real and imaginary parts]:value:(file f32 f64 dd half)' \
      '--effort=[on devices\: choose kernels by a model, or time some and remember the fastest]:value:(estimate measure)' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, or auto; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory that may be used, such as 20G\: of the device, where transforms then go some at a time; or of this machine, which refuses what needs more]:SIZE:' \
      '--print-kernel[print the source of the kernels generated for the device, and transform nothing]' \
      '(-s --shape)'{-s+,--shape=}'[with --print-kernel\: the array'\''s shape, instead of INPUT]:N,N:' \
      '*:file:_files' ;;
  nufft)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-t --type)'{-t+,--type=}'[1\: points to modes; 2\: modes to points; 3\: points to --frequencies]:value:(1 2 3)' \
      '(-m --modes)'{-m+,--modes=}'[type 1\: numbers of modes, one for each dimension]:N,N:' \
      '(-f --frequencies)'{-f+,--frequencies=}'[type 3\: frequencies, K x dimensions (NPY)]:FILE:_files' \
      '(-e --eps)'{-e+,--eps=}'[relative error; 1e-9, or 1e-6 for float values, when not given]:TOLERANCE:' \
      '(-s --sign)'{-s+,--sign=}'[of the exponent; plus for types 1 and 3 and minus for type 2 when not given]:value:(default plus minus)' \
      '--fft-order[modes in the order 0, 1, ..., -1 instead of -n/2, ...]' \
      '--period=[of the coordinates; 2 pi when not given]:P:' \
      '*:file:_files' ;;
  convolve)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-m --mode)'{-m+,--mode=}'[as many results as voxels, all that meet the image, or those that need nothing beyond its edges]:value:(same full valid)' \
      '(-b --boundary)'{-b+,--boundary=}'[what lies beyond the edges; unknown\: results are divided by the part of the kernel that met the image]:value:(zero replicate reflect periodic unknown)' \
      '--correlate[correlate\: the adjoint of the convolution]' \
      '--normalise[divide the kernel by its sum]' \
      '--centre=[of the kernel, the element that lies on a result'\''s own place\: middle, (k - 1) / 2; auto\: along even lengths the brighter one of the two in the middle; or Z,Y,X, counted from 0]:NAME:' \
      '--nan=[voxels that are NaN or infinite\: an error, 0, or kept, which makes all results around them NaN]:value:(refuse zero keep)' \
      '--depths=[planes of the image, rising, counted from 0, that the kernels belong to in place of channels; between them kernels are interpolated]:Z,Z,...:' \
      '(-t --dtype)'{-t+,--dtype=}'[type of the output; values are rounded and saturated, never scaled]:value:(keep u8 i8 u16 i16 u32 i32 f16 f32 f64)' \
      '(-p --precision)'{-p+,--precision=}'[of the arithmetic]:value:(f32 f64)' \
      '--plan=[auto, resident, tiles, dif, dif\:Q, pencil, or, over the processes of mpirun or srun, global\: how the work is done]:value:(auto resident tiles dif pencil)' \
      '--scratch=[for the files of the plan pencil; else beside the output]:FOLDER:_files' \
      '--compress=[compression of the output]:value:(auto none deflate lzw packbits zstd blosc lz4)' \
      '(-c --channel)'{-c+,--channel=}'[this channel of the images alone, counted from 0]:N:' \
      '--any-voxel[go on although the voxel sizes of image and kernel differ]' \
      '--mem=[memory that may be used, such as 8G\: larger images go from file to file in parts; of a device with --device]:SIZE:' \
      '--resume[keep finished tiles beside the output, so that the same command continues if this run is ended early, and pass over outputs that are finished; with pencil the passes before the results are done again]' \
      '--ranks[each process of mpirun reads, convolves and writes its planes; one IMAGE, and an OUTPUT in Zarr]' \
      '--ext=[end of the names in an output folder, such as .ome.tif; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, or auto; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '*:file:_files' ;;
  convert)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '--ext=[end of the names in an output folder, such as .ome.tif; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[pass over the files of an output folder that an earlier run with the same options finished]' \
      '(-t --dtype)'{-t+,--dtype=}'[type of the output; values are rounded and saturated, never scaled]:value:(keep u8 i8 u16 i16 u32 i32 f16 f32 f64)' \
      '--compress=[compression of the output]:value:(auto none deflate lzw packbits zstd blosc lz4)' \
      '--level=[of compression\: 1 fast, 9 small]:N:' \
      '(-c --channel)'{-c+,--channel=}'[this channel alone, counted from 0]:N:' \
      '--time=[this time point alone, counted from 0]:N:' \
      '--crop=[the voxels z0\:z1,y0\:y1,x0\:x1 alone; parts may be empty, as in 10\:20,,]:BOX:' \
      '--chunk=[pieces of the output\: chunks of Zarr, tiles or strips of TIFF]:Z,Y,X:' \
      '--scale=[level of a multi-scale input, 0 the finest]:N:' \
      '--zarr=[version of OME-Zarr that is written]:value:(0.5 0.4)' \
      '*:file:_files' ;;
  mip)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-a --axis)'{-a+,--axis=}'[project along z, y and x, side by side, or along one of them]:value:(xyz z y x)' \
      '(-c --channel)'{-c+,--channel=}'[channel, counted from 0]:N:' \
      '--time=[time point, counted from 0]:N:' \
      '--crop=[the voxels z0\:z1,y0\:y1,x0\:x1 alone; parts may be empty]:BOX:' \
      '--slice[slices through the middle instead of maxima]' \
      '--min=[value of the darkest colour; the smallest of the projections when not given]:X:' \
      '--max=[value of the brightest colour; the largest when not given]:X:' \
      '--gamma=[brightness is the value to this power]:X:' \
      '--colors=[colour table, as for kugel plot]:value:(planck planck_r diverging diverging_r viridis viridis_r magma magma_r inferno inferno_r plasma plasma_r ice ice_r relief relief_r grey grey_r phase phase_r)' \
      '(-w --width)'{-w+,--width=}'[of the picture, pixels]:N:' \
      '--title=[above the picture]:TEXT:' \
      '--voxel=[size of a voxel in micrometres, instead of the file'\''s]:Z,Y,X:' \
      '--scale=[level of a multi-scale input, 0 the finest]:N:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[pass over the files of an output folder that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  view)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '--columns=[maps\: columns by name or number, or all; of one file I, Q, U where it has them, of several the first]:LIST:' \
      '--nside=[maps\: greatest nside of the page; finer ones are averaged]:N:' \
      '(-c --channel)'{-c+,--channel=}'[channel, counted from 0]:N:' \
      '--time=[time point, counted from 0]:N:' \
      '(-s --size)'{-s+,--size=}'[most voxels along an axis that the page holds; more are averaged to that]:N:' \
      '--title=[above the views, instead of the files'\'' names]:TEXT:' \
      '--voxel=[size of a voxel in micrometres, instead of the file'\''s]:Z,Y,X:' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '*:file:_files' ;;
  deconvolve)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '--method=[Richardson-Lucy; the same accelerated by Biggs and Andrews or as a heavy ball; with total variation; linear filters; least squares without negative values]:value:(rl biggs shb tv wiener tikhonov landweber isra)' \
      '--centre=[of the PSF, the element that lies on a result'\''s own place\: middle, (k - 1) / 2; auto\: along even lengths the brighter one of the two in the middle; or Z,Y,X, counted from 0]:NAME:' \
      '--depths=[planes of the images, counted from 0, to which the PSFs belong, as many as there are PSFs\: light of each plane is blurred by the PSF interpolated there]:Z,Z,...:' \
      '(-i --iter)'{-i+,--iter=}'[steps at most]:N:' \
      '--tol=[end when the divergence changes by less than this part of it]:X:' \
      '--discrepancy=[end when twice the divergence per voxel is at most this; 1 for counts of photons]:X:' \
      '--lambda=[strength of tv, wiener or tikhonov; 0\: 0.002 for tv, 0.001]:X:' \
      '--background=[what a voxel without light shows; auto\: the smallest value of each volume]:value:(auto)' \
      '--offset=[variance of the camera'\''s noise in counts, added to both sides]:X:' \
      '--saturation=[voxels at or above it are missing]:X:' \
      '--mask=[volume, 0 where a voxel is missing; NaN voxels always are]:FILE:_files' \
      '(-b --boundary)'{-b+,--boundary=}'[what lies beyond the edges; unknown\: it is estimated, and edges do not ring]:value:(unknown zero replicate reflect periodic)' \
      '--mem=[memory that may be used, such as 8G, with --device of the device; larger images go in tiles]:SIZE:' \
      '--exact[never in tiles\: with --mem, or where a device'\''s memory is too small, convolutions go in pieces]' \
      '--scratch=[for that file; else $TMPDIR or /var/tmp]:FOLDER:_files' \
      '--plan=[how mpirun'\''s processes share an image. halo\: convolutions by tiles, whose surroundings they exchange at each step; the same steps, rounded otherwise. global\: by the whole transform. With --device cuda\:local each on its own device]:value:(auto halo global)' \
      '(-t --dtype)'{-t+,--dtype=}'[type of the result; keep\: that of the image; values are rounded and saturated, never scaled]:value:(keep u8 i8 u16 i16 u32 i32 f16 f32 f64)' \
      '(-p --precision)'{-p+,--precision=}'[of the arithmetic]:value:(f32 f64)' \
      '--compress=[compression of the result]:value:(auto none deflate lzw packbits zstd blosc lz4)' \
      '(-c --channel)'{-c+,--channel=}'[this channel of the images alone, counted from 0]:N:' \
      '--any-voxel[go on although the voxel sizes of image and PSF differ]' \
      '--ext=[end of the names in an output folder, such as .ome.tif; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[pass over the files of an output folder that an earlier run with the same options finished]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, or auto; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '*:file:_files' ;;
  psf)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '--na=[numerical aperture]:X:' \
      '(-w --wavelength)'{-w+,--wavelength=}'[of the emission, in nm]:NM:' \
      '--excitation=[wavelength of the excitation, in nm]:NM:' \
      '(-v --voxel)'{-v+,--voxel=}'[voxel in nm, such as 300,130,130; that of --image or the input when not given]:Z,Y,X:' \
      '(-s --shape)'{-s+,--shape=}'[odd lengths, such as 79,65,65]:Z,Y,X:' \
      '(-i --image)'{-i+,--image=}'[the image it is for\: lengths and voxel follow]:FILE:_files' \
      '--index=[of the immersion; 0\: by the aperture, 1, 1.33 or 1.515]:X:' \
      '--sample-index=[of the medium around the source; 0\: the immersion'\''s]:X:' \
      '--depth=[of the source below the cover slip, in nm]:NM:' \
      '--pinhole=[diameter of the pinhole in Airy units]:AU:' \
      '--sheet=[width of the light sheet at half maximum, in nm]:NM:' \
      '--sigma=[gauss\: standard deviations in nm]:Z,Y,X:' \
      '--snr=[beads\: least height over the noise]:X:' \
      '--to-voxel=[prepare\: resample from --voxel to this]:Z,Y,X:' \
      '--background=[prepare\: the level that is taken off, 0\: none; when not given the median of the outermost voxels]:X:' \
      '--energy=[crop to the smallest box that holds this part of the energy]:X:' \
      '(-t --dtype)'{-t+,--dtype=}'[type of the output]:value:(f32 f64)' \
      '1:what:(bw gl rw gauss confocal two-photon sheet beads prepare info)' \
      '*:file:_files' ;;
  plot)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-c --column)'{-c+,--column=}'[column by name or number]:NAME:' \
      '(-p --projection)'{-p+,--projection=}'[projection]:value:(mollweide orthographic gnomonic cartesian)' \
      '(-s --scale)'{-s+,--scale=}'[how values become colours]:value:(linear log asinh histogram)' \
      '(-m --colors)'{-m+,--colors=}'[colour map\: planck, diverging, viridis, magma, inferno, plasma, ice, relief, grey or phase; with _r at the end reversed]:value:(planck planck_r diverging diverging_r viridis viridis_r magma magma_r inferno inferno_r plasma plasma_r ice ice_r relief relief_r grey grey_r phase phase_r)' \
      '--min=[value at the lower end of the colours]:X:' \
      '--max=[value at the upper end of the colours]:X:' \
      '--percentile=[leave out this share, in per cent, at both ends of the colours]:X:' \
      '--symmetric[colours from -a to a]' \
      '(-t --title)'{-t+,--title=}'[title above the map]:TEXT:' \
      '(-u --unit)'{-u+,--unit=}'[unit at the colour bar; the file'\''s when not given]:TEXT:' \
      '--size=[width of the picture in pixels]:N:' \
      '--center=[direction at the centre]:LON,LAT:' \
      '--roll=[turn about the centre, counterclockwise]:ANGLE:' \
      '--coord=[draw a map in coordinates X in coordinates Y\: GC for Galactic to equatorial, E for ecliptic]:value:(GE GC EG EC CG CE)' \
      '--geo[east to the right, as on maps of the ground]' \
      '--half[orthographic\: one hemisphere only]' \
      '--reso=[gnomonic, cartesian\: size of a picture pixel]:ANGLE:' \
      '(-g --graticule)'{-g+,--graticule=}'[step of the coordinate lines; by projection when not given]:ANGLE:' \
      '--no-graticule[no coordinate lines]' \
      '--no-labels[no numbers at the coordinate lines]' \
      '--no-bar[no colour bar]' \
      '--smooth-pixels[interpolate between pixel centres]' \
      '--transparent[nothing behind the picture instead of white]' \
      '--grid=[NPY input\: the grid of its rows]:value:(gauss cc fejer1 fejer2 dh mw lobatto octahedral)' \
      '--nest[HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say]' \
      '--ring[they are in RING order, as without either option]' \
      '--each[OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and quoted patterns]' \
      '--ext=[with --each\: end of the names in the folder, such as .npy; when not given, that of the inputs]:END:' \
      '--task=[of several files, only the I-th of N shares, counted from 0 or from 1; auto\: as a Slurm job array says]:value:(auto)' \
      '--resume[with --each\: pass over the files that an earlier run with the same options finished]' \
      '*:file:_files' ;;
  plan)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-n --nside)'{-n+,--nside=}'[resolution of the HEALPix map]:N:' \
      '(-l --lmax)'{-l+,--lmax=}'[highest multipole; 2 nside when not given]:N:' \
      '--fft=[instead of a map\: a Fourier transform of an array of these 2 to 8 lengths, the last one of adjacent numbers]:N,N,N:' \
      '(-k --kind)'{-k+,--kind=}'[with --fft\: of reals, or of complex numbers]:value:(r2c c2c)' \
      '--dtype=[with --fft\: its numbers]:value:(f32 f64)' \
      '--ranks=[processes]:N:' \
      '--hosts=[hosts that they are on, as many on each]:N:' \
      '--gpu[a GPU per process, of which --alone is the time\: NVLink in a host (300 GB/s), 42 GB/s per GPU out of it, 20 us, and exchanges in two steps where that is sooner]' \
      '--polarised[T, E and B with I, Q and U, instead of one scalar map]' \
      '(-i --iter)'{-i+,--iter=}'[an analysis with as many refinements, instead of one synthesis]:N:' \
      '--alone=[that one process takes for it, as measured, a GPU'\''s for one; when not given, predicted by small transforms here]:SECONDS:' \
      '--latency=[microseconds of a small exchange (kugel bench exchange)]:US:' \
      '--peer=[microseconds that each other process adds to it]:US:' \
      '--inside=[that a process sends within its host]:GB/S:' \
      '--outside=[that a host sends to the others]:GB/S:' \
      '*:file:_files' ;;
  info)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '--stats[also the range and mean of every channel of stacks]' \
      '--ranks[under mpirun or srun\: the processes that share transforms, and their MPI]' \
      '*:file:_files' ;;
  bench)
    _arguments -s -S \
      '--threads=[threads to use, instead of KUGEL_NUM_THREADS or all CPUs]:N:' \
      '--json[print one JSON object on stdout instead of text]' \
      '(-n --dry-run)'{-n,--dry-run}'[print the plan, its memory and the expected time; write nothing]' \
      '--overwrite[replace the output if it exists]' \
      '--progress=[on stderr\: a bar where that is a terminal, or one JSON object per line with fraction, stage, elapsed_seconds and left_seconds]:value:(auto bar json none)' \
      '(-q --quiet)'{-q,--quiet}'[print nothing but errors]' \
      '(-h --help)'{-h,--help}'[print this help]' \
      '(-s --seconds)'{-s+,--seconds=}'[time to spend on each problem]:X:' \
      '--ranks[over the processes of mpirun or srun\: one sht or fft, or an exchange]' \
      '--device=[where transforms run\: cpu, cuda\:0, opencl\:0, auto, or several as cuda\:0,1; kugel info lists what is there]:value:(cpu auto cuda\:0 opencl\:0)' \
      '--mem=[memory of the device that transforms may use, such as 20G; larger ones go in parts]:SIZE:' \
      '*:file:_files' ;;
  *) _files ;;
  esac
}
_kugel "$@"

!> plaquette: gauge observables of configurations in files; the twin of plaquette.c.
!>
!>   plaquette_f [--json FILE] [--device auto|cpu|cuda] [--threads N] FILE...
!>
! test: --json $OUT/plaquette_f.json tests/data/quenched-b6.0-4x4x4x8.ildg tests/data/quenched-b6.0-8x8x8x8.nersc
include 'example.inc'

program plaquette
  use plaq
  use example
  implicit none
  character(len=108), parameter :: help(8) = [character(len=108) :: &
    'usage: plaquette_f [options] FILE...', &
    'Plaquette, Polyakov loop, topological charge and unitarity of configurations: NERSC, ILDG, MILC, openQCD or', &
    'DDalphaAMG, found out by itself.', &
    '  --json FILE          all digits of it as JSON, a member of "files" for each (none)', &
    '  --device D           auto, cpu or cuda (auto)', &
    '  --threads N          of the CPU; 0: all (0)', &
    '  --help, -h, --version', &
    'example: plaquette_f --json plaquette.json tests/data/quenched-b6.0-4x4x4x8.ildg']
  type(plaq_context) :: context
  character(len=:), allocatable :: json_file
  integer :: last, i, json = 0, good = 0, bad = 0, done
  logical :: stopped = .false.

  last = 0
  do while (last < command_argument_count())
    if (index(argument(last + 1), '-') /= 1) exit
    last = min(last + merge(1, 2, index(argument(last + 1), '=') > 0), command_argument_count())
  end do
  call check_options(last, '--json --device --threads', help)
  if (last == command_argument_count()) call usage_error('FILE', 'missing')
  json_file = option(last, '--json', '')
  call check_output(json_file, overwrite=.true.)
  context = open_context(last)
  call watch_signals()
  if (len(json_file) > 0 .and. first_rank(context)) then
    json = begin_file(json_file)
    write (json, '(a)') '{', '  "version": '//quoted(plaq_text(plaq_version()))//',', '  "files": ['
  end if
  do i = last + 1, command_argument_count()
    stopped = any_rank(interrupted /= 0)
    if (stopped) exit
    call observe(argument(i))
  end do
  done = good + bad
  if (stopped) print '(a)', '# INTERRUPTED after '//word(int(done, c_int64_t))//' of '// &
    word(int(command_argument_count() - last, c_int64_t))//' files'
  if (json /= 0) then
    write (json, '(a)') '  ],', '  "refused": '//word(int(bad, c_int64_t))//', "stopped": '// &
      trim(merge('true ', 'false', stopped)), '}'
    call end_file(json, json_file)
  end if
  call ok(plaq_context_destroy(context))
  call leave(merge(3, min(bad, 1), stopped))

contains

  subroutine observe(file)
    character(len=*), intent(in) :: file
    type(plaq_gauge) :: gauge
    type(plaq_file_report) :: report
    type(plaq_plaquette) :: average
    type(plaq_complex) :: loop
    type(plaq_topology) :: topology
    type(plaq_unitarity) :: off
    call ok(plaq_file_report_init(report, c_sizeof(report)))
    if (plaq_gauge_read_file(context, file//c_null_char, gauge=gauge, report=report) /= PLAQ_SUCCESS) then
      write (error_unit, '(a)') plaq_text(plaq_last_error())
      bad = bad + 1
      return
    end if
    call ok(plaq_gauge_plaquette(gauge, average))
    call ok(plaq_gauge_polyakov_loop(gauge, 3_c_int32_t, loop))
    call ok(plaq_gauge_topology(gauge, topology))
    call ok(plaq_gauge_unitarity(gauge, off))
    print '(a)', file
    print '(2x,a,a,a)', 'format              ', format_name(report%format), &
      merge(', double precision', ', single precision', report%precision == PLAQ_PRECISION_DOUBLE)
    print '(2x,a,i0,3(" x ",i0))', 'lattice             ', report%extents
    print '(2x,a,f14.12)', 'plaquette           ', average%total
    print '(2x,a,f14.12)', '  spatial           ', average%spatial
    print '(2x,a,f14.12)', '  temporal          ', average%temporal
    print '(2x,a,a)', 'link trace          ', shown(average%link_trace, '(f16.12)')
    print '(2x,a,a,1x,a,a)', 'Polyakov loop       ', shown(loop%re, '(f16.12)'), shown(loop%im, '(sp,f16.12)'), ' i'
    print '(2x,a,a,a)', 'topological charge  ', shown(topology%charge, '(f16.9)'), ' (clover leaf)'
    print '(2x,a,a,a,a,a)', 'action density      ', shown(topology%energy_spatial, '(f16.9)'), ' spatial, ', &
      shown(topology%energy_temporal, '(f16.9)'), ' temporal'
    print '(2x,a,es7.1)', 'unitarity           ', max(off%unitary, off%det)
    if (json /= 0) then
      if (good > 0) write (json, '(a)') '    ,'
      write (json, '(a)') '    {"file": '//quoted(file)//', "format": "'//format_name(report%format)//'", "lattice": '// &
        json_integers(report%extents)//',', &
        '     "plaquette": {"total": '//exact(average%total)//', "spatial": '//exact(average%spatial)//', "temporal": '// &
        exact(average%temporal)//'}, "link_trace": '//exact(average%link_trace)//',', &
        '     "polyakov_loop": ['//exact(loop%re)//', '//exact(loop%im)//'], "charge": '//exact(topology%charge)//',', &
        '     "energy": {"spatial": '//exact(topology%energy_spatial)//', "temporal": '//exact(topology%energy_temporal)// &
        '}, "unitarity": {"unitary": '//exact(off%unitary)//', "det": '//exact(off%det)//'}}'
    end if
    good = good + 1
    call ok(plaq_gauge_destroy(gauge))
  end subroutine
end program

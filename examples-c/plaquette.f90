!> plaquette: gauge observables of configurations in files; the twin of plaquette.c.
!>
!>   plaquette_f [--device auto|cpu|cuda] [--threads N] FILE...
!>
! test: tests/data/quenched-b6.0-4x4x4x8.ildg tests/data/quenched-b6.0-8x8x8x8.nersc
include 'example.inc'

program plaquette
  use plaq
  use example
  implicit none
  type(plaq_context) :: context
  integer :: last, i, failed = 0

  last = 0
  do while (last < command_argument_count())
    if (index(argument(last + 1), '--') /= 1) exit
    last = min(last + merge(1, 2, index(argument(last + 1), '=') > 0), command_argument_count())
  end do
  call check_options(last, '--device --threads', &
                     ['usage: plaquette_f [--device auto|cpu|cuda] [--threads N] FILE...'])
  if (last == command_argument_count()) call usage_error('FILE', 'missing')
  context = open_context(last)
  do i = last + 1, command_argument_count()
    call observe(argument(i))
  end do
  call ok(plaq_context_destroy(context))
  call leave(failed)

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
      failed = 1
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
    call ok(plaq_gauge_destroy(gauge))
  end subroutine
end program

!> heatbath: quenched SU(3) configurations of the Wilson action; the twin of heatbath.c.
!>
!>   heatbath_f --lattice X,Y,Z,T --beta B [--start hot|cold|FILE] [--seed S] [--overrelax N]
!>              [--thermalise SWEEPS] [--separation SWEEPS] [--configurations N]
!>              [--out PREFIX] [--format nersc|nersc3x3|ildg|milc|openqcd|ddalphaamg]
!>              [--device auto|cpu|cuda] [--threads N]
!>
! test: --lattice 4,4,4,8 --beta 6.0 --thermalise 20 --separation 5 --configurations 2 --out $OUT/quenched_f --format nersc
! test: --start tests/data/quenched-b6.0-4x4x4x8.ildg --beta 6.0 --thermalise 1
!> What is shown while sweeps run.
include 'example.inc'

module heatbath_progress
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
contains
  !> Called after every sweep.
  integer(c_int32_t) function progress(done, all, seconds, user) bind(c)
    integer(c_int64_t), value :: done, all
    real(c_double), value :: seconds
    type(c_ptr), value :: user
    progress = 0
    if (done == all .and. .not. c_associated(user)) &
      write (error_unit, '(2x,i0,a,f7.1,a)') all, ' sweeps,', seconds, ' s'
  end function
end module

program heatbath
  use plaq
  use example
  use heatbath_progress
  implicit none
  character(len=96), parameter :: help(4) = [character(len=96) :: &
    'usage: heatbath_f --lattice X,Y,Z,T --beta B [--start hot|cold|FILE] [--seed S] [--overrelax N]', &
    '                  [--thermalise SWEEPS] [--separation SWEEPS] [--configurations N]', &
    '                  [--out PREFIX] [--format nersc|nersc3x3|ildg|milc|openqcd|ddalphaamg]', &
    '                  [--device auto|cpu|cuda] [--threads N]']
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_gauge_params) :: shape
  type(plaq_update_params) :: params
  type(plaq_plaquette) :: average
  character(len=:), allocatable :: start, prefix
  integer(c_int64_t) :: seed, thermalise, separation, configurations, n, extents(4)
  integer(c_int32_t) :: form
  integer :: last

  last = command_argument_count()
  call check_options(last, '--lattice --beta --start --seed --overrelax --thermalise --separation '// &
                     '--configurations --out --format --device --threads', help)
  start = option(last, '--start', 'hot')
  prefix = option(last, '--out', '')
  seed = whole(last, '--seed', '1')
  thermalise = whole(last, '--thermalise', '200')
  separation = whole(last, '--separation', '20')
  configurations = whole(last, '--configurations', '1')
  form = choose(last, '--format', 'ildg', format_names, format_values)
  if (configurations < 1) call usage_error('--configurations', 'out of range')
  call ok(plaq_update_params_init(params, c_sizeof(params)))
  params%beta = number(last, '--beta')
  params%seed = seed
  params%overrelax = whole(last, '--overrelax', '4')

  context = open_context(last)
  if (start == 'hot' .or. start == 'cold') then
    call ok(plaq_gauge_params_init(shape, c_sizeof(shape)))
    call integers('--lattice', option(last, '--lattice'), extents)
    call divide(context, extents)
    shape%extents = int(extents, c_int32_t)
    call ok(plaq_gauge_create(context, shape, gauge))
    if (start == 'hot') then
      call ok(plaq_gauge_hot(gauge, seed))
    else
      call ok(plaq_gauge_unit(gauge))
    end if
  else
    call ok(plaq_gauge_read_file(context, start//c_null_char, gauge=gauge))
  end if

  print '(a,a,a,a)', '# beta ', shown(params%beta, '(f12.6)'), ', seed ', word(seed)
  print '(a)', '# configuration, sweeps, plaquette, spatial, temporal, file'
  call update(thermalise)
  do n = 1, configurations
    if (n > 1) call update(separation)
    call ok(plaq_gauge_plaquette(gauge, average))
    write (*, '(i6,1x,i8,1x,3(1x,f14.12))', advance='no') n, params%first_sweep, average%total, average%spatial, &
      average%temporal
    if (len(prefix) > 0) call write_file()
    write (*, '()')
    flush (output_unit)
  end do
  call ok(plaq_context_destroy(context))
  call leave(0)

contains

  subroutine update(sweeps)
    integer(c_int64_t), intent(in) :: sweeps
    type(plaq_update_report) :: report
    if (sweeps == 0) return
    params%sweeps = sweeps
    call ok(plaq_update_report_init(report, c_sizeof(report)))
    call ok(plaq_gauge_update(gauge, params, c_funloc(progress), c_null_ptr, report))
    params%first_sweep = report%next_sweep
  end subroutine

  subroutine write_file()
    type(plaq_write_params) :: p
    character(len=5) :: digits
    write (digits, '(i5.5)') n
    call ok(plaq_write_params_init(p, c_sizeof(p)))
    p%format = form
    p%sequence_number = n
    call ok(plaq_gauge_write_file(gauge, prefix//'.'//digits//c_null_char, p))
    write (*, '(a)', advance='no') '  '//prefix//'.'//digits
  end subroutine
end program

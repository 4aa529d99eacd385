!> hmc: SU(3) configurations with dynamical quarks or without, by hybrid Monte Carlo; the twin of hmc.c
!> for its keys lattice, start, trajectories and checkpoint.
!>
!>   hmc_f --input FILE.toml [--trajectories N] [--start hot|cold|checkpoint|FILE]
!>         [--seconds LIMIT] [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]
!>
! test: --input examples-c/hmc/quenched.toml --trajectories 3 --plot $OUT/quenched_f.svg
! test: --input examples-c/hmc/wilson.toml --trajectories 1
include 'example.inc'
include 'plot.inc'

module hmc_progress
  use, intrinsic :: iso_c_binding
  use example, only: interrupted
  use plots, only: plot_points, plot_add
  implicit none
  type(plot_points), save :: plaquettes, energies
  !> Of --seconds, in seconds; 0: none.
  real(c_double), save :: limit = 0, longest = 0
  integer(c_int64_t), save :: started = 0
contains
  real(c_double) function elapsed()
    integer(c_int64_t) :: now, rate
    call system_clock(now, rate)
    elapsed = real(now - started, c_double) / real(rate, c_double)
  end function

  !> Called after every trajectory.
  integer(c_int32_t) function progress(trajectory, delta_h, accepted, plaquette, iterations, seconds, user) bind(c)
    integer(c_int64_t), value :: trajectory, iterations
    integer(c_int32_t), value :: accepted
    real(c_double), value :: delta_h, plaquette, seconds
    type(c_ptr), value :: user
    longest = max(longest, seconds)
    progress = interrupted
    if (limit > 0 .and. elapsed() + longest > limit) progress = 1
    if (c_associated(user) .or. accepted < 0 .or. iterations < 0 .or. seconds < 0) return
    call plot_add(plaquettes, real(trajectory, c_double), plaquette)
    call plot_add(energies, real(trajectory, c_double), delta_h)
  end function
end module

program hmc
  use plaq
  use example
  use plots
  use hmc_progress
  implicit none
  character(len=96), parameter :: help(2) = [character(len=96) :: &
    'usage: hmc_f --input FILE.toml [--trajectories N] [--start hot|cold|checkpoint|FILE]', &
    '             [--seconds LIMIT] [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]']
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge, from
  type(plaq_gauge_params) :: shape
  type(plaq_hmc) :: chain
  type(plaq_hmc_report) :: report
  character(len=:), allocatable :: input, start, checkpoint, plot_file
  type(plot_points) :: acceptance
  integer(c_int64_t) :: trajectories, every, n, all, accepted, seed, next, extents(4)
  real(c_double) :: weight
  integer :: last, mu

  last = command_argument_count()
  call check_options(last, '--input --trajectories --start --seconds --plot --device --threads', help)
  call system_clock(started)
  limit = number(last, '--seconds', '0')
  if (.not. limit >= 0) call usage_error('--seconds', 'expected 0 or more')
  input = all_of(option(last, '--input'))
  context = open_context(last)
  start = option(last, '--start', run_text('start', 'hot'))
  checkpoint = run_text('checkpoint', '')
  plot_file = option(last, '--plot', '')
  call check_output(plot_file, overwrite=.true.)
  trajectories = nint(run_number('trajectories', 1.0_c_double), c_int64_t)
  if (len(option(last, '--trajectories', '')) > 0) trajectories = whole(last, '--trajectories')
  every = nint(run_number('checkpoint_every', 10.0_c_double), c_int64_t)
  if (trajectories < 1) call usage_error('trajectories', 'expected 1 or more')

  call ok(plaq_gauge_params_init(shape, c_sizeof(shape)))
  do mu = 1, 4
    extents(mu) = nint(run_number('lattice.'//achar(iachar('0') + mu - 1), 0.0_c_double), c_int64_t)
    if (extents(mu) < 2) call usage_error('run.lattice', 'expected four even numbers')
  end do
  call divide(context, extents)
  shape%extents = int(extents, c_int32_t)
  call ok(plaq_gauge_create(context, shape, gauge))
  call ok(plaq_hmc_create(gauge, input//c_null_char, chain))
  call ok(plaq_hmc_place(chain, seed, next))
  select case (start)
  case ('cold')
    call ok(plaq_gauge_unit(gauge))
  case ('hot')
    call ok(plaq_gauge_hot(gauge, seed))
  case ('checkpoint')
    call ok(plaq_hmc_load(chain, gauge, checkpoint//c_null_char))
  case default
    call ok(plaq_gauge_read_file(context, start//c_null_char, gauge=from))
    call ok(plaq_gauge_copy(from, gauge))
    call ok(plaq_gauge_destroy(from))
  end select
  call ok(plaq_hmc_place(chain, seed, next))
  print '(a,a,a,a,a)', '# seed ', word(seed), ', trajectories from ', word(next), ' on'
  print '(a)', '# trajectory, plaquette, delta H, accepted, iterations'
  accepted = 0
  weight = 0
  call watch_signals()
  all = trajectories
  do n = 1, trajectories
    call ok(plaq_hmc_report_init(report, c_sizeof(report)))
    call ok(plaq_hmc_run(chain, gauge, 1_c_int64_t, c_funloc(progress), c_null_ptr, report))
    accepted = accepted + report%accepted
    weight = weight + report%exp_minus_delta_h
    print '(i8,f16.12,f14.6,i3,i10)', report%next_trajectory - 1, report%plaquette, report%delta_h, &
      report%last_accepted, report%iterations
    flush (output_unit)
    call plot_add(acceptance, real(report%next_trajectory - 1, c_double), real(accepted, c_double) / real(n, c_double))
    if (report%stopped == 1) all = n
    if (len(checkpoint) > 0 .and. every > 0) then
      if (mod(report%next_trajectory, every) == 0 .or. n == all) &
        call ok(plaq_hmc_save(chain, gauge, checkpoint//c_null_char))
    end if
    if (report%stopped == 1) exit
  end do
  if (report%stopped == 1) print '(a)', '# '//trim(merge('INTERRUPTED     ', 'the time is over', interrupted == 1))// &
    ' after trajectory '//word(report%next_trajectory - 1)
  print '(a,f6.4,a,f0.6)', '# acceptance ', real(accepted, c_double) / real(all, c_double), &
    ', average of exp(-delta H) ', weight / real(all, c_double)
  if (len(plot_file) > 0 .and. first_rank(context)) call write_plot()
  call ok(plaq_context_destroy(context))
  call leave(merge(3, 0, interrupted == 1))

contains

  subroutine write_plot()
    call plot_page(plot_file, &
                   [plot_one('Plaquette', 'trajectory', 'plaquette', plot_history('plaquette', '#0072b2', plaquettes)), &
                    plot_one('Energy', 'trajectory', 'delta H', plot_history('delta H', '#d55e00', energies)), &
                    plot_one('Acceptance', 'trajectory', 'fraction', plot_history('accepted so far', '#009e73', acceptance))])
  end subroutine

  function all_of(name) result(text)
    character(len=*), intent(in) :: name
    character(len=:), allocatable :: text
    integer :: unit, length, status
    open (newunit=unit, file=name, access='stream', form='unformatted', status='old', action='read', iostat=status)
    if (status /= 0) call usage_error('--input', name)
    inquire (unit, size=length)
    allocate (character(len=length) :: text)
    read (unit) text
    close (unit)
  end function

  real(c_double) function run_number(key, otherwise)
    character(len=*), intent(in) :: key
    real(c_double), intent(in) :: otherwise
    integer(c_int32_t) :: found
    call ok(plaq_input_number(input//c_null_char, 'run.'//key//c_null_char, otherwise, run_number, found))
  end function

  function run_text(key, otherwise) result(text)
    character(len=*), intent(in) :: key, otherwise
    character(len=:), allocatable :: text
    character(kind=c_char) :: buffer(1024)
    integer(c_int32_t) :: found
    integer :: i
    buffer = c_null_char
    call ok(plaq_input_text(input//c_null_char, 'run.'//key//c_null_char, buffer, size(buffer, kind=c_int64_t), found))
    text = ''
    if (found == 0) text = otherwise
    if (found == 0) return
    do i = 1, size(buffer)
      if (buffer(i) == c_null_char) exit
      text = text//buffer(i)
    end do
  end function
end program

!> hmc: SU(3) configurations with dynamical quarks or without, by hybrid Monte Carlo; the twin of hmc.c
!> for its keys lattice, start, trajectories and checkpoint.
!>
!>   hmc_f --input FILE.toml [--trajectories N] [--start hot|cold|checkpoint|FILE]
!>         [--device auto|cpu|cuda] [--threads N]
!>
! test: --input examples-c/hmc/quenched.toml --trajectories 3
! test: --input examples-c/hmc/wilson.toml --trajectories 1
include 'example.inc'

program hmc
  use plaq
  use example
  implicit none
  character(len=96), parameter :: help(2) = [character(len=96) :: &
    'usage: hmc_f --input FILE.toml [--trajectories N] [--start hot|cold|checkpoint|FILE]', &
    '             [--device auto|cpu|cuda] [--threads N]']
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge, from
  type(plaq_gauge_params) :: shape
  type(plaq_hmc) :: chain
  type(plaq_hmc_report) :: report
  character(len=:), allocatable :: input, start, checkpoint
  integer(c_int64_t) :: trajectories, every, n, accepted, seed, next, extents(4)
  real(c_double) :: weight
  integer :: last, mu

  last = command_argument_count()
  call check_options(last, '--input --trajectories --start --device --threads', help)
  input = all_of(option(last, '--input'))
  context = open_context(last)
  start = option(last, '--start', run_text('start', 'hot'))
  checkpoint = run_text('checkpoint', '')
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
  do n = 1, trajectories
    call ok(plaq_hmc_report_init(report, c_sizeof(report)))
    call ok(plaq_hmc_run(chain, gauge, 1_c_int64_t, c_null_funptr, c_null_ptr, report))
    accepted = accepted + report%accepted
    weight = weight + report%exp_minus_delta_h
    print '(i8,f16.12,f14.6,i3,i10)', report%next_trajectory - 1, report%plaquette, report%delta_h, &
      report%last_accepted, report%iterations
    flush (output_unit)
    if (len(checkpoint) > 0 .and. every > 0) then
      if (mod(report%next_trajectory, every) == 0 .or. n == trajectories) &
        call ok(plaq_hmc_save(chain, gauge, checkpoint//c_null_char))
    end if
  end do
  print '(a,f6.4,a,f0.6)', '# acceptance ', real(accepted, c_double) / real(trajectories, c_double), &
    ', average of exp(-delta H) ', weight / real(trajectories, c_double)
  call ok(plaq_context_destroy(context))
  call leave(0)

contains

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

!> hmc: SU(3) configurations with dynamical quarks or without, by hybrid Monte Carlo; the twin of hmc.c.
!>
!>   hmc_f --input FILE.toml [--trajectories N] [--start hot|cold|checkpoint|FILE] [--log FILE.jsonl]
!>         [--overwrite no|yes] [--seconds LIMIT] [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]
!>
! test: --input examples-c/hmc/quenched.toml --trajectories 3 --log $OUT/quenched_f.jsonl --plot $OUT/quenched_f.svg
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
  character(len=118), parameter :: help(15) = [character(len=118) :: &
    'usage: hmc_f --input FILE.toml [options]', &
    'SU(3) configurations with dynamical quarks or without, by hybrid Monte Carlo (docs/hmc.md has the input''s keys).', &
    '  --input FILE.toml    action, integrator and, in [run], what the program does: examples-c/hmc has some', &
    '  --trajectories N     how many (trajectories of [run], else 1)', &
    '  --start S            hot, cold, checkpoint, or a configuration''s file (start of [run], else hot)', &
    '  --log FILE.jsonl     a line of JSON for every trajectory (log of [run], else none)', &
    '  --overwrite B        yes: a log, configurations and a checkpoint that are there already are replaced; a start', &
    '                       from the checkpoint goes on with them (no)', &
    '  --seconds LIMIT      ends before a trajectory that would take longer than until then, with a checkpoint', &
    '                       where there is one; --start checkpoint goes on; 0: no limit (0)', &
    '  --plot FILE.svg      plaquette, delta H and acceptance over trajectories and the autocorrelation as a picture (none)', &
    '  --device D           auto, cpu or cuda (auto)', &
    '  --threads N          of the CPU; 0: all (0)', &
    '  --help, -h, --version', &
    'example: hmc_f --input examples-c/hmc/quenched.toml --trajectories 3 --plot hmc.svg']
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge, from
  type(plaq_gauge_params) :: shape
  type(plaq_hmc) :: chain
  type(plaq_hmc_report) :: report
  type(plaq_complex) :: polyakov
  character(len=:), allocatable :: input, start, log_name, checkpoint, prefix, plot_file
  type(plot_points) :: acceptance
  integer(c_int64_t) :: trajectories, every, save_every, flow_every, n, all, accepted, seed, next, place
  real(c_double) :: weight, total
  logical :: goes_on, overwrite, logged
  integer :: last, unit

  last = command_argument_count()
  call check_options(last, '--input --trajectories --start --log --overwrite --seconds --plot --device --threads', help)
  call system_clock(started)
  limit = number(last, '--seconds', '0')
  if (.not. limit >= 0) call usage_error('--seconds', 'expected 0 or more')
  input = all_of(option(last, '--input'))
  context = open_context(last)
  call ok(plaq_input_check(input//c_null_char, 'run'//c_null_char, 'lattice start trajectories log checkpoint checkpoint_every '// &
                           'configurations save_every flow_every flow_time flow_step'//c_null_char))
  start = option(last, '--start', run_text('start', 'hot'))
  log_name = option(last, '--log', run_text('log', ''))
  checkpoint = run_text('checkpoint', '')
  prefix = run_text('configurations', '')
  plot_file = option(last, '--plot', '')
  call check_plot(plot_file, overwrite=.true.)
  trajectories = nint(run_number('trajectories', 1.0_c_double), c_int64_t)
  if (len(option(last, '--trajectories', '')) > 0) trajectories = whole(last, '--trajectories')
  every = nint(run_number('checkpoint_every', 10.0_c_double), c_int64_t)
  save_every = nint(run_number('save_every', 10.0_c_double), c_int64_t)
  flow_every = nint(run_number('flow_every', 0.0_c_double), c_int64_t)
  goes_on = start == 'checkpoint'
  overwrite = yes(last, '--overwrite')
  if (trajectories < 1) call usage_error('trajectories', 'expected 1 or more')

  gauge = lattice()
  call ok(plaq_hmc_create(gauge, input//c_null_char, chain))
  call ok(plaq_hmc_place(chain, seed, next))
  if (.not. goes_on) then
    call check_output(log_name, overwrite)
    call check_output(checkpoint, overwrite)
    if (len(prefix) > 0 .and. .not. overwrite) call check_configurations()
  end if
  select case (start)
  case ('cold')
    call ok(plaq_gauge_unit(gauge))
  case ('hot')
    call ok(plaq_gauge_hot(gauge, seed))
  case ('checkpoint')
    if (len(checkpoint) == 0) call usage_error('run.checkpoint', 'missing')
    call ok(plaq_hmc_load(chain, gauge, checkpoint//c_null_char))
  case default
    call ok(plaq_gauge_read_file(context, start//c_null_char, gauge=from))
    call ok(plaq_gauge_copy(from, gauge))
    call ok(plaq_gauge_destroy(from))
  end select
  call ok(plaq_hmc_place(chain, seed, next))
  logged = len(log_name) > 0 .and. first_rank(context)
  if (logged) call open_log()
  print '(a,a,a,a,a)', '# seed ', word(seed), ', trajectories from ', word(next), ' on'
  print '(a)', '# trajectory, plaquette, delta H, accepted, iterations'
  accepted = 0
  weight = 0
  total = 0
  call watch_signals()
  all = trajectories
  do n = 1, trajectories
    call ok(plaq_hmc_report_init(report, c_sizeof(report)))
    call ok(plaq_hmc_run(chain, gauge, 1_c_int64_t, c_funloc(progress), c_null_ptr, report))
    place = report%next_trajectory - 1
    if (report%stopped == 1) all = n
    accepted = accepted + report%accepted
    weight = weight + report%exp_minus_delta_h
    total = total + report%trajectory_seconds
    call ok(plaq_gauge_polyakov_loop(gauge, 3_c_int32_t, polyakov))
    print '(i8,f16.12,f14.6,i3,i10)', place, report%plaquette, report%delta_h, report%last_accepted, report%iterations
    flush (output_unit)
    write (error_unit, '(9a)', advance='no') achar(13), '  ', word(n), ' of ', word(trajectories), ', acceptance ', &
      decimals(real(accepted, c_double) / real(n, c_double), 3)//', ', &
      word(nint(total / real(n, c_double) * real(trajectories - n, c_double), c_int64_t)), ' s left '
    call plot_add(acceptance, real(place, c_double), real(accepted, c_double) / real(n, c_double))
    if (logged) call write_log()
    if (flow_every > 0) then
      if (mod(place + 1, flow_every) == 0) call flow()
    end if
    if (logged) then
      write (unit, '(a)') '}'
      flush (unit)
    end if
    if (len(prefix) > 0 .and. save_every > 0) then
      if (mod(place + 1, save_every) == 0) call write_configuration()
    end if
    if (len(checkpoint) > 0 .and. every > 0) then
      if (mod(place + 1, every) == 0 .or. n == all) call ok(plaq_hmc_save(chain, gauge, checkpoint//c_null_char))
    end if
    if (report%stopped == 1) exit
  end do
  write (error_unit, '(/,3a)') '  ', decimals(total / real(all, c_double), 3), ' s a trajectory'
  if (logged) close (unit)
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
                    plot_one('Acceptance', 'trajectory', 'fraction', plot_history('accepted so far', '#009e73', acceptance)), &
                    plot_one('Autocorrelation of the plaquette', 't', 'rho', &
                             plot_history('rho(t)', '#cc79a7', autocorrelation(plaquettes)))])
  end subroutine

  type(plaq_gauge) function lattice()
    integer(c_int64_t) :: extents(4)
    integer :: mu
    call ok(plaq_gauge_params_init(shape, c_sizeof(shape)))
    do mu = 1, 4
      extents(mu) = nint(run_number('lattice.'//achar(iachar('0') + mu - 1), 0.0_c_double), c_int64_t)
      if (extents(mu) < 2) call usage_error('run.lattice', 'expected four even numbers')
    end do
    call divide(context, extents)
    shape%extents = int(extents, c_int32_t)
    call ok(plaq_gauge_create(context, shape, lattice))
  end function

  !> Begins the log, or goes on with it before the trajectory `next`; a line that was cut off is dropped, too.
  subroutine open_log()
    character(len=*), parameter :: begin = '{"trajectory":'
    character(len=:), allocatable :: old
    integer(c_int64_t) :: number
    integer :: kept, at, length, comma, status
    logical :: there
    inquire (file=log_name, exist=there)
    if (goes_on .and. there) then
      old = all_of(log_name)
      kept = begin_file(log_name)
      at = 1
      do
        length = index(old(at:), new_line('a')) - 1
        if (length < 0) exit
        comma = index(old(at:at + length), ',')
        if (comma > len(begin) .and. index(old(at:at + length), begin) == 1) then
          read (old(at + len(begin):at + comma - 2), *, iostat=status) number
          if (status == 0 .and. number < next) write (kept, '(a)') old(at:at + length - 1)
        end if
        at = at + length + 1
      end do
      call end_file(kept, log_name)
      open (newunit=unit, file=log_name, action='write', position='append', status='old', iostat=status)
    else
      open (newunit=unit, file=log_name, action='write', status='replace', iostat=status)
    end if
    if (status == 0) return
    write (error_unit, '(a)') log_name//': cannot be written'
    call leave(1)
  end subroutine

  !> A line but for its end.
  subroutine write_log()
    type(plaq_monomial_report) :: m
    character(kind=c_char) :: name(256)
    integer(c_int64_t) :: k, count
    write (unit, '(10a)', advance='no') '{"trajectory":', word(place), ',"plaquette":', exact(report%plaquette), &
      ',"delta_h":', exact(report%delta_h), ',"accepted":', truth(report%last_accepted), ',"iterations":', &
      word(report%iterations)
    write (unit, '(8a)', advance='no') ',"seconds":', exact(report%trajectory_seconds), ',"polyakov":[', &
      exact(polyakov%re), ',', exact(polyakov%im), '],"correction":', exact(report%correction)
    if (report%reversibility_links >= 0) write (unit, '(5a)', advance='no') ',"reversibility":{"links":', &
      exact(report%reversibility_links), ',"hamiltonian":', exact(report%reversibility_h), '}'
    write (unit, '(a)', advance='no') ',"forces":{'
    call ok(plaq_hmc_monomials(chain, count))
    do k = 0, count - 1
      call ok(plaq_monomial_report_init(m, c_sizeof(m)))
      call ok(plaq_hmc_monomial(chain, k, name, size(name, kind=c_int64_t), m))
      if (k > 0) write (unit, '(a)', advance='no') ','
      write (unit, '(13a)', advance='no') quoted(text_of(name)), ':{"rms":', exact(m%rms), ',"max":', exact(m%max), &
        ',"kicks":', word(m%kicks), ',"iterations":', word(m%force_iterations), ',"seconds":', exact(m%seconds), &
        ',"solve_seconds":', exact(m%solve_seconds)//'}'
    end do
    write (unit, '(a)', advance='no') '}'
  end subroutine

  !> t0 and charge of a copy that flows.
  subroutine flow()
    type(plaq_gauge) :: copy
    type(plaq_flow_params) :: p
    type(plaq_flow_report) :: r
    type(plaq_flow_point), allocatable :: points(:)
    integer(c_int64_t) :: count, room
    copy = lattice()
    call ok(plaq_flow_params_init(p, c_sizeof(p)))
    call ok(plaq_flow_report_init(r, c_sizeof(r)))
    p%time = run_number('flow_time', 1.0_c_double)
    p%step = run_number('flow_step', 0.02_c_double)
    p%every = 1
    room = int(p%time / p%step, c_int64_t) + 8
    allocate (points(room))
    call ok(plaq_gauge_copy(gauge, copy))
    call ok(plaq_flow_run(copy, p, c_null_funptr, c_null_ptr, r, points, room, count))
    if (logged .and. count > 0 .and. count <= room) &
      write (unit, '(9a)', advance='no') ',"flow":{"time":', exact(r%time), ',"t0":', exact(r%t0_clover), ',"w0":', &
      exact(r%w0_clover), ',"charge":', exact(points(count)%charge), '}'
    call ok(plaq_gauge_destroy(copy))
  end subroutine

  function configuration_name(number) result(text)
    integer(c_int64_t), intent(in) :: number
    character(len=:), allocatable :: text
    character(len=24) :: digits
    write (digits, '(i0.6)') number
    text = prefix//'.'//trim(digits)
  end function

  !> Those that come, of which none may be there.
  subroutine check_configurations()
    logical :: there
    integer(c_int64_t) :: k
    if (save_every <= 0) return
    do k = next + save_every - 1 - mod(next, save_every), next + trajectories - 1, save_every
      inquire (file=configuration_name(k), exist=there)
      if (there) call check_output(configuration_name(k), .false.)
    end do
  end subroutine

  subroutine write_configuration()
    type(plaq_write_params) :: p
    character(len=16), target :: creator
    call ok(plaq_write_params_init(p, c_sizeof(p)))
    creator = 'plaq hmc'//c_null_char
    p%format = PLAQ_FILE_FORMAT_ILDG
    p%sequence_number = place
    p%creator = c_loc(creator)
    call ok(plaq_gauge_write_file(gauge, configuration_name(place)//c_null_char, p))
  end subroutine

  function all_of(name) result(text)
    character(len=*), intent(in) :: name
    character(len=:), allocatable :: text
    integer :: unit, length, status
    open (newunit=unit, file=name, access='stream', form='unformatted', status='old', action='read', iostat=status)
    if (status /= 0) then
      write (error_unit, '(a)') name//': no such file'
      call leave(1)
    end if
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
    buffer = c_null_char
    call ok(plaq_input_text(input//c_null_char, 'run.'//key//c_null_char, buffer, size(buffer, kind=c_int64_t), found))
    text = otherwise
    if (found /= 0) text = text_of(buffer)
  end function

  !> Of characters of C.
  function text_of(buffer) result(text)
    character(kind=c_char), intent(in) :: buffer(:)
    character(len=:), allocatable :: text
    integer :: i
    text = ''
    do i = 1, size(buffer)
      if (buffer(i) == c_null_char) exit
      text = text//buffer(i)
    end do
  end function
end program

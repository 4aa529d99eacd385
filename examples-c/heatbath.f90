!> heatbath: quenched SU(3) configurations of the Wilson action; the twin of heatbath.c, which says what the
!> options mean.
!>
!>   heatbath_f --lattice X,Y,Z,T --beta B [--start hot|cold|FILE] [--seed S] [--overrelax N]
!>              [--thermalise SWEEPS] [--separation SWEEPS] [--configurations N]
!>              [--out PREFIX] [--format nersc|nersc3x3|ildg|milc|openqcd|ddalphaamg] [--overwrite no|yes]
!>              [--plot FILE.svg] [--json FILE] [--device auto|cpu|cuda] [--threads N]
!>   heatbath_f --continue FILE [--separation SWEEPS] [--configurations N] [--out PREFIX] ...
!>
! test: --lattice 4,4,4,8 --beta 6.0 --thermalise 20 --separation 5 --configurations 2 --out $OUT/quenched_f --format nersc --plot $OUT/history_f.svg --json $OUT/history_f.json
! test: --start tests/data/quenched-b6.0-4x4x4x8.ildg --beta 6.0 --thermalise 1
! test: --continue $OUT/stream.00001 --configurations 1 --out $OUT/stream_f
include 'example.inc'
include 'plot.inc'

!> What is shown while sweeps run.
module heatbath_progress
  use, intrinsic :: iso_c_binding
  use example, only: interrupted, progress_due, progress_line, word, decimals
  implicit none
  real(c_double), save :: shown_at = 0
  !> Sweeps that are done one by one say nothing.
  logical, save :: quiet = .false.
contains
  !> Called after every sweep.
  integer(c_int32_t) function progress(done, all, seconds, user) bind(c)
    integer(c_int64_t), value :: done, all
    real(c_double), value :: seconds
    type(c_ptr), value :: user
    logical :: due
    progress = interrupted
    if (quiet .or. c_associated(user)) return
    if (seconds < shown_at) shown_at = 0
    due = progress_due(seconds, shown_at)
    if (due .or. done == all) &
      call progress_line(done == all, '  sweep '//word(done)//' of '//word(all)//', '//decimals(seconds, 1)//' s')
  end function
end module

program heatbath
  use plaq
  use example
  use plots
  use heatbath_progress
  implicit none
  character(len=32), parameter :: needs(2) = [character(len=32) :: &
    '--format: --out', &
    '--overwrite: --out --plot --json']
  character(len=102), parameter :: help(22) = [character(len=102) :: &
    'usage: heatbath_f --lattice X,Y,Z,T --beta B [options]', &
    '       heatbath_f --continue FILE [options]', &
    'Quenched SU(3) configurations of the Wilson action by heat bath and overrelaxation.', &
    '  --lattice X,Y,Z,T    even extents; of a file as start they are the file''s', &
    '  --beta B             coupling', &
    '  --start S            hot, cold, or a configuration''s file (hot)', &
    '  --continue FILE      go on after a configuration that heatbath wrote (ildg or nersc3x3) as if it had', &
    '                       not stopped: beta, seed, sweep and number are the file''s', &
    '  --seed S             of the random numbers (1)', &
    '  --overrelax N        overrelaxations after each heat bath (4)', &
    '  --thermalise N       sweeps before the first configuration (200)', &
    '  --separation N       sweeps between configurations (20)', &
    '  --configurations N   how many (1)', &
    '  --out PREFIX         configuration n goes to PREFIX.0000n (none is written)', &
    '  --format F           nersc, nersc3x3, ildg, milc, openqcd or ddalphaamg (ildg)', &
    '  --overwrite B        yes: files that are there already are replaced (no)', &
    '  --plot FILE.svg      the plaquette after every sweep as a picture, with its mean and error', &
    '  --json FILE          plaquettes of all configurations as JSON (none)', &
    '  --device D           auto, cpu or cuda (auto)', &
    '  --threads N          of the CPU; 0: all (0)', &
    '  --help, -h, --version', &
    'example: heatbath_f --lattice 8,8,8,16 --beta 6.0 --configurations 10 --out b6.0']
  !> What a label says before each number of the record: heatbath.c writes the same.
  character(len=32), parameter :: words(6) = [character(len=32) :: 'plaq heatbath, configuration ', ', sweep ', &
    ', beta ', ', seed ', ', overrelax ', ', separation ']
  integer, parameter :: lengths(6) = [29, 8, 7, 7, 12, 13]
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_gauge_params) :: shape
  type(plaq_update_params) :: params
  type(plaq_plaquette) :: average
  type(plot_points) :: points
  !> What is measured on a configuration: a member of the report's list.
  type measurement
    character(len=:), allocatable :: text
  end type
  type(measurement), allocatable :: measured(:)
  type(plaq_gauge_report) :: of_rank
  type(plaq_context_report) :: ranks
  integer :: count = 0
  character(len=:), allocatable :: start, from, prefix, plot_file, json_file
  integer(c_int64_t) :: thermalise, separation, configurations, n, number_of_last, first, extents(4)
  integer(c_int32_t) :: form
  logical :: overwrite, done, there
  integer :: last

  last = command_argument_count()
  call check_options(last, '--lattice --beta --start --continue --seed --overrelax --thermalise --separation '// &
                     '--configurations --out --format --overwrite --plot --json --device --threads', help, needs)
  from = option(last, '--continue', '')
  start = option(last, '--start', 'hot')
  prefix = option(last, '--out', '')
  plot_file = option(last, '--plot', '')
  json_file = option(last, '--json', '')
  quiet = len(plot_file) > 0
  configurations = whole(last, '--configurations', '1')
  form = choose(last, '--format', 'ildg', format_names, format_values)
  overwrite = yes(last, '--overwrite')
  if (configurations < 1) call usage_error('--configurations', 'expected 1 or more')
  call ok(plaq_update_params_init(params, c_sizeof(params)))
  if (len(from) > 0) then
    if (len(option(last, '--start', '')) > 0) &
      call usage_error('--start', 'a stream that goes on starts from the file of --continue')
    thermalise = whole(last, '--thermalise', '0')
    if (thermalise /= 0) call usage_error('--thermalise', 'has been done in a stream that goes on')
    call read_place()
    call agrees('--beta', params%beta)
    call agrees('--seed', real(params%seed, c_double))
    call agrees('--overrelax', real(params%overrelax, c_double))
  else
    thermalise = whole(last, '--thermalise', '200')
    first = 1
    separation = 20
    params%beta = number(last, '--beta')
    params%seed = whole(last, '--seed', '1')
    params%overrelax = whole(last, '--overrelax', '4')
  end if
  if (len(option(last, '--separation', '')) > 0) separation = whole(last, '--separation')
  number_of_last = first + configurations - 1
  if (len(prefix) > 0) then
    call check_output(file_name(first), overwrite)
    do n = first + 1, number_of_last
      if (overwrite) exit
      inquire (file=file_name(n), exist=there)
      if (there) call check_output(file_name(n), .false.)
    end do
  end if
  call check_plot(plot_file, overwrite)
  call check_output(json_file, overwrite)

  context = open_context(last)
  if (len(from) > 0) then
    call read_gauge(from, as_they_are=.true.)
  else if (start == 'hot' .or. start == 'cold') then
    call ok(plaq_gauge_params_init(shape, c_sizeof(shape)))
    call integers('--lattice', option(last, '--lattice'), extents)
    call divide(context, extents)
    shape%extents = int(extents, c_int32_t)
    call ok(plaq_gauge_create(context, shape, gauge))
    if (start == 'hot') then
      call ok(plaq_gauge_hot(gauge, params%seed))
    else
      call ok(plaq_gauge_unit(gauge))
    end if
  else
    call read_gauge(start, as_they_are=.false.)
  end if

  call ok(plaq_gauge_report_init(of_rank, c_sizeof(of_rank)))
  call ok(plaq_gauge_describe(gauge, of_rank))
  call ok(plaq_context_report_init(ranks, c_sizeof(ranks)))
  call ok(plaq_context_describe(context, ranks))
  allocate (measured(configurations))

  call watch_signals()
  print '(a,a,a,a)', '# beta ', shown(params%beta, '(f12.6)'), ', seed ', word(params%seed)
  print '(a)', '# configuration, sweeps, plaquette, spatial, temporal, file'
  if (len(from) > 0) print '(4a)', '# continues ', from, ' after sweep ', word(params%first_sweep)
  do n = first, number_of_last
    call update(merge(thermalise, separation, n == 1))
    if (.not. done) then
      print '(4a)', '# INTERRUPTED after sweep ', word(params%first_sweep), ', before configuration ', word(n)
      exit
    end if
    call ok(plaq_gauge_plaquette(gauge, average))
    write (*, '(i6,1x,i8,1x,3(1x,f14.12))', advance='no') n, params%first_sweep, average%total, average%spatial, &
      average%temporal
    if (len(prefix) > 0) call write_file()
    call measure()
    write (*, '()')
    flush (output_unit)
  end do
  if (len(plot_file) > 0) call write_plot()
  if (len(json_file) > 0 .and. first_rank(context)) call write_json()
  call ok(plaq_context_destroy(context))
  call leave(merge(0, 3, done))

contains

  !> Where the stream of a file is.
  subroutine read_place()
    character(kind=c_char) :: letters(512)
    character(len=512) :: label, value(6)
    integer(c_int32_t) :: found
    integer :: i, k, at, next, status(6)
    call ok(plaq_gauge_file_text(from//c_null_char, PLAQ_FILE_TEXT_ENSEMBLE_LABEL, letters, 512_c_int64_t, found))
    label = ''
    do i = 1, 512
      if (letters(i) == c_null_char) exit
      label(i:i) = letters(i)
    end do
    status = 1
    if (index(label, trim(words(1))) == 1) then
      at = lengths(1) + 1
      do k = 1, 6
        next = len_trim(label) + 1
        if (k < 6) next = index(label, words(k + 1)(:lengths(k + 1)))
        if (next < at) exit
        value(k) = label(at:next - 1)
        if (k < 6) at = next + lengths(k + 1)
        status(k) = 0
      end do
    end if
    if (all(status == 0)) then
      read (value(1), *, iostat=status(1)) first
      read (value(2), *, iostat=status(2)) params%first_sweep
      read (value(3), *, iostat=status(3)) params%beta
      read (value(4), *, iostat=status(4)) params%seed
      read (value(5), *, iostat=status(5)) params%overrelax
      read (value(6), *, iostat=status(6)) separation
    end if
    if (any(status /= 0)) then
      write (error_unit, '(3a)') '--continue: ', from, &
        ': has no record of heatbath, which writes one to files of the formats ildg and nersc3x3'
      call leave(1)
    end if
    first = first + 1
  end subroutine

  !> An option must be absent or say what the file says.
  subroutine agrees(name, of_file)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: of_file
    if (len(option(last, name, '')) == 0) return
    if (abs(number(last, name) - of_file) > 0) &
      call usage_error(name, option(last, name)//'; the file of --continue has '//general(of_file, 15))
  end subroutine

  !> The links of a file; those of a stream as they are.
  subroutine read_gauge(file, as_they_are)
    character(len=*), intent(in) :: file
    logical, intent(in) :: as_they_are
    type(plaq_read_params) :: p
    type(plaq_file_report) :: report
    call ok(plaq_read_params_init(p, c_sizeof(p)))
    call ok(plaq_file_report_init(report, c_sizeof(report)))
    if (len(option(last, '--lattice', '')) > 0) then
      call integers('--lattice', option(last, '--lattice'), extents)
      p%extents = int(extents, c_int32_t)
    end if
    if (as_they_are) p%project = 0
    call ok(plaq_gauge_read_file(context, file//c_null_char, p, gauge, report))
    if (as_they_are .and. (report%precision /= PLAQ_PRECISION_DOUBLE .or. report%format == PLAQ_FILE_FORMAT_NERSC)) then
      write (error_unit, '(4a)') '--continue: ', file, &
        ': expected all rows of the links in double precision (ildg, nersc3x3), found ', format_name(report%format)
      call leave(1)
    end if
  end subroutine

  !> With a picture in steps of a sweep, at each of which the plaquette is measured. `done` is false where a signal
  !> came, on many ranks to any of them.
  subroutine update(sweeps)
    integer(c_int64_t), intent(in) :: sweeps
    type(plaq_update_report) :: report
    type(plaq_plaquette) :: now
    integer(c_int64_t) :: left
    done = .true.
    if (sweeps == 0) return
    params%sweeps = merge(1_c_int64_t, sweeps, quiet)
    do left = sweeps, 1, -params%sweeps
      call ok(plaq_update_report_init(report, c_sizeof(report)))
      call ok(plaq_gauge_update(gauge, params, c_funloc(progress), c_null_ptr, report))
      params%first_sweep = report%next_sweep
      done = report%stopped == 0
      if (.not. done) return
      if (.not. quiet) cycle
      call ok(plaq_gauge_plaquette(gauge, now))
      call plot_add(points, real(report%next_sweep, c_double), now%total)
    end do
  end subroutine

  subroutine measure()
    character(len=:), allocatable :: file
    file = 'null'
    if (len(prefix) > 0) file = quoted(file_name(n))
    count = count + 1
    measured(count)%text = '    {"number": '//word(n)//', "sweeps": '//word(params%first_sweep)//', "total": '// &
      exact(average%total)//', "spatial": '//exact(average%spatial)//', "temporal": '//exact(average%temporal)// &
      ', "file": '//file//'}'
  end subroutine

  subroutine write_json()
    integer :: unit, k
    unit = begin_file(json_file)
    write (unit, '(a)') '{', '  "version": '//quoted(plaq_text(plaq_version()))//',', &
      '  "lattice": '//json_integers(of_rank%extents * ranks%grid)//',', &
      '  "beta": '//exact(params%beta)//', "seed": '//word(params%seed)//', "overrelax": '//word(params%overrelax)// &
      ', "separation": '//word(separation)//',', &
      '  "sweeps": '//word(params%first_sweep)//', "stopped": '//trim(merge('false', 'true ', done))//',', &
      '  "configurations": ['
    do k = 1, count
      write (unit, '(a)') measured(k)%text//trim(merge(',', ' ', k < count))
    end do
    write (unit, '(a)') '  ]', '}'
    call end_file(unit, json_file)
  end subroutine

  subroutine write_plot()
    type(plot_series) :: series
    real(c_double) :: mean, error, tau
    integer :: begin
    if (.not. first_rank(context)) return
    series = plot_history('plaquette', '#0072b2', points)
    ! The last sweep of the thermalisation makes the first configuration.
    begin = int(max(thermalise, 1_c_int64_t))
    call mean_of_history(series%values(begin:), mean, error, tau)
    if (error > 0) then
      series%mean = mean
      series%error = error
      series%first = begin
      series%name = 'plaquette, mean '//decimals(mean, 6)//', error '//small(error, 1)//', autocorrelation time '// &
        decimals(tau, 1)
      print '(a,i0,7a)', '# plaquette of ', size(series%values) - begin + 1, ' sweeps: mean ', decimals(mean, 12), &
        ', error ', small(error, 2), ', autocorrelation time ', decimals(tau, 2)
    end if
    call plot_page(plot_file, [plot_one('Plaquette, beta '//general(params%beta, 6), 'sweep', 'plaquette', series)])
  end subroutine

  function file_name(k) result(name)
    integer(c_int64_t), intent(in) :: k
    character(len=:), allocatable :: name
    character(len=20) :: digits
    write (digits, '(i0.5)') k
    name = prefix//'.'//trim(digits)
  end function

  subroutine write_file()
    type(plaq_write_params) :: p
    character(len=512), target :: label
    character(len=16), target :: creator
    call ok(plaq_write_params_init(p, c_sizeof(p)))
    label = words(1)(:lengths(1))//word(n)//words(2)(:lengths(2))//word(params%first_sweep)//words(3)(:lengths(3))// &
      shown(params%beta, '(es25.16e3)')//words(4)(:lengths(4))//word(params%seed)//words(5)(:lengths(5))// &
      word(params%overrelax)//words(6)(:lengths(6))//word(separation)//c_null_char
    creator = 'plaq heatbath'//c_null_char
    p%format = form
    p%sequence_number = n
    p%creator = c_loc(creator)
    p%ensemble_label = c_loc(label)
    call ok(plaq_gauge_write_file(gauge, file_name(n)//c_null_char, p))
    write (*, '(2a)', advance='no') '  ', file_name(n)
  end subroutine
end program

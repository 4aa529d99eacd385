!> overlap: chiral quarks on a gauge configuration; the twin of overlap.c, with the same options, table and
!> JSON. docs/overlap.md describes them.
!>
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --task modes --modes 6 --delta 1e-5 --json $OUT/overlap_f.json --save-modes $OUT/modes_f.lime
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --task modes --delta 1e-5 --load-modes $OUT/modes_f.lime --locality yes --json $OUT/locality_f.json --plot $OUT/modes_f.svg
include 'example.inc'
include 'plot.inc'

module overlap_progress
  use, intrinsic :: iso_c_binding
  use example, only: interrupted, progress_due, progress_line, word, small, decimals
  implicit none
  real(c_double), save :: shown_at = 0
contains
  !> Called after every iteration of a solver or restart of a search.
  integer(c_int32_t) function progress(iteration, residual, seconds, user) bind(c)
    integer(c_int64_t), value :: iteration
    real(c_double), value :: residual, seconds
    type(c_ptr), value :: user
    progress = interrupted
    if (seconds < shown_at) shown_at = 0
    if (c_associated(user)) return
    if (progress_due(seconds, shown_at)) &
      call progress_line(.false., '  iteration '//word(iteration)//', residual '//small(residual, 2)//', '// &
                         decimals(seconds, 1)//' s')
  end function
end module

program overlap
  use plaq
  use example
  use plots
  use overlap_progress
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  implicit none
  integer, parameter :: task_modes = 0, task_index = 1, task_propagator = 2, most_masses = 16
  character(len=10), parameter :: task_names(3) = [character(len=10) :: 'modes', 'index', 'propagator']
  integer(c_int32_t), parameter :: task_values(3) = [task_modes, task_index, task_propagator]
  character(len=10), parameter :: sign_names(3) = [character(len=10) :: 'polynomial', 'zolotarev', 'auto']
  integer(c_int32_t), parameter :: sign_values(3) = &
    [PLAQ_OVERLAP_POLYNOMIAL, PLAQ_OVERLAP_ZOLOTAREV, PLAQ_OVERLAP_AUTO]
  character(len=4), parameter :: solver_names(4) = [character(len=4) :: 'auto', 'cg', 'sumr', 'gcr']
  integer(c_int32_t), parameter :: solver_values(4) = &
    [PLAQ_OVERLAP_SOLVER_AUTO, PLAQ_OVERLAP_CG, PLAQ_OVERLAP_SUMR, PLAQ_OVERLAP_GCR]
  character(len=6), parameter :: precision_names(3) = [character(len=6) :: 'double', 'single', 'half']
  integer(c_int32_t), parameter :: precision_values(3) = &
    [PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_SINGLE, PLAQ_PRECISION_HALF]
  character(len=9), parameter :: preconditioner_names(3) = [character(len=9) :: 'none', 'wilson', 'multigrid']
  integer(c_int32_t), parameter :: preconditioner_values(3) = [0_c_int32_t, 1_c_int32_t, 2_c_int32_t]
  character(len=12), parameter :: boundary_names(2) = [character(len=12) :: 'periodic', 'antiperiodic']
  integer(c_int32_t), parameter :: boundary_values(2) = [0_c_int32_t, 1_c_int32_t]
  character(len=3), parameter :: no_yes(2) = [character(len=3) :: 'no', 'yes']
  integer(c_int32_t), parameter :: no_yes_values(2) = [0_c_int32_t, 1_c_int32_t]
  character(len=71), parameter :: needs(5) = [character(len=71) :: &
    '--tol --solver --precision --source --preconditioner: --task=propagator', &
    '--low: --task=index|propagator', &
    '--preconditioner: --solver=(auto)|gcr', &
    '--wilson-mass: --preconditioner', &
    '--smear-rho: --smear-steps']
  character(len=109), parameter :: help(30) = [character(len=109) :: &
    'usage: overlap_f --gauge FILE [options]', &
    'Chiral quarks on a configuration: modes of the kernel, low modes and index, propagators (docs/overlap.md).', &
    '  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself', &
    '  --task T             modes: low modes of the kernel and the Ginsparg-Wilson relation; index: also low modes', &
    '                       of D^dagger D; propagator: these and twelve solves for every mass (modes)', &
    '  --s S                the kernel is gamma5 (D_W - (1 + s)) (0.4)', &
    '  --mass M[,M...]      of the quark, up to 16 (0.05)', &
    '  --delta D            largest error of the sign function (1e-8)', &
    '  --sign S             polynomial, zolotarev or auto (polynomial)', &
    '  --modes N            low modes of the kernel to project; auto: as the spectrum suggests (auto)', &
    '  --high N             modes of the upper end of the kernel''s spectrum (1)', &
    '  --low N              low modes of D^dagger D on either chirality; 0 with --task propagator: none (8)', &
    '  --tol R              residual of the solves, |b - D x| / |b| (1e-7)', &
    '  --solver S           auto, cg, sumr or gcr (auto)', &
    '  --precision P        of the iteration inside double: double, single or half (single)', &
    '  --preconditioner P   of gcr: none, wilson or multigrid, the Wilson operator''s inverse (none)', &
    '  --wilson-mass M      of that operator, above the critical one; auto: found (auto)', &
    '  --time-bc B          periodic or antiperiodic (antiperiodic)', &
    '  --source S           point,x,y,z,t or wall,t (point,0,0,0,0)', &
    '  --smear-steps N      stout smearing of the kernel''s links (0)', &
    '  --smear-rho R        its weight (0.1)', &
    '  --locality B         yes: the largest |D eta|(x) at every distance from a point source eta (no)', &
    '  --save-modes FILE    the kernel''s modes (none)', &
    '  --load-modes FILE    modes that --save-modes wrote, in place of a search (none)', &
    '  --json FILE          all results as JSON (none)', &
    '  --plot FILE.svg      eigenvalues of D in the complex plane, of the task modes those of the kernel (none)', &
    '  --device D           auto, cpu or cuda (auto)', &
    '  --threads N          of the CPU; 0: all (0)', &
    '  --help, -h, --version', &
    'example: overlap_f --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --task index --modes 6 --delta 1e-5']

  character(len=:), allocatable :: gauge_file, json_file, plot_file, save_file, load_file, device
  integer(c_int32_t) :: task, boundary, solver, precision, preconditioner, zeros(2)
  integer(c_int64_t) :: low
  integer(c_int64_t) :: part(4), offset(4) !< Extents of this rank's part of the lattice, and where it begins.
  logical :: low_sought
  real(c_double) :: tol, violation, wilson_mass, masses(most_masses), condensate(most_masses)
  logical :: found_mass, locality
  integer :: last, mass_count, times
  type(plaq_context) :: context
  type(plaq_overlap) :: quarks
  type(plaq_overlap_params) :: params
  type(plaq_overlap_report) :: found
  type(plaq_source_params) :: source
  type(plaq_file_report) :: file
  type(plaq_plaquette) :: average
  type(plaq_solve_report) :: solved
  !> Of the kernel's modes at both ends; |lambda|^2 of D^dagger D and residuals on chirality 1 and -1; correlators over
  !> time and mass, of rho over its direction too; effective masses.
  real(c_double), allocatable :: values(:), residuals(:), distances(:)
  real(c_double), allocatable :: high_values(:), high_residuals(:), high_gaps(:)
  real(c_double), allocatable :: low_values(:, :), low_residuals(:, :)
  real(c_double), allocatable :: pion(:, :), rho_xyz(:, :, :), rho(:, :), nucleon(:, :)
  real(c_double), allocatable :: mass_pion(:, :), mass_rho(:, :), mass_nucleon(:, :)
  real(c_double), allocatable :: largest(:) !< |D eta| at taxi distances from 0 on.
  real(c_double) :: seconds(5) !< Loading, Ginsparg-Wilson relation, index, propagators, locality.

  last = command_argument_count()
  call check_options(last, '--gauge --task --s --mass --delta --sign --modes --low --tol --solver --precision '// &
                     '--time-bc --source --device --threads --json --plot --preconditioner --wilson-mass '// &
                     '--smear-steps --smear-rho --save-modes --load-modes --locality --high', help, needs)
  call ok(plaq_overlap_params_init(params, c_sizeof(params)))
  gauge_file = option(last, '--gauge')
  json_file = option(last, '--json', '')
  plot_file = option(last, '--plot', '')
  call check_output(json_file, overwrite=.true.)
  call check_plot(plot_file, overwrite=.true.)
  save_file = option(last, '--save-modes', '')
  call check_output(save_file, overwrite=.true.)
  load_file = option(last, '--load-modes', '')
  task = choose(last, '--task', 'modes', task_names, task_values)
  params%sign = choose(last, '--sign', 'polynomial', sign_names, sign_values)
  solver = choose(last, '--solver', 'auto', solver_names, solver_values)
  precision = choose(last, '--precision', 'single', precision_names, precision_values)
  boundary = choose(last, '--time-bc', 'antiperiodic', boundary_names, boundary_values)
  params%s = number(last, '--s', '0.4')
  params%delta = number(last, '--delta', '1e-8')
  tol = number(last, '--tol', '1e-7')
  preconditioner = choose(last, '--preconditioner', 'none', preconditioner_names, preconditioner_values)
  found_mass = option(last, '--wilson-mass', 'auto') == 'auto'
  if (.not. found_mass) wilson_mass = number(last, '--wilson-mass', '0')
  locality = choose(last, '--locality', 'no', no_yes, no_yes_values) == 1
  params%smearing = PLAQ_SMEARING_STOUT
  params%smearing_steps = whole32(last, '--smear-steps', '0')
  params%smearing_alpha(1) = number(last, '--smear-rho', '0.1')
  low = whole32(last, '--low', '8')
  params%high_modes = whole32(last, '--high', '1')
  if (params%high_modes < 1 .or. params%high_modes > 1000) call usage_error('--high', 'expected 1 to 1000 modes')
  params%modes = -1
  if (option(last, '--modes', 'auto') /= 'auto') params%modes = whole32(last, '--modes', '0')
  call mass_option(option(last, '--mass', '0.05'))
  call source_option(option(last, '--source', 'point,0,0,0,0'))
  if (low < merge(0, 1, task == task_propagator) .or. low > 1000) &
    call usage_error('--low', 'expected 1 to 1000 modes, or 0 with --task propagator')
  low_sought = task /= task_modes .and. low > 0

  context = open_context(last)
  device = device_name(context)
  write (error_unit, '(a)') 'overlap on '//device
  call watch_signals()
  seconds = 0
  zeros = 0
  solved%converged = 1
  call load()
  if (locality) call find_locality()
  if (low_sought) call low_modes()
  if (len(save_file) > 0) call ok(plaq_overlap_save(quarks, save_file//c_null_char))
  if (task == task_propagator) call propagate()
  call ok(plaq_overlap_describe(quarks, found))
  call print_results()
  if (len(json_file) > 0 .and. first_rank(context)) call write_json()
  if (len(plot_file) > 0 .and. first_rank(context)) then
    if (task == task_modes) then
      call plot_modes()
    else
      call write_plot()
    end if
  end if
  call ok(plaq_context_destroy(context))
  call leave(merge(0, 3, task /= task_propagator .or. solved%converged == 1))

contains

  function now() result(time)
    real(c_double) :: time
    integer(c_int64_t) :: count, rate
    call system_clock(count, rate)
    time = real(count, c_double) / real(rate, c_double)
  end function

  subroutine mass_option(text)
    character(len=*), intent(in) :: text
    integer :: i, status
    mass_count = 1 + count([(text(i:i) == ',', i=1, len(text))])
    status = merge(0, 1, len(text) > 0 .and. verify(text, '0123456789+-.eEdD,') == 0)
    if (mass_count > most_masses) call usage_error('--mass', 'at most 16 masses')
    if (status == 0) read (text, *, iostat=status) masses(1:mass_count)
    if (status /= 0) call refuse('--mass', text, 'a number, or several with commas between')
  end subroutine

  subroutine source_option(text)
    character(len=*), intent(in) :: text
    integer(c_int64_t) :: x(4)
    call ok(plaq_source_params_init(source, c_sizeof(source)))
    x = 0
    if (index(text, 'point,') == 1) then
      source%kind = PLAQ_SOURCE_POINT
      call integers('--source point', text(7:), x)
    else if (index(text, 'wall,') == 1) then
      source%kind = PLAQ_SOURCE_WALL
      call integers('--source wall', text(6:), x(4:4))
    else
      call not_a_choice('--source', text, [character(len=5) :: 'point', 'wall'])
    end if
    source%position = int(x, c_int32_t)
  end subroutine

  !> Reads the configuration, finds the kernel's modes and makes the operator.
  subroutine load()
    type(plaq_gauge) :: gauge
    type(plaq_spinor) :: none
    type(plaq_context_report) :: ranks
    real(c_double) :: start
    start = now()
    call ok(plaq_file_report_init(file, c_sizeof(file)))
    call ok(plaq_gauge_read_file(context, gauge_file//c_null_char, gauge=gauge, report=file))
    call ok(plaq_gauge_plaquette(gauge, average))
    times = file%extents(4)
    part = file%extents
    call divide(context, part)
    call ok(plaq_context_report_init(ranks, c_sizeof(ranks)))
    call ok(plaq_context_describe(context, ranks))
    offset = ranks%coords*part
    seconds(1) = now() - start
    params%mass = masses(1)
    params%boundary(4) = boundary
    if (len(load_file) > 0) then
      call ok(plaq_overlap_load(context, gauge, params, load_file//c_null_char, quarks))
    else
      call ok(plaq_overlap_create(context, gauge, params, none, c_funloc(progress), c_null_ptr, quarks))
    end if
    call ok(plaq_gauge_destroy(gauge))
    call ok(plaq_overlap_report_init(found, c_sizeof(found)))
    call ok(plaq_overlap_describe(quarks, found))
    allocate (values(found%modes), residuals(found%modes), distances(found%modes))
    call ok(plaq_overlap_kernel(quarks, values, residuals, distances, int(found%modes, c_int64_t)))
    allocate (high_values(found%high_modes), high_residuals(found%high_modes), high_gaps(found%high_modes))
    call ok(plaq_overlap_high(quarks, high_values, high_residuals, high_gaps, int(found%high_modes, c_int64_t)))
    start = now()
    call ok(plaq_overlap_ginsparg_wilson(quarks, 1_c_int64_t, violation))
    seconds(2) = now() - start
  end subroutine

  !> Of a field like the operator's, a number of columns of a source.
  function source_columns(from, n) result(field)
    type(plaq_source_params), intent(in) :: from
    integer, intent(in) :: n
    type(plaq_spinor_params) :: p
    type(plaq_spinor) :: field
    call ok(plaq_spinor_params_init(p, c_sizeof(p)))
    p%extents = int(part, c_int32_t)
    p%precision = found%precision
    p%nrhs = int(n, c_int32_t)
    call ok(plaq_spinor_create(context, p, field))
    call ok(plaq_spinor_source(field, from))
  end function

  !> P. Hernandez, K. Jansen, M. Luescher, hep-lat/9808010.
  subroutine find_locality()
    type(plaq_source_params) :: point
    type(plaq_layout_params) :: layout
    type(plaq_spinor) :: x, y
    real(c_double), allocatable, target :: image(:, :)
    integer :: l(4), c(4), site, rest, mu, r
    real(c_double) :: start
    start = now()
    l = file%extents
    call ok(plaq_source_params_init(point, c_sizeof(point)))
    point%kind = PLAQ_SOURCE_POINT
    point%position = 0
    x = source_columns(point, 1)
    y = source_columns(point, 1)
    call ok(plaq_overlap_apply(quarks, PLAQ_OVERLAP_D, y, x))
    call ok(plaq_layout_params_init(layout, c_sizeof(layout)))
    allocate (image(24, product(part)), largest(0:sum(l)/2))
    call ok(plaq_spinor_save(y, layout, c_loc(image)))
    call ok(plaq_spinor_destroy(x))
    call ok(plaq_spinor_destroy(y))
    largest = 0
    do site = 1, size(image, 2)
      rest = site - 1
      do mu = 1, 4
        c(mu) = int(offset(mu)) + mod(rest, int(part(mu)))
        rest = rest/int(part(mu))
      end do
      r = sum(min(c, l - c))
      largest(r) = max(largest(r), norm2(image(:, site)))
    end do
    call maximum_of_ranks(largest)
    seconds(5) = now() - start
  end subroutine

  subroutine low_modes()
    real(c_double) :: start, tol
    integer :: side
    start = now()
    ! By CG, Zolotarev's function is linear to its error only: eigenvectors get no better.
    tol = 1d-9
    if (found%sign == PLAQ_OVERLAP_ZOLOTAREV) tol = max(tol, found%error_bound)
    allocate (low_values(low, 2), low_residuals(low, 2))
    call ok(plaq_overlap_index(quarks, int(low, c_int32_t), tol, c_funloc(progress), c_null_ptr, low_values(:, 1), &
                               low_values(:, 2), zeros))
    do side = 1, 2
      call ok(plaq_overlap_low(quarks, int(3 - 2*side, c_int32_t), low_values(:, side), low_residuals(:, side), low))
    end do
    seconds(3) = now() - start
  end subroutine

  subroutine propagate()
    type(plaq_overlap_solve_params) :: p
    type(plaq_spinor) :: quark(most_masses), columns
    real(c_double), allocatable :: pairs(:, :)
    real(c_double) :: products(2, 12)
    real(c_double) :: start
    integer :: k
    integer(c_int64_t) :: n
    start = now()
    n = times
    call ok(plaq_overlap_solve_params_init(p, c_sizeof(p)))
    p%algorithm = solver
    p%tol = tol
    p%sloppy_precision = precision
    if (preconditioner /= 0) then
      p%wilson_iterations = 100
      if (.not. found_mass) p%wilson_mass = wilson_mass
      p%multigrid = merge(1, 0, preconditioner == 2)
    end if
    call ok(plaq_solve_report_init(solved, c_sizeof(solved)))
    call ok(plaq_overlap_propagators(quarks, p, masses, int(mass_count, c_int64_t), source, c_funloc(progress), &
                                     c_null_ptr, quark, solved))
    columns = source_columns(source, 12)
    allocate (pion(n, mass_count), rho_xyz(n, 3, mass_count), rho(n, mass_count), nucleon(n, mass_count), pairs(2, n))
    allocate (mass_pion(n, mass_count), mass_rho(n, mass_count), mass_nucleon(n, mass_count))
    do k = 1, mass_count
      call ok(plaq_spinor_correlators(quark(k), source%position(4), real(boundary, c_double), n, pion(:, k), &
                                      rho_xyz(:, :, k), pairs))
      rho(:, k) = sum(rho_xyz(:, :, k), 2) / 3
      nucleon(:, k) = pairs(1, :)
      call ok(plaq_effective_mass(pion(:, k), n, PLAQ_MASS_FORM_COSH, mass_pion(:, k)))
      call ok(plaq_effective_mass(rho(:, k), n, PLAQ_MASS_FORM_COSH, mass_rho(:, k)))
      call ok(plaq_effective_mass(nucleon(:, k), n, PLAQ_MASS_FORM_LOG, mass_nucleon(:, k)))
      call ok(plaq_spinor_dot(columns, quark(k), products, 12_c_int64_t))
      condensate(k) = sum(products(1, :))
      call ok(plaq_spinor_destroy(quark(k)))
    end do
    call ok(plaq_spinor_destroy(columns))
    seconds(4) = now() - start
  end subroutine

  subroutine print_results()
    integer :: k, t
    print '(3a,3(i0," x "),i0,a,f11.9)', '# ', gauge_file, ' ('//format_name(file%format)//'), ', file%extents, &
      ', plaquette ', average%total
    print '(20a)', '# s ', shown(found%s, '(f8.4)'), ', ', name_of(found%sign, sign_names, sign_values), ', degree ', &
      word(int(found%degree, c_int64_t)), ' for ', shown(found%low, '(es10.3)'), ' < |Q| < ', &
      shown(found%high, '(es10.3)'), ', delta ', shown(found%delta, '(es9.2)'), ', error bound ', &
      shown(found%error_bound, '(es9.2)')
    print '(8a)', '# Ginsparg-Wilson violation ', shown(violation, '(es9.2)'), '; kappa_+ ', &
      shown(found%kappa_plus, '(es8.1)'), ', kappa_- ', shown(found%kappa_minus, '(es8.1)'), '; ', device
    print '(a)', '#   k             lambda(Q)     residue    distance'
    do k = 1, found%modes
      print '(i5,2x,es20.12,2x,es10.2,2x,es10.3)', k - 1, values(k), residuals(k), distances(k)
    end do
    do k = 1, found%high_modes
      print '(a,i0,6a)', '# high ', k - 1, ': |Q| ', shown(high_values(k), '(es13.6)'), ', error ', &
        shown(high_residuals(k), '(es8.1)'), ', gap ', shown(high_gaps(k), '(es9.2)')
    end do
    if (locality) then
      print '(a)', '#   r       largest |D eta|'
      do k = 0, ubound(largest, 1)
        print '(i5,2x,es20.12)', k, largest(k)
      end do
    end if
    if (task == task_modes) return
    if (low_sought) then
      print '(a,i0,a,i0,a,i0,a)', '# index ', zeros(2) - zeros(1), ': ', zeros(1), &
        ' zero modes of positive chirality, ', zeros(2), ' of negative'
      print '(a)', '#   k       |lambda(D)|^2 +       |lambda(D)|^2 -'
    end if
    do k = 1, int(low)
      print '(i5,2(2x,es20.12))', k - 1, low_values(k, :)
    end do
    if (task /= task_propagator) return
    do k = 1, mass_count
      print '(7a)', '# m ', shown(masses(k), '(f8.5)'), ': ', word(solved%iterations), &
        ' iterations of '//name_of(found%algorithm, solver_names, solver_values)//', residual ', &
        shown(solved%residual, '(es9.2)'), &
        trim(merge(merge(', INTERRUPTED  ', ', NOT CONVERGED', solved%stopped == 1), repeat(' ', 15), solved%converged /= 1))
      print '(a)', '#   t                pion                 rho             nucleon'
      do t = 1, times
        print '(i5,3(2x,es18.10))', t - 1, pion(t, k), rho(t, k), nucleon(t, k)
      end do
    end do
  end subroutine

  function json_array(name, numbers) result(text)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: numbers(:)
    character(len=:), allocatable :: text
    integer :: i
    text = '"'//trim(name)//'": ['
    do i = 1, size(numbers)
      if (i > 1) text = text//', '
      text = text//exact(numbers(i))
    end do
    text = text//']'
  end function

  function number_text(value) result(text)
    integer(c_int32_t), intent(in) :: value
    character(len=:), allocatable :: text
    text = word(int(value, c_int64_t))
  end function

  subroutine write_json()
    integer :: unit, k
    character(len=:), allocatable :: comma
    unit = begin_file(json_file)
    write (unit, '(a)') '{', '  "version": '//quoted(plaq_text(plaq_version()))//',', '  "device": '//quoted(device)//','
    write (unit, '(a)') '  "gauge": {"file": '//quoted(gauge_file)//', "format": "'//format_name(file%format)// &
      '", "lattice": '//json_integers(file%extents)//'},'
    write (unit, '(a)') '  "plaquette": {"total": '//exact(average%total)//'},'
    write (unit, '(a)') '  "action": {"s": '//exact(found%s)//', "time_bc": "'// &
      name_of(boundary, boundary_names, boundary_values)//'", '//json_array('masses', masses(1:mass_count))//'},'
    write (unit, '(a)') '  "kernel": {', '    "low": ['
    do k = 1, found%modes
      comma = trim(merge(', ', '  ', k < found%modes))
      write (unit, '(a)') '      {"value": '//exact(values(k))//', "residual": '//exact(residuals(k))//', "gap": '// &
        exact(distances(k))//'}'//comma
    end do
    write (unit, '(a)') '    ],', '    "next": '//exact(found%next)//','
    write (unit, '(a)') '    "high": ['
    do k = 1, found%high_modes
      comma = trim(merge(', ', '  ', k < found%high_modes))
      write (unit, '(a)') '      {"value": '//exact(high_values(k))//', "residual": '//exact(high_residuals(k))// &
        ', "gap": '//exact(high_gaps(k))//'}'//comma
    end do
    write (unit, '(a)') '    ],'
    write (unit, '(a)') '    "kappa_plus": '//exact(found%kappa_plus)//', "kappa_minus": '//exact(found%kappa_minus), '  },'
    write (unit, '(a)') '  "sign": {"method": "'//name_of(found%sign, sign_names, sign_values)//'", "degree": '// &
      number_text(found%degree)//', "delta": '//exact(found%delta)//', "low": '//exact(found%low)//', "high": '// &
      exact(found%high)//'},'
    write (unit, '(a)') '  "error_bound": '//exact(found%error_bound)//',', '  "ginsparg_wilson": '//exact(violation)//','
    if (locality) write (unit, '(a)') '  '//json_array('locality', largest)//','
    if (low_sought) then
      write (unit, '(a)') '  "index": '//number_text(zeros(2) - zeros(1))//','
      write (unit, '(a)') '  "overlap": {"zeros": '//json_integers(zeros)//', "low": {'// &
        json_array('plus', low_values(:, 1))//', '//json_array('minus', low_values(:, 2))//','
      write (unit, '(a)') '    '//json_array('plus_residuals', low_residuals(:, 1))//', '// &
        json_array('minus_residuals', low_residuals(:, 2))//'}},'
    end if
    if (task == task_propagator) then
      write (unit, '(a)') '  "solver": {"name": "'//name_of(found%algorithm, solver_names, solver_values)// &
        '", "preconditioner": "'//name_of(found%preconditioner, preconditioner_names, preconditioner_values)// &
        '", "precision": "'// &
        name_of(precision, precision_names, precision_values)//'", "converged": '//truth(solved%converged)// &
        ', "iterations": '//word(solved%iterations)//', "residual": '//exact(solved%residual)//'},'
      write (unit, '(a)') '  "correlators": ['
      do k = 1, mass_count
        comma = trim(merge(', ', '  ', k < mass_count))
        write (unit, '(a)') '    {"mass": '//exact(masses(k))//', "condensate": '//exact(condensate(k))//', '// &
          json_array('pion', pion(:, k))//', '//json_array('rho_x', rho_xyz(:, 1, k))//', '// &
          json_array('rho_y', rho_xyz(:, 2, k))//', '//json_array('rho_z', rho_xyz(:, 3, k))//', '// &
          json_array('nucleon', nucleon(:, k))//','
        write (unit, '(a)') '     "effective_mass": {'//json_array('pion', mass_pion(:, k))//', '// &
          json_array('rho', mass_rho(:, k))//', '//json_array('nucleon', mass_nucleon(:, k))//'}}'//comma
      end do
      write (unit, '(a)') '  ],'
    end if
    write (unit, '(a)') '  "multiplications": '//word(found%multiplications)//','
    write (unit, '(a)') '  "seconds": {"load": '//exact(seconds(1))//', "modes": '//exact(found%seconds_modes)// &
      ', "sign": '//exact(found%seconds_sign)//', "ginsparg_wilson": '//exact(seconds(2))//','
    write (unit, '(a)') '    "locality": '//exact(seconds(5))//', "index": '//exact(seconds(3))// &
      ', "propagator": '//exact(seconds(4))//'}', '}'
    call end_file(unit, json_file)
  end subroutine

  !> The kernel's modes: moduli of the positive and of the negative eigenvalues.
  subroutine plot_modes()
    real(c_double) :: signs(size(values), 2), none(size(values), 2)
    none = ieee_value(1d0, ieee_quiet_nan)
    signs = none
    where (values >= 0)
      signs(:, 1) = values
    elsewhere
      signs(:, 2) = -values
    end where
    call plot_write(plot_file, 'low modes of the kernel Q', 'k', '|lambda(Q)|', &
                    [character(len=8) :: 'positive', 'negative'], [character(len=7) :: '#3060b0', '#b04030'], signs, none)
  end subroutine

  !> The circle of eigenvalues, and the low ones on it: Re lambda = |lambda|^2 / (2 rho).
  subroutine write_plot()
    integer :: unit, k, side
    real(c_double) :: r, square, re, im
    unit = begin_file(plot_file)
    r = 1 + params%s
    write (unit, '(a)') '<svg xmlns="http://www.w3.org/2000/svg" width="520" height="520" font-family="sans-serif" '// &
      'font-size="13">', '<rect width="520" height="520" fill="white"/>', &
      '<circle cx="260" cy="260" r="220" fill="none" stroke="#888"/>', &
      '<path d="M20 260H500M40 20V500" stroke="#bbb"/>'
    if (low_sought) then
      do side = 1, 2
        do k = 1, int(low)
          square = low_values(k, side)
          re = square / (2 * r)
          im = sqrt(max(0d0, square - re * re)) * merge(-1, 1, side == 1)
          write (unit, '(a,f8.2,a,f8.2,3a)') '<circle cx="', 40 + 220 / r * re, '" cy="', 260 + 220 / r * im, &
            '" r="3" fill="', merge('#3060b0', '#b04030', side == 1), '"/>'
        end do
      end do
    end if
    write (unit, '(a)') '<text x="50" y="510">eigenvalues of D: blue from positive, red from negative chirality</text>', '</svg>'
    call end_file(unit, plot_file)
  end subroutine
end program

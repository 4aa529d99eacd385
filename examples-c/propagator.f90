!> propagator: quark propagators on gauge configurations, and their hadron correlators; the twin of propagator.c: its
!> options, its table, its picture and its JSON. docs/propagator.md describes them.
!>
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --json $OUT/point_f.json --plot=$OUT/point_f.svg
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --time-bc periodic --source wall,3 --solver bicgstab --precision double --normalisation mass --rhs 5
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --kappa-strange 0.11 --source point,0,0,0,0:point,2,2,2,4 --source-smear 0.3,5 --sink-smear 0.3,5 --smear-links 0.5,2 --momenta 0,0,0:1,0,0 --baryons all --save $OUT/quark_f.lime
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source volume --noise z2 --dilute spin,colour,parity --sequential 4,15,0,0,0
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source wall,all --noise z4 --rhs 4 --json $OUT/walls_f.json
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source wall,all --noise z4 --json $OUT/walls_f.json --continue yes
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.13 --csw 1.2 --solver bicgstab --tol 1e-6 --error 1e-11 --mg-smoother red-black --mg-post 3 --mg-coarsest direct
include 'example.inc'
include 'hadrons.inc'
include 'samples.inc'
include 'cycle.inc'
include 'plot.inc'

module propagator_progress
  use, intrinsic :: iso_c_binding
  use example, only: interrupted, progress_due, progress_line, word, small, decimals
  implicit none
  real(c_double), save :: shown_at = 0
contains
  !> Called after every iteration of the solver.
  integer(c_int32_t) function progress(iteration, residual, seconds, user) bind(c)
    integer(c_int64_t), value :: iteration
    real(c_double), value :: residual, seconds
    type(c_ptr), value :: user
    progress = interrupted
    if (c_associated(user)) return
    if (progress_due(seconds, shown_at)) &
      call progress_line(.false., '  iteration '//word(iteration)//', residual '//small(residual, 2)//', '// &
                         decimals(seconds, 1)//' s')
  end function
end module

program propagator
  use plaq
  use example
  use hadron_lists
  use sample_lists
  use multigrid_cycle
  use plots
  use propagator_progress
  implicit none
  !> Beside the library's algorithms: GCR with multigrid.
  integer(c_int32_t), parameter :: multigrid_solver = 100
  !> CG needs the normal equations: its name stands for CGNR.
  character(len=8), parameter :: solver_names(7) = &
    [character(len=8) :: 'cgnr', 'cgne', 'cg', 'bicgstab', 'gcr', 'mr', 'mg']
  integer(c_int32_t), parameter :: solver_values(7) = &
    [PLAQ_ALGORITHM_CGNR, PLAQ_ALGORITHM_CGNE, PLAQ_ALGORITHM_CGNR, PLAQ_ALGORITHM_BICGSTAB, PLAQ_ALGORITHM_GCR, &
     PLAQ_ALGORITHM_MR, multigrid_solver]
  character(len=6), parameter :: precision_names(3) = [character(len=6) :: 'double', 'single', 'half']
  integer(c_int32_t), parameter :: precision_values(3) = &
    [PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_SINGLE, PLAQ_PRECISION_HALF]
  character(len=5), parameter :: normalisation_names(2) = [character(len=5) :: 'kappa', 'mass']
  integer(c_int32_t), parameter :: normalisation_values(2) = [PLAQ_NORMALISATION_KAPPA, PLAQ_NORMALISATION_MASS]
  character(len=12), parameter :: boundary_names(2) = [character(len=12) :: 'periodic', 'antiperiodic']
  integer(c_int32_t), parameter :: boundary_values(2) = [0_c_int32_t, 1_c_int32_t]
  character(len=120), parameter :: help(19) = [character(len=120) :: &
    'usage: propagator_f --gauge FILE[:FILE...]|@LIST --kappa K [--kappa-strange K] [--csw C]', &
    '                    [--time-bc periodic|antiperiodic] [--source point,x,y,z,t | wall,t | wall,all | volume, several]', &
    '                    [--source-momentum nx,ny,nz] [--noise none|z2|z4] [--dilute spin,colour[,time][,parity]]', &
    '                    [--seed N] [--sequential t,gamma,nx,ny,nz]', &
    '                    [--source-smear alpha,steps] [--sink-smear alpha,steps] [--smear-links alpha,steps]', &
    '                    [--momenta nx,ny,nz[:...]] [--baryons NAME[,...]|all|none]', &
    '                    [--solver cg|cgne|cgnr|bicgstab|gcr|mr|mg] [--tol R] [--precision double|single|half]', &
    '                    [--save-multigrid FILE] [--load-multigrid FILE] [--error R] [--mg-cycle v|w|k]', &
    '                    [--mg-deep-cycle C] [--mg-smoother mr|gcr|ca-gcr|richardson|schwarz|red-black]', &
    '                    [--mg-coarse-smoother S] [--mg-post N] [--mg-coarse-post N] [--mg-precision auto|single|half]', &
    '                    [--mg-links auto|single|half] [--mg-coarsest gcr|ca-gcr|bicgstab|direct] [--mg-modes N]', &
    '                    [--mg-tol R] [--mg-iterations N] [--mg-coarsest-tol R] [--mg-levels N]', &
    '                    [--mg-aggregate x,y,z,t[:...]] [--mg-vectors N] [--mg-setup N]', &
    '                    [--mg-setup-solver bicgstab|cg|gcr] [--mg-setup-columns N] [--mg-refinements N] [--krylov N]', &
    '                    [--max-iterations N] [--rhs N] [--normalisation kappa|mass]', &
    '                    [--save FILE] [--load FILE] [--bin N] [--json FILE] [--continue no|yes]', &
    '                    [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]', &
    'propagator --help says what they mean', &
    'example: propagator_f --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --plot pion.svg']

  character(len=:), allocatable :: json_file, plot_file, save_file, load_file, save_multigrid, load_multigrid, device
  real(c_double) :: kappa(2), csw, tol, tol_error !< kappa: light, strange.
  real(c_double) :: residuals(columns) = 0 !< The largest of each column.
  real(c_double) :: errors(columns) = 0    !< With --error: |x - y| / |y| of each column, y the better solution.
  integer(c_int32_t) :: boundary, algorithm, precision, normalisation
  integer(c_int64_t) :: max_iterations, rhs, krylov, part(4)
  integer :: quarks, sources, solves = 0
  logical :: goes_on, described = .false.
  type(plaq_source_params) :: source(most)
  type(smearing) :: at_source, at_sink, of_links
  type(cycle_options) :: levels
  type(hadrons) :: shape_of
  type(samples) :: found
  type(plaq_context) :: context
  type(plaq_dirac_report) :: action
  type(plaq_file_report) :: file
  type(plaq_plaquette) :: average
  type(plaq_solve_report) :: solved !< Of all solves: the slowest, sums of time and work.
  type(plaq_multigrid_report) :: hierarchy
  type(plaq_multigrid_level) :: level(8)
  !> Averages: numbers of the hadrons, then what `derive` makes of them; and their errors.
  real(c_double), allocatable :: values(:), deviations(:)
  integer :: last, times = 0, c
  !> By the clock: files and operators, solvers and their solves, when the JSON was written, how long that took.
  real(c_double) :: seconds_load = 0, seconds_propagator = 0, written, writing = 0
  logical :: finished

  last = command_argument_count()
  call read_options()
  context = open_context(last)
  device = device_name(context)
  write (error_unit, '(a)') 'propagator on '//device
  call ok(plaq_solve_report_init(solved, c_sizeof(solved)))
  call ok(plaq_dirac_report_init(action, c_sizeof(action)))
  solved%converged = 1
  action%kappa = kappa(1)
  action%mass = 0.5d0 / kappa(1) - 4
  written = now()
  if (goes_on) call go_on()
  call watch_signals()
  finished = .true.
  do c = 1, found%configurations
    if (finished) call configuration(c, finished)
  end do
  call jackknife(found, shape_of, values, deviations)
  call print_table()
  if (len(json_file) > 0 .and. first_rank(context)) call write_json()
  if (len(plot_file) > 0 .and. first_rank(context)) call write_plot()
  call ok(plaq_context_destroy(context))
  call leave(merge(0, 3, solved%converged == 1 .and. finished))

contains

  function now() result(seconds)
    real(c_double) :: seconds
    integer(c_int64_t) :: count, rate
    call system_clock(count, rate)
    seconds = real(count, c_double) / real(rate, c_double)
  end function

  subroutine read_options()
    call check_options(last, '--gauge --kappa --kappa-strange --csw --time-bc --source --source-momentum --noise --dilute '// &
                       '--seed --sequential --source-smear --sink-smear --smear-links --momenta --baryons --solver --tol '// &
                       '--precision --max-iterations --rhs --normalisation --save --load --save-multigrid --load-multigrid '// &
                       '--mg-cycle --mg-deep-cycle --mg-smoother --mg-coarse-smoother --mg-post --mg-coarse-post '// &
                       '--mg-precision --mg-links --mg-coarsest --mg-modes --mg-tol --mg-iterations --mg-coarsest-tol '// &
                       '--mg-levels --mg-aggregate --mg-setup-solver --mg-setup-columns --mg-vectors --mg-setup '// &
                       '--mg-refinements --krylov --error --bin --device --threads --json '// &
                       '--continue --plot', help)
    call file_list('--gauge', option(last, '--gauge'), found)
    found%bin = whole(last, '--bin', '1')
    goes_on = yes(last, '--continue')
    json_file = option(last, '--json', '')
    plot_file = option(last, '--plot', '')
    save_file = option(last, '--save', '')
    load_file = option(last, '--load', '')
    save_multigrid = option(last, '--save-multigrid', '')
    load_multigrid = option(last, '--load-multigrid', '')
    kappa(1) = number(last, '--kappa')
    kappa(2) = number(last, '--kappa-strange', '0')
    quarks = merge(2, 1, abs(kappa(2)) > 0)
    csw = number(last, '--csw', '0')
    tol = number(last, '--tol', '1e-10')
    tol_error = number(last, '--error', '0')
    boundary = choose(last, '--time-bc', 'antiperiodic', boundary_names, boundary_values)
    algorithm = choose(last, '--solver', 'cg', solver_names, solver_values)
    precision = choose(last, '--precision', 'single', precision_names, precision_values)
    normalisation = choose(last, '--normalisation', 'kappa', normalisation_names, normalisation_values)
    max_iterations = whole(last, '--max-iterations', '10000')
    rhs = whole(last, '--rhs', '12')
    krylov = whole(last, '--krylov', '0')
    levels = read_cycle(last)
    call source_list(last, source, sources)
    at_source = smearing_option(last, '--source-smear')
    at_sink = smearing_option(last, '--sink-smear')
    of_links = smearing_option(last, '--smear-links')
    shape_of%quarks = quarks
    call sequential_option(last, shape_of)
    call momentum_list(last, shape_of)
    call baryon_list(last, trim(merge('none   ', 'nucleon', source(1)%noise /= PLAQ_SOURCE_NOISE_NONE .or. &
                                      shape_of%sequential)), shape_of)
    if (.not. kappa(1) > 0) call usage_error('--kappa', 'expected a positive number')
    if (kappa(2) < 0) call usage_error('--kappa-strange', 'expected a positive number')
    if (max_iterations < 1 .or. max_iterations > 2**30) call usage_error('--max-iterations', 'out of range')
    if (krylov < 0 .or. krylov > 2**20) call usage_error('--krylov', 'out of range')
    if (rhs < 1 .or. rhs > columns) call usage_error('--rhs', 'expected 1 to 12 right-hand sides at a time')
    if (source(1)%noise /= PLAQ_SOURCE_NOISE_NONE .and. shape_of%baryon_count > 0) &
      call usage_error('--baryons', 'expected none with noise')
    if (shape_of%sequential .and. (quarks > 1 .or. at_sink%steps > 0 .or. shape_of%baryon_count > 0)) &
      call usage_error('--sequential', 'expected no strange quark, sink smearing or baryons')
    if (len(save_file) > 0 .and. len(load_file) > 0) call usage_error('--load', 'propagators are loaded or saved, not both')
    if (len(save_multigrid) > 0 .and. len(load_multigrid) > 0) &
      call usage_error('--load-multigrid', 'null vectors are loaded or saved, not both')
    if (len(save_multigrid) + len(load_multigrid) > 0 .and. &
        ((algorithm /= multigrid_solver .and. .not. abs(tol_error) > 0) .or. len(load_file) > 0)) &
      call usage_error('--save-multigrid, --load-multigrid', 'expected --solver mg or --error, and no --load')
    if (abs(tol_error) > 0 .and. (tol_error < 0 .or. len(load_file) > 0 .or. sources > 1 .or. has_parts(source(1)) &
                                  .or. shape_of%quarks > 1 .or. found%configurations > 1 .or. goes_on)) &
      call usage_error('--error', 'expected a positive number, one configuration, source and quark, no --load or --continue')
    if (found%bin < 1) call usage_error('--bin', 'expected 1 or more')
    if (goes_on .and. len(json_file) == 0) call usage_error('--continue', 'expected --json FILE, of which the run goes on')
    call check_output(json_file, overwrite=.true.)
    call check_output(plot_file, overwrite=.true.)
    call check_outputs(save_file)
    call check_outputs(save_multigrid)
  end subroutine

  !> Files of propagators and null vectors have their names from one option.
  subroutine check_outputs(base)
    character(len=*), intent(in) :: base
    character(len=:), allocatable :: name
    integer :: c, q
    if (len(base) == 0) return
    do c = 1, found%configurations
      do q = 1, quarks
        name = file_of(base, c, 1, q)
        call check_output(name(:len(name) - 1), overwrite=.true.)
      end do
    end do
  end subroutine

  !> Reads a configuration and makes the operators and, where something is smeared with them, smeared links;
  !> the others stay in the operators only.
  subroutine load(c, dirac, smeared)
    integer, intent(in) :: c
    type(plaq_dirac), intent(inout) :: dirac(2)
    type(plaq_gauge), intent(inout) :: smeared
    type(plaq_dirac_params) :: params
    type(plaq_gauge_smear_params) :: smear
    type(plaq_gauge) :: none
    type(plaq_file_report) :: report
    real(c_double) :: start
    integer :: q
    start = now()
    call ok(plaq_file_report_init(report, c_sizeof(report)))
    call ok(plaq_gauge_read_file(context, found%files(c)%text//c_null_char, gauge=smeared, report=report))
    if (times > 0) then
      if (any(report%extents /= file%extents)) then
        write (error_unit, '(a)') found%files(c)%text//': '//json_integers(report%extents)// &
          ', the other configurations '//json_integers(file%extents)
        call leave(1)
      end if
    end if
    file = report
    call ok(plaq_gauge_plaquette(smeared, average))
    part = file%extents
    call divide(context, part)
    do q = 1, quarks
      call ok(plaq_dirac_params_init(params, c_sizeof(params)))
      params%kappa = kappa(q)
      params%csw = csw
      params%boundary(4) = boundary
      params%normalisation = normalisation
      call ok(plaq_dirac_create(context, smeared, params, dirac(q)))
    end do
    call ok(plaq_dirac_report_init(action, c_sizeof(action)))
    call ok(plaq_dirac_describe(dirac(1), action))
    if (at_source%steps == 0 .and. at_sink%steps == 0) then
      call ok(plaq_gauge_destroy(smeared))
      smeared = none
    else if (of_links%steps > 0) then
      call ok(plaq_gauge_smear_params_init(smear, c_sizeof(smear)))
      smear%kind = PLAQ_SMEARING_APE
      smear%steps = of_links%steps
      smear%alpha(1) = of_links%alpha
      smear%directions = 7
      call ok(plaq_gauge_smear(smeared, smear))
    end if
    seconds_load = seconds_load + now() - start
  end subroutine

  !> What needs the lattice's extents.
  subroutine start_averages(extents)
    integer(c_int32_t), intent(in) :: extents(4)
    if (times > 0) return
    times = extents(4)
    shape_of%times = times
    call all_parts(source, sources, times)
    call start_samples(found, sources, hadron_numbers(shape_of))
    allocate (values(hadron_numbers(shape_of) + derived * times))
    allocate (deviations(size(values)))
  end subroutine

  !> A configuration, unless an earlier run has all of it. done is false if it was interrupted.
  subroutine configuration(c, done)
    integer, intent(in) :: c
    logical, intent(out) :: done
    type(plaq_dirac) :: dirac(2)
    type(plaq_gauge) :: smeared
    logical :: missing
    integer :: s, q
    missing = times == 0
    done = .true.
    do s = 1, merge(sources, 0, times > 0)
      if (found%of(s, c)%there) then
        write (error_unit, '(a)') '  '//found%files(c)%text//', '//source_name(source(s))//': skipped, '//json_file//' has it'
      else
        missing = .true.
      end if
    end do
    if (.not. missing) return
    if (found%configurations > 1) write (error_unit, '(a)') '  '//found%files(c)%text
    call load(c, dirac, smeared)
    call start_averages(file%extents)
    call run(dirac, smeared, c, done)
    do q = 1, quarks
      call ok(plaq_dirac_destroy(dirac(q)))
    end do
    call ok(plaq_gauge_destroy(smeared))
  end subroutine

  !> What must be the same in a run that goes on.
  function job() result(text)
    character(len=:), allocatable :: text
    integer :: k
    text = 'kappa '//general(kappa(1), 17)//' '//general(kappa(2), 17)//', csw '//general(csw, 17)//', '// &
      name_of(boundary, boundary_names, boundary_values)//', '// &
      name_of(normalisation, normalisation_names, normalisation_values)//', source momentum '// &
      commas(source(1)%momentum(:3))//', noise '//name_of(source(1)%noise, noise_names, noise_values)//' '// &
      word(source(1)%seed)//', smearing '//smearing_text(at_source)//' '//smearing_text(at_sink)//' '// &
      smearing_text(of_links)//', tol '//general(tol, 17)//', momenta'
    do k = 1, shape_of%momenta
      text = text//' '//commas(shape_of%momentum(:, k))
    end do
    do k = 1, shape_of%baryon_count
      text = text//' '//name_of(shape_of%baryon(k), baryon_names, baryon_values)
    end do
    if (shape_of%sequential) text = text//', sequential '//commas([shape_of%sequence%time, shape_of%sequence%gamma, &
                                                                   shape_of%sequence%momentum])
  end function

  !> Takes over what the JSON of an earlier run has.
  subroutine go_on()
    character(len=*), parameter :: before_job = '"job": "', before_lattice = '"lattice": ['
    character(len=:), allocatable :: text, theirs
    integer :: at, n, status
    call read_text(json_file, text)
    if (.not. allocated(text)) return ! the first time
    call ok(plaq_file_report_init(file, c_sizeof(file)))
    status = 1
    at = index(text, before_lattice)
    if (at > 0) then
      at = at + len(before_lattice)
      n = max(index(text(at:), ']') - 1, 0)
      read (text(at:at + n - 1), *, iostat=status) file%extents
    end if
    at = index(text, before_job)
    if (at == 0 .or. status /= 0 .or. any(file%extents < 1)) then
      write (error_unit, '(a)') '--continue: '//json_file//': not the JSON of a run of propagator'
      call leave(1)
    end if
    at = at + len(before_job)
    theirs = text(at:at + index(text(at:), '"') - 2)
    if (theirs /= job() .or. len(theirs) /= len(job())) then
      write (error_unit, '(a)') '--continue: '//json_file//': of another run', '  there '//theirs, '  here  '//job()
      call leave(1)
    end if
    call start_averages(file%extents)
    call take_samples(text, found, source)
    call known_format(text, file)
  end subroutine

  !> The file of a configuration, where there are several, a source, counted from 1, and a quark, for C.
  function file_of(base, c, s, q) result(name)
    character(len=*), intent(in) :: base
    integer, intent(in) :: c, s, q
    character(len=:), allocatable :: name
    name = base
    associate (gauge => found%files(c)%text)
      if (found%configurations > 1) name = name//'.'//gauge(index(gauge, '/', back=.true.) + 1:)
    end associate
    if (s > 1) name = name//'.'//word(int(s - 1, c_int64_t))
    if (q == 2) name = name//trim(merge('.sequential', '.strange   ', shape_of%sequential))
    name = name//c_null_char
  end function

  !> A solver; with multigrid, set up or from a file unless there is one.
  subroutine make_solver(dirac, algorithm, tol, c, q, solver, multigrid)
    type(plaq_dirac), intent(in) :: dirac
    integer(c_int32_t), intent(in) :: algorithm
    real(c_double), intent(in) :: tol
    integer, intent(in) :: c, q
    type(plaq_solver), intent(inout) :: solver
    type(plaq_multigrid), intent(inout) :: multigrid
    type(plaq_solver_params) :: params
    type(plaq_multigrid_params) :: build
    call ok(plaq_solver_params_init(params, c_sizeof(params)))
    params%algorithm = algorithm
    if (algorithm == multigrid_solver) then
      params%algorithm = PLAQ_ALGORITHM_GCR
      params%nkrylov = 4
    end if
    params%sloppy_precision = precision
    params%tol = tol
    if (krylov > 0) params%nkrylov = int(krylov, c_int32_t)
    params%max_iterations = int(max_iterations, c_int32_t)
    params%columns = int(rhs, c_int32_t)
    call ok(plaq_solver_create(dirac, params, solver))
    if (algorithm /= multigrid_solver) return
    if (multigrid%id == 0) then
      call ok(plaq_multigrid_params_init(build, c_sizeof(build)))
      call apply_cycle(levels, build)
      if (len(load_multigrid) > 0) then
        call ok(plaq_multigrid_load(dirac, build, file_of(load_multigrid, c, 1, q), multigrid))
      else
        call ok(plaq_multigrid_create(dirac, build, multigrid))
      end if
      if (len(save_multigrid) > 0) call ok(plaq_multigrid_save(multigrid, file_of(save_multigrid, c, 1, q)))
    end if
    call ok(plaq_solver_set_multigrid(solver, multigrid))
  end subroutine

  !> The twelve columns of one source, which has been smeared, for one quark.
  subroutine solve(solver, s, from, propagator, one)
    type(plaq_solver), intent(in) :: solver
    integer, intent(in) :: s
    type(plaq_spinor), intent(in) :: from
    type(plaq_spinor), intent(inout) :: propagator
    type(sample), intent(inout) :: one
    type(plaq_solve_report) :: report
    real(c_double) :: r(columns)
    call ok(plaq_solve_report_init(report, c_sizeof(report)))
    shown_at = 0
    ! Sources that nobody else needs are made inside, which saves their memory.
    if (from%id /= 0) then
      call ok(plaq_solver_columns(solver, from, c_funloc(progress), c_null_ptr, propagator, report, r))
    else
      call ok(plaq_solver_propagator(solver, source(s), c_funloc(progress), c_null_ptr, propagator, report, r))
    end if
    call progress_line(.true., '  '//word(report%iterations)//' iterations, residual '//small(report%residual, 2)//', '// &
                       decimals(report%seconds, 2)//' s')
    one%converged = one%converged .and. report%converged == 1
    one%iterations = max(one%iterations, report%iterations)
    one%residual = max(one%residual, report%residual)
    solves = solves + 1
    if (solves == 1) then
      solved = report
      residuals = r
      return
    end if
    solved%converged = min(solved%converged, report%converged)
    solved%stopped = max(solved%stopped, report%stopped)
    solved%iterations = max(solved%iterations, report%iterations)
    solved%residual = max(solved%residual, report%residual)
    solved%residual_hq = max(solved%residual_hq, report%residual_hq)
    solved%memory_peak = max(solved%memory_peak, report%memory_peak)
    solved%reliable_updates = solved%reliable_updates + report%reliable_updates
    solved%restarts = solved%restarts + report%restarts
    solved%seconds = solved%seconds + report%seconds
    solved%flops = solved%flops + report%flops
    solved%bytes = solved%bytes + report%bytes
    residuals = max(residuals, r)
  end subroutine

  subroutine describe_multigrid(multigrid)
    type(plaq_multigrid), intent(in) :: multigrid
    integer :: l
    call ok(plaq_multigrid_report_init(hierarchy, c_sizeof(hierarchy)))
    call ok(plaq_multigrid_describe(multigrid, hierarchy))
    do l = 1, hierarchy%levels
      call ok(plaq_multigrid_level_init(level(l), c_sizeof(level(l))))
      call ok(plaq_multigrid_describe_level(multigrid, int(l - 1, c_int32_t), level(l)))
    end do
  end subroutine

  !> How far a propagator is from one that is solved for again, to a smaller residual: after Clark et al.,
  !> arXiv:1612.07873, section 7.
  subroutine measure_error(dirac, multigrid, from, propagator)
    type(plaq_dirac), intent(in) :: dirac
    type(plaq_multigrid), intent(inout) :: multigrid
    type(plaq_spinor), intent(in) :: from, propagator
    type(plaq_solver) :: solver
    type(plaq_spinor) :: better
    type(plaq_solve_report) :: report
    real(c_double) :: ones(2, columns), norm(columns), apart(columns), r(columns)
    integer(c_int64_t) :: n
    call make_solver(dirac, multigrid_solver, tol_error, 1, 1, solver, multigrid)
    call ok(plaq_solve_report_init(report, c_sizeof(report)))
    shown_at = 0
    if (from%id /= 0) then
      call ok(plaq_solver_columns(solver, from, c_funloc(progress), c_null_ptr, better, report, r))
    else
      call ok(plaq_solver_propagator(solver, source(1), c_funloc(progress), c_null_ptr, better, report, r))
    end if
    if (report%converged /= 1) &
      write (error_unit, '(a)') 'propagator: --error: residual '//shown(report%residual, '(es9.2)')//' only'
    n = columns
    ones(1, :) = 1
    ones(2, :) = 0
    call ok(plaq_spinor_norm2(better, norm, n))
    call ok(plaq_spinor_axpby(-ones, propagator, ones, better, n))
    call ok(plaq_spinor_norm2(better, apart, n))
    errors = sqrt(apart / norm)
    call ok(plaq_spinor_destroy(better))
    call ok(plaq_solver_destroy(solver))
  end subroutine

  subroutine read_propagator(c, s, q, propagator)
    integer, intent(in) :: c, s, q
    type(plaq_spinor), intent(inout) :: propagator
    type(plaq_propagator_read_params) :: p
    type(plaq_spinor_report) :: form
    call ok(plaq_propagator_read_params_init(p, c_sizeof(p)))
    p%extents = file%extents
    p%precision = PLAQ_PRECISION_DOUBLE
    call ok(plaq_propagator_read_file(context, file_of(load_file, c, s, q), p, propagator))
    call ok(plaq_spinor_report_init(form, c_sizeof(form)))
    call ok(plaq_spinor_describe(propagator, form))
    if (form%nrhs /= columns) call usage_error('--load', 'expected twelve columns')
  end subroutine

  subroutine write_propagator(c, s, q, propagator, from)
    integer, intent(in) :: c, s, q
    type(plaq_spinor), intent(in) :: propagator, from
    type(plaq_propagator_write_params) :: p
    character(len=200), target :: info
    call ok(plaq_propagator_write_params_init(p, c_sizeof(p)))
    info = 'plaq '//plaq_text(plaq_version())//', kappa '//general(kappa(merge(1, q, shape_of%sequential)), 17)// &
      ', csw '//general(csw, 17)//', '//name_of(normalisation, normalisation_names, normalisation_values)// &
      ' normalisation'//c_null_char
    p%info = c_loc(info)
    call ok(plaq_propagator_write_file(propagator, from, file_of(save_file, c, s, q), p))
  end subroutine

  !> The propagators of a configuration, source after source, and their correlators. done is false if it was
  !> interrupted.
  subroutine run(dirac, smeared, c, done)
    type(plaq_dirac), intent(in) :: dirac(2)
    type(plaq_gauge), intent(in) :: smeared
    integer, intent(in) :: c
    logical, intent(out) :: done
    type(plaq_solver) :: solver(2)
    type(plaq_multigrid) :: multigrid(2)
    type(plaq_spinor) :: quark(2), from, begin, none
    logical :: follows
    type(plaq_spinor_params) :: p
    real(c_double) :: start, before, paused
    integer :: s, q
    start = now()
    before = seconds_propagator
    done = .true.
    if (len(load_file) == 0) then
      do q = 1, quarks
        call make_solver(dirac(q), algorithm, tol, c, q, solver(q), multigrid(q))
      end do
    end if
    do s = 1, sources
      associate (one => found%of(s, c))
        if (one%there) cycle
        one%converged = .true.
        one%plaquette = [average%total, average%spatial, average%temporal]
        from = none
        if (len(load_file) == 0 .and. (at_source%steps > 0 .or. len(save_file) > 0)) then
          call ok(plaq_spinor_params_init(p, c_sizeof(p)))
          p%extents = int(part, c_int32_t)
          p%nrhs = columns
          call ok(plaq_spinor_create(context, p, from))
          call ok(plaq_spinor_source(from, source(s)))
          call smear(from, smeared, at_source)
        end if
        do q = 1, shape_of%quarks
          begin = from
          follows = q == 2 .and. shape_of%sequential .and. len(load_file) == 0
          if (follows) begin = sequential_source(context, part, shape_of, quark(1), source(s))
          if (len(load_file) > 0) then
            call read_propagator(c, s, q, quark(q))
          else
            call solve(solver(merge(1, q, follows)), s, begin, quark(q), one)
          end if
          if (tol_error > 0) then
            paused = now()
            if (multigrid(1)%id /= 0) call describe_multigrid(multigrid(1)) ! what is measured next is not in it
            described = .true.
            call measure_error(dirac(1), multigrid(1), from, quark(1))
            start = start + now() - paused
          end if
          if (len(save_file) > 0) call write_propagator(c, s, q, quark(q), begin)
          call smear(quark(q), smeared, at_sink)
          if (follows) call ok(plaq_spinor_destroy(begin))
        end do
        seconds_propagator = before + now() - start
        done = solved%stopped == 0
        ! Half a propagator is shown only where there is nothing else.
        if (done .or. (c == 1 .and. s == 1)) then
          one%there = .true.
          call contract_hadrons(shape_of, quark, source(s), real(boundary, c_double), found%numbers(:, s, c))
        end if
      end associate
      do q = 1, shape_of%quarks
        call ok(plaq_spinor_destroy(quark(q)))
      end do
      call ok(plaq_spinor_destroy(from))
      if (.not. done) exit
      ! A run that is killed loses little; files that grow take a twentieth of the time.
      if (len(json_file) > 0 .and. now() - written > 20 * writing + 1) then
        if (first_rank(context)) call write_json()
      end if
    end do
    do q = 1, quarks
      call ok(plaq_solver_destroy(solver(q)))
    end do
    if (multigrid(1)%id /= 0 .and. .not. described) call describe_multigrid(multigrid(1))
    do q = 1, quarks
      call ok(plaq_multigrid_destroy(multigrid(q)))
    end do
  end subroutine

  !> The first one of `solver_names` is that of the algorithm that finished.
  function solver_name() result(text)
    character(len=:), allocatable :: text
    text = 'mg'
    if (algorithm /= multigrid_solver) text = name_of(solved%algorithm, solver_names, solver_values)
  end function

  subroutine print_table()
    character(len=:), allocatable :: line
    real(c_double) :: all(times, derived), off(times, derived)
    integer :: t, s
    associate (files => found%files, n => found%configurations)
      if (n == 1) then
        print '(3a,3(i0," x "),i0,a)', '# ', files(1)%text, ' ('//format_name(file%format)//'), ', file%extents, &
          ', plaquette '//decimals(mean_plaquette(found, 1), 9)
      else
        print '(a,i0,5a,3(i0," x "),i0,2a,i0,a)', '# ', found%whole, ' configurations, ', files(1)%text, ' to ', &
          files(n)%text, ', ', file%extents, ', plaquette '//decimals(mean_plaquette(found, 1), 9), '; jackknife errors of ', &
          found%bins, ' bins'
      end if
    end associate
    print '(8a)', '# kappa ', general(action%kappa, 10), ' (mass ', general(action%mass, 10), '), csw ', &
      general(csw, 10), ', '//name_of(boundary, boundary_names, boundary_values)//' in time, ', &
      name_of(normalisation, normalisation_names, normalisation_values)//' normalisation'
    if (quarks == 2) print '(2a)', '# kappa of the strange quark ', general(kappa(2), 10)
    do s = 1, sources
      line = '# '
      if (source(s)%noise /= PLAQ_SOURCE_NOISE_NONE) line = line//name_of(source(s)%noise, noise_names, noise_values)//' noise, '
      if (any(source(s)%momentum(:3) /= 0)) line = line//'momentum '//trim(triple(source(s)%momentum(:3)))//', '
      if (sites_of(source(s)) /= 'all') line = line//sites_of(source(s))//' sites, '
      if (source_kind(source(s)) == 'volume') then
        line = line//'volume source'
      else if (source_kind(source(s)) == 'wall') then
        line = line//'wall source at t = '//word(int(source(s)%position(4), c_int64_t))
      else
        line = line//'point source at '//point(source(s)%position)
      end if
      if (s == sources) line = line//', '//device
      print '(a)', line
    end do
    if (at_source%steps > 0 .or. at_sink%steps > 0) &
      print '(6(a,i0))', '# Gaussian smearing (weight, steps): source '//shown(at_source%alpha, '(f12.6)')//', ', &
      at_source%steps, ', sink '//shown(at_sink%alpha, '(f12.6)')//', ', at_sink%steps, '; links '// &
      shown(of_links%alpha, '(f12.6)')//', ', of_links%steps
    if (any(shape_of%momentum(:, 1) /= 0)) print '(2a)', '# momentum of the sink ', trim(triple(shape_of%momentum(:, 1)))
    if (old_samples(found) > 0) &
      print '(2(a,i0),2a)', '# ', old_samples(found), ' of ', size(found%of), ' propagators of ', json_file
    if (len(load_file) > 0) then
      print '(2a)', '# propagators of ', load_file
    else if (solves > 0) then
      print '(12a)', '# ', solver_name()//', ', &
        name_of(precision, precision_names, precision_values)//' inside double: ', word(solved%iterations), &
        ' iterations, residual ', shown(solved%residual, '(es9.2)'), ', ', shown(solved%seconds, '(f12.3)')//' s, ', &
        shown(solved%flops / solved%seconds * 1d-9, '(f12.1)')//' Gflop/s, peak ', &
        shown(solved%memory_peak / 1048576d0, '(f12.1)'), ' MiB', outcome()
    end if
    if (found%configurations > 1 .and. found%whole < found%configurations) &
      print '(2(a,i0),a)', '# INTERRUPTED: ', found%whole, ' of ', found%configurations, ' configurations'
    all = reshape(values(hadron_numbers(shape_of) + 1:), shape(all))
    off = reshape(deviations(hadron_numbers(shape_of) + 1:), shape(off))
    if (found%configurations > 1) then
      print '(a,3a)', '#   t', average_title('pion'), average_title('rho'), average_title('nucleon')
      do t = 1, times
        print '(i5,3a)', t - 1, average_text(all(t, [1, 7]), off(t, [1, 7])), average_text(all(t, [5, 8]), off(t, [5, 8])), &
          average_text(all(t, [6, 9]), off(t, [6, 9]))
      end do
      return
    end if
    print '(a)', '#   t              pion      m_eff               rho      m_eff           nucleon      m_eff'
    do t = 1, times
      print '(i5,2(2x,es16.9,2x,a),2x,a16,2x,a)', t - 1, all(t, 1), mass_text(all(t, 7)), all(t, 5), &
        mass_text(all(t, 8)), nucleon_text(all(t, 6)), mass_text(all(t, 9))
    end do
  end subroutine

  function outcome() result(text)
    character(len=:), allocatable :: text
    text = ''
    if (solved%converged == 1) return
    text = ', NOT CONVERGED'
    if (solved%stopped == 1) text = ', INTERRUPTED'
  end function

  subroutine json_multigrid(unit)
    integer, intent(in) :: unit
    integer :: l
    write (unit, '(a)') '  "multigrid": {"setup_seconds": '//exact(hierarchy%setup_seconds)//', "reduction": '// &
      exact(hierarchy%reduction)//', "bytes": '//word(hierarchy%bytes)//', "levels": ['
    do l = 1, hierarchy%levels
      write (unit, '(a)') '    {"lattice": '//json_integers(level(l)%extents)//', "block": '// &
        json_integers(level(l)%block)//', "vectors": '//word(int(level(l)%vectors, c_int64_t))// &
        ', "ranks": '//word(int(level(l)%ranks, c_int64_t))//', "bytes": '// &
        word(level(l)%bytes)//', "iterations": '//word(level(l)%iterations)//', "seconds": '// &
        exact(level(l)%seconds)//', "setup_seconds": '//exact(level(l)%setup_seconds)//', "reduction": '// &
        exact(level(l)%reduction)//trim(merge('} ', '},', l == hierarchy%levels))
    end do
    write (unit, '(a)') '  ]},'
  end subroutine

  !> Appears complete or not at all.
  subroutine write_json()
    real(c_double), parameter :: none(0) = 0
    real(c_double) :: all(times, derived), off(times, derived), before
    integer :: unit, k, n
    before = now()
    call jackknife(found, shape_of, values, deviations)
    n = hadron_numbers(shape_of)
    all = reshape(values(n + 1:), shape(all))
    off = reshape(deviations(n + 1:), shape(off))
    unit = begin_file(json_file)
    write (unit, '(a)') '{', '  "version": '//quoted(plaq_text(plaq_version()))//',', '  "device": '//quoted(device)//','
    write (unit, '(a)') '  "gauge": {"file": '//quoted(found%files(1)%text)//', "format": "'//format_name(file%format)// &
      '", "lattice": '//json_integers(file%extents)//'},'
    write (unit, '(a)') '  "plaquette": {"total": '//exact(mean_plaquette(found, 1))// &
      ', "spatial": '//exact(mean_plaquette(found, 2))// &
      ', "temporal": '//exact(mean_plaquette(found, 3))//'},', '  "job": "'//job()//'",'
    write (unit, '(5(a,i0),a)') '  "configurations": {"asked": ', found%configurations, ', "done": ', found%whole, &
      ', "bin": ', found%bin, ', "bins": ', found%bins, ', "sources_taken_over": ', old_samples(found), '},'
    write (unit, '(a)') '  "action": {"kappa": '//exact(action%kappa)//', "mass": '//exact(action%mass)// &
      ', "csw": '//exact(csw)//', "time_bc": "'//name_of(boundary, boundary_names, boundary_values)// &
      '", "normalisation": "'//name_of(normalisation, normalisation_names, normalisation_values)//'"},'
    write (unit, '(a)') '  "seconds": {"load": '//exact(seconds_load)//', "propagator": '//exact(seconds_propagator)//'},'
    write (unit, '(a)') '  "source": {"kind": "'//source_kind(source(1))// &
      '", "position": '//json_integers(source(1)%position)//'},'
    write (unit, '(a)') '  "sources": ['
    do k = 1, sources
      write (unit, '(a)') '    {"kind": "'//source_kind(source(k))// &
        '", "position": '//json_integers(source(k)%position)//', "momentum": '//json_integers(source(k)%momentum(:3))// &
        ', "noise": "'//name_of(source(k)%noise, noise_names, noise_values)//'", "seed": '//word(source(k)%seed)// &
        ', "sites": "'//sites_of(source(k))//'"'//trim(merge('} ', '},', k == sources))
    end do
    write (unit, '(a)') '  ],', '  "smearing": {"source": '//json_smearing(at_source)//', "sink": '// &
      json_smearing(at_sink)//', "links": '//json_smearing(of_links)//'},'
    if (shape_of%sequential) write (unit, '(a)') '  "sequential": {"time": '//word(int(shape_of%sequence%time, c_int64_t))// &
      ', "gamma": '//word(int(shape_of%sequence%gamma, c_int64_t))//', "momentum": '// &
      json_integers(shape_of%sequence%momentum)//'},'
    if (quarks == 2) write (unit, '(a)') '  "kappa_strange": '//exact(kappa(2))//','
    write (unit, '(a)') '  "solver": {', '    "name": "'//solver_name()// &
      '", "precision": "'//name_of(precision, precision_names, precision_values)//'", "rhs": '// &
      word(rhs)//', "tol": '//exact(tol)//','
    write (unit, '(a)') '    "converged": '//truth(solved%converged)//', "stopped": '//truth(solved%stopped)// &
      ', "iterations": '//word(solved%iterations)//', "reliable_updates": '//word(solved%reliable_updates)// &
      ', "restarts": '//word(solved%restarts)//','
    write (unit, '(a)') '    "residual": '//exact(solved%residual)//', "residual_hq": '//exact(solved%residual_hq)//','
    write (unit, '(a)') json_array('residuals', residuals)//','
    if (tol_error > 0) write (unit, '(a)') json_array('errors', errors)//','
    write (unit, '(a)') '    "seconds": '//exact(solved%seconds)//', "flops": '//exact(solved%flops)// &
      ', "bytes": '//exact(solved%bytes)//', "memory_peak": '//word(solved%memory_peak), '  },'
    if (algorithm == multigrid_solver) call json_multigrid(unit)
    call json_samples(unit, found, source)
    if (found%bins > 1) then
      call json_hadrons(unit, shape_of, values(:n), deviations(:n))
    else
      call json_hadrons(unit, shape_of, values(:n), none)
    end if
    write (unit, '(a)') '  "correlators": {'
    write (unit, '(a)') json_array('pion', all(:, 1))//',', json_array('rho_x', all(:, 2))//',', &
      json_array('rho_y', all(:, 3))//',', json_array('rho_z', all(:, 4))//',', json_array('nucleon', all(:, 6))
    write (unit, '(a)') '  },', '  "effective_mass": {', json_array('pion', all(:, 7))//',', &
      json_array('rho', all(:, 8))//',', json_array('nucleon', all(:, 9))
    if (found%bins > 1) then
      write (unit, '(a)') '  },', '  "correlators_error": {', json_array('pion', off(:, 1))//',', &
        json_array('rho', off(:, 5))//',', json_array('nucleon', off(:, 6))
      write (unit, '(a)') '  },', '  "effective_mass_error": {', json_array('pion', off(:, 7))//',', &
        json_array('rho', off(:, 8))//',', json_array('nucleon', off(:, 9))
    end if
    write (unit, '(a)') '  }', '}'
    call end_file(unit, json_file)
    written = now()
    writing = written - before
  end subroutine

  !> Effective masses, of several configurations with their errors, up to the middle of the lattice, the first of which
  !> comes between t = 0 and 1.
  subroutine write_plot()
    character(len=7), parameter :: names(3) = [character(len=7) :: 'pion', 'rho', 'nucleon']
    character(len=7), parameter :: colours(3) = ['#0072b2', '#d55e00', '#009e73']
    real(c_double) :: all(times, derived), off(times, derived)
    character(len=:), allocatable :: title
    integer :: mu
    all = reshape(values(hadron_numbers(shape_of) + 1:), shape(all))
    off = reshape(deviations(hadron_numbers(shape_of) + 1:), shape(off))
    title = 'Effective masses, kappa '//general(action%kappa, 6)//', csw '//general(csw, 6)//','
    do mu = 1, 4
      title = title//trim(merge(' x', '  ', mu > 1))//' '//word(int(file%extents(mu), c_int64_t))
    end do
    call plot_write(plot_file, title, 't / a', 'a m', names, colours, all(:times / 2, 7:9), off(:times / 2, 7:9))
  end subroutine
end program

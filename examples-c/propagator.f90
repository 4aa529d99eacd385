!> propagator: quark propagators on a gauge configuration, and their hadron correlators; the twin of
!> propagator.c: its options, but for --error, --plot, --mg-... and what goes over several configurations, its table and
!> its JSON. docs/propagator.md describes them.
!>
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --json $OUT/point_f.json
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --time-bc periodic --source wall,3 --solver bicgstab --precision double --normalisation mass --rhs 5
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --kappa-strange 0.11 --source point,0,0,0,0:point,2,2,2,4 --source-smear 0.3,5 --sink-smear 0.3,5 --smear-links 0.5,2 --momenta 0,0,0:1,0,0 --baryons all --save $OUT/quark_f.lime
include 'example.inc'
include 'hadrons.inc'

module propagator_progress
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use example, only: interrupted
  implicit none
  real(c_double), save :: shown_at = 0
contains
  !> Called after every iteration of the solver.
  integer(c_int32_t) function progress(iteration, residual, seconds, user) bind(c)
    integer(c_int64_t), value :: iteration
    real(c_double), value :: residual, seconds
    type(c_ptr), value :: user
    progress = interrupted
    if (c_associated(user) .or. seconds - shown_at < 0.2d0) return
    shown_at = seconds
    write (error_unit, '(a,a,i0,a,es8.2,a,f7.1,a)', advance='no') achar(13), '  iteration ', iteration, &
      ', residual ', residual, ', ', seconds, ' s '
  end function
end module

program propagator
  use plaq
  use example
  use hadron_lists
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
  character(len=112), parameter :: help(11) = [character(len=112) :: &
    'usage: propagator_f --gauge FILE --kappa K [--kappa-strange K] [--csw C] [--time-bc periodic|antiperiodic]', &
    '                    [--source point,x,y,z,t | wall,t | wall,all, several with colons between]', &
    '                    [--source-momentum nx,ny,nz] [--noise none|z2|z4] [--seed N]', &
    '                    [--source-smear alpha,steps] [--sink-smear alpha,steps] [--smear-links alpha,steps]', &
    '                    [--momenta nx,ny,nz[:...]] [--baryons NAME[,...]|all|none]', &
    '                    [--solver cg|cgne|cgnr|bicgstab|gcr|mr|mg] [--tol R] [--precision double|single|half]', &
    '                    [--save-multigrid FILE] [--load-multigrid FILE] [--max-iterations N] [--rhs N]', &
    '                    [--normalisation kappa|mass] [--save FILE] [--load FILE]', &
    '                    [--device auto|cpu|cuda] [--threads N] [--json FILE]', &
    'propagator --help says what they mean', &
    'example: propagator_f --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --json pion.json']

  character(len=:), allocatable :: gauge_file, json_file, save_file, load_file, save_multigrid, load_multigrid, device
  real(c_double) :: kappa(2), csw, tol, residuals(columns) !< light, strange; residuals: the largest of each column
  integer(c_int32_t) :: boundary, algorithm, precision, normalisation
  integer(c_int64_t) :: max_iterations, rhs, part(4)
  integer :: quarks, sources
  type(plaq_source_params) :: source(most)
  type(smearing) :: at_source, at_sink, of_links
  type(hadrons) :: found
  type(plaq_context) :: context
  type(plaq_dirac) :: dirac(2)
  type(plaq_gauge) :: smeared
  type(plaq_dirac_report) :: action
  type(plaq_file_report) :: file
  type(plaq_plaquette) :: average
  type(plaq_solve_report) :: solved !< Of all solves: the slowest, sums of time and work.
  type(plaq_multigrid_report) :: hierarchy
  type(plaq_multigrid_level) :: level(8)
  !> Correlators over time; rho is the mean of those along x, y, z; masses of pion, rho, nucleon.
  real(c_double), allocatable :: pion(:), rho_xyz(:, :), rho(:), nucleon(:), mass(:, :)
  integer :: last, times
  real(c_double) :: seconds_load, seconds_propagator !< By the clock: file and operators, solvers and their solves.

  last = command_argument_count()
  call read_options()
  context = open_context(last)
  device = device_name(context)
  write (error_unit, '(a)') 'propagator on '//device
  call load()
  call run()
  call contract()
  call print_table()
  if (len(json_file) > 0 .and. first_rank(context)) call write_json()
  call ok(plaq_context_destroy(context))
  call leave(merge(0, 3, solved%converged == 1))

contains

  function now() result(seconds)
    real(c_double) :: seconds
    integer(c_int64_t) :: count, rate
    call system_clock(count, rate)
    seconds = real(count, c_double) / real(rate, c_double)
  end function

  subroutine read_options()
    call check_options(last, '--gauge --kappa --kappa-strange --csw --time-bc --source --source-momentum --noise --seed '// &
                       '--source-smear --sink-smear --smear-links --momenta --baryons --solver --tol --precision '// &
                       '--max-iterations --rhs --normalisation --save --load --save-multigrid --load-multigrid '// &
                       '--device --threads --json', help)
    gauge_file = option(last, '--gauge')
    json_file = option(last, '--json', '')
    save_file = option(last, '--save', '')
    load_file = option(last, '--load', '')
    save_multigrid = option(last, '--save-multigrid', '')
    load_multigrid = option(last, '--load-multigrid', '')
    kappa(1) = number(last, '--kappa')
    kappa(2) = number(last, '--kappa-strange', '0')
    quarks = merge(2, 1, abs(kappa(2)) > 0)
    csw = number(last, '--csw', '0')
    tol = number(last, '--tol', '1e-10')
    boundary = choose(last, '--time-bc', 'antiperiodic', boundary_names, boundary_values)
    algorithm = choose(last, '--solver', 'cg', solver_names, solver_values)
    precision = choose(last, '--precision', 'single', precision_names, precision_values)
    normalisation = choose(last, '--normalisation', 'kappa', normalisation_names, normalisation_values)
    max_iterations = whole(last, '--max-iterations', '10000')
    rhs = whole(last, '--rhs', '12')
    call source_list(last, source, sources)
    at_source = smearing_option(last, '--source-smear')
    at_sink = smearing_option(last, '--sink-smear')
    of_links = smearing_option(last, '--smear-links')
    call momentum_list(last, found)
    call baryon_list(last, merge('none   ', 'nucleon', source(1)%noise /= PLAQ_SOURCE_NOISE_NONE), found)
    if (.not. kappa(1) > 0) call usage_error('--kappa', 'expected a positive number')
    if (kappa(2) < 0) call usage_error('--kappa-strange', 'expected a positive number')
    if (max_iterations < 1 .or. max_iterations > 2**30) call usage_error('--max-iterations', 'out of range')
    if (rhs < 1 .or. rhs > columns) call usage_error('--rhs', 'expected 1 to 12 right-hand sides at a time')
    if (source(1)%noise /= PLAQ_SOURCE_NOISE_NONE .and. found%baryon_count > 0) &
      call usage_error('--baryons', 'expected none with noise')
    if (len(save_file) > 0 .and. len(load_file) > 0) call usage_error('--load', 'propagators are loaded or saved, not both')
    if (len(save_multigrid) > 0 .and. len(load_multigrid) > 0) &
      call usage_error('--load-multigrid', 'null vectors are loaded or saved, not both')
    if (len(save_multigrid) + len(load_multigrid) > 0 .and. (algorithm /= multigrid_solver .or. len(load_file) > 0)) &
      call usage_error('--save-multigrid, --load-multigrid', 'expected --solver mg, and no --load')
    call check_output(json_file, overwrite=.true.)
  end subroutine

  !> Reads the configuration and makes the operators and, where something is smeared with them, smeared links;
  !> the others stay in the operators only.
  subroutine load()
    type(plaq_dirac_params) :: params
    type(plaq_gauge_smear_params) :: smear
    integer :: q
    seconds_load = now()
    call ok(plaq_file_report_init(file, c_sizeof(file)))
    call ok(plaq_gauge_read_file(context, gauge_file//c_null_char, gauge=smeared, report=file))
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
    else if (of_links%steps > 0) then
      call ok(plaq_gauge_smear_params_init(smear, c_sizeof(smear)))
      smear%kind = PLAQ_SMEARING_APE
      smear%steps = of_links%steps
      smear%alpha(1) = of_links%alpha
      smear%directions = 7
      call ok(plaq_gauge_smear(smeared, smear))
    end if
    times = file%extents(4)
    call all_walls(source, sources, times)
    seconds_load = now() - seconds_load
  end subroutine

  subroutine smear(field, s)
    type(plaq_spinor), intent(in) :: field
    type(smearing), intent(in) :: s
    type(plaq_spinor_smear_params) :: p
    if (s%steps == 0) return
    call ok(plaq_spinor_smear_params_init(p, c_sizeof(p)))
    p%alpha = s%alpha
    p%steps = s%steps
    call ok(plaq_spinor_smear(field, smeared, p))
  end subroutine

  !> The file of a source, counted from 1, and a quark, for C.
  function file_of(base, s, q) result(name)
    character(len=*), intent(in) :: base
    integer, intent(in) :: s, q
    character(len=:), allocatable :: name
    name = base
    if (s > 1) name = name//'.'//word(int(s - 1, c_int64_t))
    if (q == 2) name = name//'.strange'
    name = name//c_null_char
  end function

  !> A solver; with multigrid, set up or from a file.
  subroutine make_solver(q, solver, multigrid)
    integer, intent(in) :: q
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
    params%max_iterations = int(max_iterations, c_int32_t)
    params%columns = int(rhs, c_int32_t)
    call ok(plaq_solver_create(dirac(q), params, solver))
    if (algorithm /= multigrid_solver) return
    call ok(plaq_multigrid_params_init(build, c_sizeof(build)))
    if (len(load_multigrid) > 0) then
      call ok(plaq_multigrid_load(dirac(q), build, file_of(load_multigrid, 1, q), multigrid))
    else
      call ok(plaq_multigrid_create(dirac(q), build, multigrid))
    end if
    if (len(save_multigrid) > 0) call ok(plaq_multigrid_save(multigrid, file_of(save_multigrid, 1, q)))
    call ok(plaq_solver_set_multigrid(solver, multigrid))
  end subroutine

  !> The twelve columns of one source, which has been smeared, for one quark.
  subroutine solve(solver, s, q, from, propagator)
    type(plaq_solver), intent(in) :: solver
    integer, intent(in) :: s, q
    type(plaq_spinor), intent(in) :: from
    type(plaq_spinor), intent(inout) :: propagator
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
    write (error_unit, '(a)') achar(13)//'  '//word(report%iterations)//' iterations, residual '// &
      shown(report%residual, '(es9.2)')//', '//shown(report%seconds, '(f12.2)')//' s          '
    if (s == 1 .and. q == 1) then
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

  subroutine read_propagator(s, q, propagator)
    integer, intent(in) :: s, q
    type(plaq_spinor), intent(inout) :: propagator
    type(plaq_propagator_read_params) :: p
    type(plaq_spinor_report) :: form
    call ok(plaq_propagator_read_params_init(p, c_sizeof(p)))
    p%extents = file%extents
    p%precision = PLAQ_PRECISION_DOUBLE
    call ok(plaq_propagator_read_file(context, file_of(load_file, s, q), p, propagator))
    call ok(plaq_spinor_report_init(form, c_sizeof(form)))
    call ok(plaq_spinor_describe(propagator, form))
    if (form%nrhs /= columns) call usage_error('--load', 'expected twelve columns')
  end subroutine

  subroutine write_propagator(s, q, propagator, from)
    integer, intent(in) :: s, q
    type(plaq_spinor), intent(in) :: propagator, from
    type(plaq_propagator_write_params) :: p
    character(len=200), target :: info
    call ok(plaq_propagator_write_params_init(p, c_sizeof(p)))
    info = 'plaq '//plaq_text(plaq_version())//', kappa '//shown(kappa(q), '(es25.16e3)')//', csw '// &
      shown(csw, '(es25.16e3)')//', '//name_of(normalisation, normalisation_names, normalisation_values)// &
      ' normalisation'//c_null_char
    p%info = c_loc(info)
    call ok(plaq_propagator_write_file(propagator, from, file_of(save_file, s, q), p))
  end subroutine

  !> All propagators, source after source, and their correlators.
  subroutine run()
    type(plaq_solver) :: solver(2)
    type(plaq_multigrid) :: multigrid(2)
    type(plaq_spinor) :: quark(2), from, none
    type(plaq_spinor_params) :: p
    real(c_double) :: start
    integer :: s, q, l
    start = now()
    call watch_signals()
    call ok(plaq_solve_report_init(solved, c_sizeof(solved)))
    solved%converged = 1
    residuals = 0
    if (len(load_file) == 0) then
      do q = 1, quarks
        call make_solver(q, solver(q), multigrid(q))
      end do
    end if
    call start_hadrons(found, quarks, times)
    do s = 1, sources
      from = none
      if (len(load_file) == 0 .and. (at_source%steps > 0 .or. len(save_file) > 0)) then
        call ok(plaq_spinor_params_init(p, c_sizeof(p)))
        p%extents = int(part, c_int32_t)
        p%nrhs = columns
        call ok(plaq_spinor_create(context, p, from))
        call ok(plaq_spinor_source(from, source(s)))
        call smear(from, at_source)
      end if
      do q = 1, quarks
        if (len(load_file) > 0) then
          call read_propagator(s, q, quark(q))
        else
          call solve(solver(q), s, q, from, quark(q))
        end if
        if (len(save_file) > 0) call write_propagator(s, q, quark(q), from)
        call smear(quark(q), at_sink)
      end do
      seconds_propagator = now() - start
      call add_hadrons(found, quark, source(s), real(boundary, c_double))
      do q = 1, quarks
        call ok(plaq_spinor_destroy(quark(q)))
      end do
      call ok(plaq_spinor_destroy(from))
    end do
    call average_hadrons(found)
    if (multigrid(1)%id /= 0) then
      call ok(plaq_multigrid_report_init(hierarchy, c_sizeof(hierarchy)))
      call ok(plaq_multigrid_describe(multigrid(1), hierarchy))
      do l = 1, hierarchy%levels
        call ok(plaq_multigrid_level_init(level(l), c_sizeof(level(l))))
        call ok(plaq_multigrid_describe_level(multigrid(1), int(l - 1, c_int32_t), level(l)))
      end do
    end if
    do q = 1, quarks
      call ok(plaq_solver_destroy(solver(q)))
      call ok(plaq_multigrid_destroy(multigrid(q)))
    end do
  end subroutine

  !> Pion, rho and nucleon of the light quark at the first momentum, and effective masses.
  subroutine contract()
    integer(c_int64_t) :: n
    n = times
    allocate (rho_xyz(n, 3), mass(n, 3))
    pion = meson_at(found, PLAQ_GAMMA_5)
    rho_xyz(:, 1) = meson_at(found, PLAQ_GAMMA_X)
    rho_xyz(:, 2) = meson_at(found, PLAQ_GAMMA_Y)
    rho_xyz(:, 3) = meson_at(found, PLAQ_GAMMA_Z)
    rho = sum(rho_xyz, 2) / 3
    nucleon = baryon_at(found, PLAQ_BARYON_NUCLEON) ! the average over configurations is real
    call ok(plaq_effective_mass(pion, n, PLAQ_MASS_FORM_COSH, mass(:, 1)))
    call ok(plaq_effective_mass(rho, n, PLAQ_MASS_FORM_COSH, mass(:, 2)))
    call ok(plaq_effective_mass(nucleon, n, PLAQ_MASS_FORM_LOG, mass(:, 3)))
  end subroutine

  function mass_text(value) result(text)
    real(c_double), intent(in) :: value
    character(len=9) :: text
    text = '        -'
    if (value == value) write (text, '(f9.6)') value
  end function

  !> The first one of `solver_names` is that of the algorithm that finished.
  function solver_name() result(text)
    character(len=:), allocatable :: text
    text = 'mg'
    if (algorithm /= multigrid_solver) text = name_of(solved%algorithm, solver_names, solver_values)
  end function

  function triple(n) result(text)
    integer(c_int32_t), intent(in) :: n(3)
    character(len=40) :: text
    write (text, '("(",i0,", ",i0,", ",i0,")")') n
  end function

  subroutine print_table()
    character(len=:), allocatable :: line
    integer :: t, s
    print '(3a,3(i0," x "),i0,a,f11.9)', '# ', gauge_file, ' ('//format_name(file%format)//'), ', file%extents, &
      ', plaquette ', average%total
    print '(8a)', '# kappa ', shown(action%kappa, '(f12.6)'), ' (mass ', shown(action%mass, '(f16.10)'), '), csw ', &
      shown(csw, '(f12.6)'), ', '//name_of(boundary, boundary_names, boundary_values)//' in time, ', &
      name_of(normalisation, normalisation_names, normalisation_values)//' normalisation'
    if (quarks == 2) print '(2a)', '# kappa of the strange quark ', shown(kappa(2), '(f12.6)')
    do s = 1, sources
      line = '# '
      if (source(s)%noise /= PLAQ_SOURCE_NOISE_NONE) line = line//name_of(source(s)%noise, noise_names, noise_values)//' noise, '
      if (any(source(s)%momentum(:3) /= 0)) line = line//'momentum '//trim(triple(source(s)%momentum(:3)))//', '
      if (source(s)%kind /= PLAQ_SOURCE_POINT) then
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
    if (any(found%momentum(:, 1) /= 0)) print '(2a)', '# momentum of the sink ', trim(triple(found%momentum(:, 1)))
    if (len(load_file) > 0) then
      print '(2a)', '# propagators of ', load_file
    else
      print '(12a)', '# ', solver_name()//', ', &
        name_of(precision, precision_names, precision_values)//' inside double: ', word(solved%iterations), &
        ' iterations, residual ', shown(solved%residual, '(es9.2)'), ', ', shown(solved%seconds, '(f12.3)')//' s, ', &
        shown(solved%flops / solved%seconds * 1d-9, '(f12.1)')//' Gflop/s, peak ', &
        shown(solved%memory_peak / 1048576d0, '(f12.1)'), ' MiB', outcome()
    end if
    print '(a)', '#   t              pion      m_eff               rho      m_eff           nucleon      m_eff'
    do t = 1, times
      print '(i5,2(2x,es16.9,2x,a),2x,a16,2x,a)', t - 1, pion(t), mass_text(mass(t, 1)), rho(t), &
        mass_text(mass(t, 2)), nucleon_text(nucleon(t)), mass_text(mass(t, 3))
    end do
  end subroutine

  function point(x) result(text)
    integer(c_int32_t), intent(in) :: x(4)
    character(len=:), allocatable :: text
    text = json_integers(x)
    text = '('//text(2:len(text) - 1)//')'
  end function

  function outcome() result(text)
    character(len=:), allocatable :: text
    text = ''
    if (solved%converged == 1) return
    text = ', NOT CONVERGED'
    if (solved%stopped == 1) text = ', INTERRUPTED'
  end function

  function nucleon_text(value) result(text)
    real(c_double), intent(in) :: value
    character(len=16) :: text
    text = '               -'
    if (abs(value) <= huge(value)) write (text, '(es16.9)') value
  end function

  function json_array(name, values) result(text)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: values(:)
    character(len=:), allocatable :: text
    text = '    '//json_numbers(name, values)
  end function

  function json_smearing(s) result(text)
    type(smearing), intent(in) :: s
    character(len=:), allocatable :: text
    text = '['//exact(s%alpha)//', '//word(int(s%steps, c_int64_t))//']'
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
        exact(level(l)%seconds)//trim(merge('} ', '},', l == hierarchy%levels))
    end do
    write (unit, '(a)') '  ]},'
  end subroutine

  subroutine write_json()
    integer :: unit, status, k
    open (newunit=unit, file=json_file, action='write', status='replace', iostat=status)
    if (status /= 0) then
      write (error_unit, '(a)') json_file//': cannot be written'
      call leave(1)
    end if
    write (unit, '(a)') '{', '  "version": '//quoted(plaq_text(plaq_version()))//',', '  "device": '//quoted(device)//','
    write (unit, '(a)') '  "gauge": {"file": '//quoted(gauge_file)//', "format": "'//format_name(file%format)// &
      '", "lattice": '//json_integers(file%extents)//'},'
    write (unit, '(a)') '  "plaquette": {"total": '//exact(average%total)//', "spatial": '//exact(average%spatial)// &
      ', "temporal": '//exact(average%temporal)//'},'
    write (unit, '(a)') '  "action": {"kappa": '//exact(action%kappa)//', "mass": '//exact(action%mass)// &
      ', "csw": '//exact(csw)//', "time_bc": "'//name_of(boundary, boundary_names, boundary_values)// &
      '", "normalisation": "'//name_of(normalisation, normalisation_names, normalisation_values)//'"},'
    write (unit, '(a)') '  "seconds": {"load": '//exact(seconds_load)//', "propagator": '//exact(seconds_propagator)//'},'
    write (unit, '(a)') '  "source": {"kind": "'//name_of(source(1)%kind, kind_names, kind_values)// &
      '", "position": '//json_integers(source(1)%position)//'},'
    write (unit, '(a)') '  "sources": ['
    do k = 1, sources
      write (unit, '(a)') '    {"kind": "'//name_of(source(k)%kind, kind_names, kind_values)// &
        '", "position": '//json_integers(source(k)%position)//', "momentum": '//json_integers(source(k)%momentum(:3))// &
        ', "noise": "'//name_of(source(k)%noise, noise_names, noise_values)//'", "seed": '//word(source(k)%seed)// &
        trim(merge('} ', '},', k == sources))
    end do
    write (unit, '(a)') '  ],', '  "smearing": {"source": '//json_smearing(at_source)//', "sink": '// &
      json_smearing(at_sink)//', "links": '//json_smearing(of_links)//'},'
    if (quarks == 2) write (unit, '(a)') '  "kappa_strange": '//exact(kappa(2))//','
    write (unit, '(a)') '  "solver": {', '    "name": "'//solver_name()// &
      '", "precision": "'//name_of(precision, precision_names, precision_values)//'", "rhs": '// &
      word(rhs)//', "tol": '//exact(tol)//','
    write (unit, '(a)') '    "converged": '//truth(solved%converged)//', "stopped": '//truth(solved%stopped)// &
      ', "iterations": '//word(solved%iterations)//', "reliable_updates": '//word(solved%reliable_updates)// &
      ', "restarts": '//word(solved%restarts)//','
    write (unit, '(a)') '    "residual": '//exact(solved%residual)//', "residual_hq": '//exact(solved%residual_hq)//','
    write (unit, '(a)') json_array('residuals', residuals)//','
    write (unit, '(a)') '    "seconds": '//exact(solved%seconds)//', "flops": '//exact(solved%flops)// &
      ', "bytes": '//exact(solved%bytes)//', "memory_peak": '//word(solved%memory_peak), '  },'
    if (algorithm == multigrid_solver .and. len(load_file) == 0) call json_multigrid(unit)
    call json_hadrons(unit, found)
    write (unit, '(a)') '  "correlators": {'
    write (unit, '(a)') json_array('pion', pion)//',', json_array('rho_x', rho_xyz(:, 1))//',', &
      json_array('rho_y', rho_xyz(:, 2))//',', json_array('rho_z', rho_xyz(:, 3))//',', json_array('nucleon', nucleon)
    write (unit, '(a)') '  },', '  "effective_mass": {', json_array('pion', mass(:, 1))//',', &
      json_array('rho', mass(:, 2))//',', json_array('nucleon', mass(:, 3)), '  }', '}'
    close (unit, iostat=status)
    if (status /= 0) then
      write (error_unit, '(a)') json_file//': cannot be written'
      call leave(1)
    end if
  end subroutine
end program

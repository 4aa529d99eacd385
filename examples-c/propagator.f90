!> propagator: a quark propagator on a gauge configuration, and its hadron correlators; the twin of
!> propagator.c, with the same options, table and JSON. docs/propagator.md describes them.
!>
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --json $OUT/point_f.json
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --time-bc periodic --source wall,3 --solver bicgstab --precision double --normalisation mass --rhs 5
include 'example.inc'

module propagator_progress
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  real(c_double), save :: shown_at = 0
contains
  !> Called after every iteration of the solver.
  integer(c_int32_t) function progress(iteration, residual, seconds, user) bind(c)
    integer(c_int64_t), value :: iteration
    real(c_double), value :: residual, seconds
    type(c_ptr), value :: user
    progress = 0
    if (c_associated(user) .or. seconds - shown_at < 0.2d0) return
    shown_at = seconds
    write (error_unit, '(a,a,i0,a,es8.2,a,f7.1,a)', advance='no') achar(13), '  iteration ', iteration, &
      ', residual ', residual, ', ', seconds, ' s '
  end function
end module

program propagator
  use plaq
  use example
  use propagator_progress
  implicit none
  !> CG needs the normal equations: its name stands for CGNR.
  character(len=8), parameter :: solver_names(6) = &
    [character(len=8) :: 'cgnr', 'cgne', 'cg', 'bicgstab', 'gcr', 'mr']
  integer(c_int32_t), parameter :: solver_values(6) = &
    [PLAQ_ALGORITHM_CGNR, PLAQ_ALGORITHM_CGNE, PLAQ_ALGORITHM_CGNR, PLAQ_ALGORITHM_BICGSTAB, PLAQ_ALGORITHM_GCR, &
     PLAQ_ALGORITHM_MR]
  character(len=6), parameter :: precision_names(3) = [character(len=6) :: 'double', 'single', 'half']
  integer(c_int32_t), parameter :: precision_values(3) = &
    [PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_SINGLE, PLAQ_PRECISION_HALF]
  character(len=5), parameter :: normalisation_names(2) = [character(len=5) :: 'kappa', 'mass']
  integer(c_int32_t), parameter :: normalisation_values(2) = [PLAQ_NORMALISATION_KAPPA, PLAQ_NORMALISATION_MASS]
  character(len=12), parameter :: boundary_names(2) = [character(len=12) :: 'periodic', 'antiperiodic']
  integer(c_int32_t), parameter :: boundary_values(2) = [0_c_int32_t, 1_c_int32_t]
  character(len=112), parameter :: help(4) = [character(len=112) :: &
    'usage: propagator_f --gauge FILE --kappa K [--csw C] [--time-bc periodic|antiperiodic]', &
    '                    [--source point,x,y,z,t | wall,t] [--solver cg|cgne|cgnr|bicgstab|gcr|mr] [--tol R]', &
    '                    [--precision double|single|half] [--max-iterations N] [--rhs N]', &
    '                    [--normalisation kappa|mass] [--device auto|cpu|cuda] [--threads N] [--json FILE]']
  integer, parameter :: columns = 12

  character(len=:), allocatable :: gauge_file, json_file, device
  real(c_double) :: csw, tol, residuals(columns)
  integer(c_int32_t) :: boundary, algorithm, precision, normalisation
  integer(c_int64_t) :: max_iterations, rhs
  type(plaq_context) :: context
  type(plaq_dirac) :: dirac
  type(plaq_spinor) :: quark
  type(plaq_dirac_params) :: dirac_params
  type(plaq_dirac_report) :: action
  type(plaq_source_params) :: source
  type(plaq_file_report) :: file
  type(plaq_plaquette) :: average
  type(plaq_solve_report) :: solved
  !> Correlators over time; rho is the mean of those along x, y, z; masses of pion, rho, nucleon.
  real(c_double), allocatable :: pion(:), rho_xyz(:, :), rho(:), nucleon(:), mass(:, :)
  integer :: last, times
  real(c_double) :: seconds_load, seconds_propagator !< By the clock: file and operator, solver and its solves.

  last = command_argument_count()
  call check_options(last, '--gauge --kappa --csw --time-bc --source --solver --tol --precision '// &
                     '--max-iterations --rhs --normalisation --device --threads --json', help)
  call ok(plaq_dirac_params_init(dirac_params, c_sizeof(dirac_params)))
  gauge_file = option(last, '--gauge')
  json_file = option(last, '--json', '')
  dirac_params%kappa = number(last, '--kappa')
  csw = number(last, '--csw', '0')
  tol = number(last, '--tol', '1e-10')
  boundary = choose(last, '--time-bc', 'antiperiodic', boundary_names, boundary_values)
  algorithm = choose(last, '--solver', 'cg', solver_names, solver_values)
  precision = choose(last, '--precision', 'single', precision_names, precision_values)
  normalisation = choose(last, '--normalisation', 'kappa', normalisation_names, normalisation_values)
  max_iterations = whole(last, '--max-iterations', '10000')
  rhs = whole(last, '--rhs', '12')
  call source_option(option(last, '--source', 'point,0,0,0,0'))
  if (.not. dirac_params%kappa > 0) call usage_error('--kappa', 'expected a positive number')
  if (rhs < 1 .or. rhs > columns) call usage_error('--rhs', 'expected 1 to 12 right-hand sides at a time')

  context = open_context(last)
  device = device_name(context)
  write (error_unit, '(a)') 'propagator on '//device
  call load()
  call solve()
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

  subroutine source_option(text)
    character(len=*), intent(in) :: text
    integer(c_int64_t) :: x(4)
    call ok(plaq_source_params_init(source, c_sizeof(source)))
    x = 0
    if (index(text, 'point,') == 1) then
      source%kind = PLAQ_SOURCE_POINT
      call integers('--source', text(7:), x)
    else if (index(text, 'wall,') == 1) then
      source%kind = PLAQ_SOURCE_WALL
      call integers('--source', text(6:), x(4:4))
    else
      call usage_error('--source', text)
    end if
    source%position = int(x, c_int32_t)
  end subroutine

  !> Reads the configuration and makes the operator; the links stay in the operator only.
  subroutine load()
    type(plaq_gauge) :: gauge
    seconds_load = now()
    call ok(plaq_file_report_init(file, c_sizeof(file)))
    call ok(plaq_gauge_read_file(context, gauge_file//c_null_char, gauge=gauge, report=file))
    call ok(plaq_gauge_plaquette(gauge, average))
    dirac_params%csw = csw
    dirac_params%boundary(4) = boundary
    dirac_params%normalisation = normalisation
    call ok(plaq_dirac_create(context, gauge, dirac_params, dirac))
    call ok(plaq_gauge_destroy(gauge))
    call ok(plaq_dirac_report_init(action, c_sizeof(action)))
    call ok(plaq_dirac_describe(dirac, action))
    times = file%extents(4)
    seconds_load = now() - seconds_load
  end subroutine

  !> Solves for the twelve columns.
  subroutine solve()
    type(plaq_solver_params) :: params
    type(plaq_solver) :: solver
    seconds_propagator = now()
    call ok(plaq_solver_params_init(params, c_sizeof(params)))
    params%algorithm = algorithm
    params%sloppy_precision = precision
    params%tol = tol
    params%max_iterations = int(max_iterations, c_int32_t)
    params%columns = int(rhs, c_int32_t)
    call ok(plaq_solver_create(dirac, params, solver))
    call ok(plaq_solve_report_init(solved, c_sizeof(solved)))
    call ok(plaq_solver_propagator(solver, source, c_funloc(progress), c_null_ptr, quark, solved, residuals))
    write (error_unit, '(a)') achar(13)//'  '//word(solved%iterations)//' iterations, residual '// &
      shown(solved%residual, '(es9.2)')//', '//shown(solved%seconds, '(f12.2)')//' s          '
    call ok(plaq_solver_destroy(solver))
    seconds_propagator = now() - seconds_propagator
  end subroutine

  !> Correlators over the time from the source, and effective masses.
  subroutine contract()
    integer(c_int64_t) :: n
    real(c_double), allocatable :: pairs(:, :)
    n = times
    allocate (pion(n), rho_xyz(n, 3), pairs(2, n), mass(n, 3))
    call ok(plaq_spinor_correlators(quark, source%position(4), real(boundary, c_double), n, pion, rho_xyz, pairs))
    rho = sum(rho_xyz, 2) / 3
    nucleon = pairs(1, :) ! the average over configurations is real
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

  subroutine print_table()
    integer :: t
    print '(3a,3(i0," x "),i0,a,f11.9)', '# ', gauge_file, ' ('//format_name(file%format)//'), ', file%extents, &
      ', plaquette ', average%total
    print '(8a)', '# kappa ', shown(action%kappa, '(f12.6)'), ' (mass ', shown(action%mass, '(f16.10)'), '), csw ', &
      shown(csw, '(f12.6)'), ', '//name_of(boundary, boundary_names, boundary_values)//' in time, ', &
      name_of(normalisation, normalisation_names, normalisation_values)//' normalisation'
    if (source%kind == PLAQ_SOURCE_WALL) then
      print '(a,i0,2a)', '# wall source at t = ', source%position(4), ', ', device
    else
      print '(a,3(i0,", "),i0,2a)', '# point source at (', source%position, '), ', device
    end if
    print '(12a)', '# ', name_of(solved%algorithm, solver_names, solver_values)//', ', &
      name_of(precision, precision_names, precision_values)//' inside double: ', word(solved%iterations), &
      ' iterations, residual ', shown(solved%residual, '(es9.2)'), ', ', shown(solved%seconds, '(f12.3)')//' s, ', &
      shown(solved%flops / solved%seconds * 1d-9, '(f12.1)')//' Gflop/s, peak ', &
      shown(solved%memory_peak / 1048576d0, '(f12.1)'), ' MiB', &
      trim(merge(', NOT CONVERGED', repeat(' ', 15), solved%converged /= 1))
    print '(a)', '#   t              pion      m_eff               rho      m_eff           nucleon      m_eff'
    do t = 1, times
      print '(i5,3(2x,es16.9,2x,a))', t - 1, pion(t), mass_text(mass(t, 1)), rho(t), &
        mass_text(mass(t, 2)), nucleon(t), mass_text(mass(t, 3))
    end do
  end subroutine

  function json_array(name, values) result(text)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: values(:)
    character(len=:), allocatable :: text
    integer :: i
    text = '    "'//trim(name)//'": ['
    do i = 1, size(values)
      if (i > 1) text = text//', '
      text = text//exact(values(i))
    end do
    text = text//']'
  end function

  subroutine write_json()
    integer :: unit, status
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
    write (unit, '(a)') '  "source": {"kind": "'//trim(merge('wall ', 'point', source%kind == PLAQ_SOURCE_WALL))// &
      '", "position": '//json_integers(source%position)//'},'
    write (unit, '(a)') '  "solver": {', '    "name": "'//name_of(solved%algorithm, solver_names, solver_values)// &
      '", "precision": "'//name_of(precision, precision_names, precision_values)//'", "rhs": '// &
      word(rhs)//', "tol": '//exact(tol)//','
    write (unit, '(a)') '    "converged": '//truth(solved%converged)//', "stopped": '//truth(solved%stopped)// &
      ', "iterations": '//word(solved%iterations)//', "reliable_updates": '//word(solved%reliable_updates)// &
      ', "restarts": '//word(solved%restarts)//','
    write (unit, '(a)') '    "residual": '//exact(solved%residual)//', "residual_hq": '//exact(solved%residual_hq)//','
    write (unit, '(a)') json_array('residuals', residuals)//','
    write (unit, '(a)') '    "seconds": '//exact(solved%seconds)//', "flops": '//exact(solved%flops)// &
      ', "bytes": '//exact(solved%bytes)//', "memory_peak": '//word(solved%memory_peak), '  },', '  "correlators": {'
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

!> The Fortran module from a Fortran program.
program main
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_context_params) :: params
  type(plaq_context_report) :: report
  character(kind=c_char) :: name(256)
  integer(c_int64_t) :: stale, iterations
  type(plaq_gauge_params) :: shape
  type(plaq_gauge) :: gauge
  type(plaq_plaquette) :: plaquette
  type(plaq_dirac_params) :: physics
  type(plaq_dirac) :: dirac
  type(plaq_solver_params) :: how
  type(plaq_solver) :: solver
  type(plaq_spinor) :: propagator
  type(plaq_solve_report) :: solved
  real(c_double) :: pion(4), mass(4), history(100)
  complex(c_double_complex), target :: links(3, 3, 4, 256)
  integer, target :: calls = 0

  call done(plaq_context_params_init(params, c_sizeof(params)))
  params%device = PLAQ_DEVICE_CPU
  params%threads = 1
  call done(plaq_context_create(params, context))
  call done(plaq_context_report_init(report, c_sizeof(report)))
  call done(plaq_context_describe(context, report))
  if (report%memory_total <= 0 .or. report%device /= PLAQ_DEVICE_CPU) stop 2
  call done(plaq_context_describe(context))
  call done(plaq_context_name(context, name, 256_c_int64_t))
  if (name(1) /= 'c') stop 3

  call done(plaq_gauge_params_init(shape, c_sizeof(shape)))
  shape%extents = 4
  call done(plaq_gauge_create(context, shape, gauge))
  call done(plaq_gauge_unit(gauge))
  call done(plaq_gauge_plaquette(gauge, plaquette))
  if (abs(plaquette%total - 1) > 1e-14_c_double) stop 8
  call done(plaq_gauge_save(gauge, data=c_loc(links)))
  if (abs(sum(links) - 3 * 4 * 256) > 1e-9_c_double) stop 9
  call done(plaq_gauge_load(gauge, data=c_loc(links)))
  call done(plaq_dirac_params_init(physics, c_sizeof(physics)))
  physics%mass = 0.5_c_double
  call done(plaq_dirac_create(context, gauge, physics, dirac))
  call done(plaq_solver_params_init(how, c_sizeof(how)))
  call done(plaq_solver_create(dirac, how, solver))
  call done(plaq_solve_report_init(solved, c_sizeof(solved)))
  call done(plaq_solver_propagator(solver, callback=c_funloc(progress), user=c_loc(calls), &
      propagator=propagator, report=solved))
  if (solved%converged /= 1 .or. calls < 1) stop 10
  call done(plaq_solver_history(solver, history, 100_c_int64_t, iterations))
  if (iterations /= solved%iterations .or. any(history(:iterations) <= 0)) stop 12
  call done(plaq_spinor_correlators(propagator, 0_c_int32_t, 1.0_c_double, 4_c_int64_t, pion=pion))
  if (any(pion <= 0)) stop 11
  call done(plaq_correlator_effective_mass(pion, 4_c_int64_t, PLAQ_MASS_FORM_COSH, mass))
  stale = context%id
  call done(plaq_context_destroy(context))
  if (plaq_context_synchronize(context) /= PLAQ_INVALID_HANDLE) stop 4
  if (index(plaq_text(plaq_last_error()), 'plaq_context_synchronize') /= 1) stop 5
  if (plaq_text(plaq_status_name(PLAQ_BUSY)) /= 'PLAQ_BUSY') stop 6
  if (stale == 0) stop 7

contains

  integer(c_int32_t) function progress(iteration, residual, seconds, user) bind(c)
    integer(c_int64_t), value :: iteration
    real(c_double), value :: residual, seconds
    type(c_ptr), value :: user
    integer, pointer :: counter
    call c_f_pointer(user, counter)
    counter = counter + 1
    progress = 0
    if (iteration < 0 .or. residual < 0 .or. seconds < 0) progress = 1
  end function

  subroutine done(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    print '(a)', plaq_text(plaq_last_error())
    stop 1
  end subroutine
end program

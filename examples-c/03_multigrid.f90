! Light quarks by multigrid: a set-up that finds null vectors, then solves that take some iterations each.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_dirac) :: dirac
  type(plaq_multigrid) :: multigrid
  type(plaq_solver) :: solver
  type(plaq_spinor) :: quark
  type(plaq_dirac_params) :: action
  type(plaq_solver_params) :: how
  type(plaq_solve_report) :: report
  type(plaq_multigrid_report) :: levels
  call ok(plaq_dirac_params_init(action, c_sizeof(action)))
  call ok(plaq_solver_params_init(how, c_sizeof(how)))
  call ok(plaq_solve_report_init(report, c_sizeof(report)))
  call ok(plaq_multigrid_report_init(levels, c_sizeof(levels)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge))
  action%kappa = 0.13d0
  action%csw = 1.2d0
  call ok(plaq_dirac_create(context, gauge, action, dirac))
  call ok(plaq_multigrid_create(dirac, callback=c_null_funptr, user=c_null_ptr, multigrid=multigrid)) ! the defaults do
  call ok(plaq_multigrid_describe(multigrid, levels))
  print '(i0, a, f0.3, a)', levels%levels, ' levels, set up in ', levels%setup_seconds, ' s'
  how%solver = PLAQ_SOLVER_GCR
  how%nkrylov = 4
  call ok(plaq_solver_create(dirac, how, solver))
  call ok(plaq_solver_set_multigrid(solver, multigrid))
  call ok(plaq_solver_propagator(solver, callback=c_null_funptr, user=c_null_ptr, propagator=quark, report=report))
  print '(a, i0, a, es8.1)', 'twelve columns: ', report%iterations, ' iterations, residual', report%residual
  if (report%converged == 0) error stop 3
  call ok(plaq_context_destroy(context))

contains

  subroutine ok(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    write (error_unit, '(a)') plaq_text(plaq_last_error())
    error stop 1
  end subroutine

  function argument() result(text)
    character(len=:), allocatable :: text
    character(len=1000) :: word
    call get_command_argument(1, word)
    text = trim(word)//c_null_char
  end function
end program

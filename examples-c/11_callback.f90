! A callback sees how far a solve is, and ends it: what was reached stays.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_dirac) :: dirac
  type(plaq_solver) :: solver
  type(plaq_spinor) :: quark
  type(plaq_dirac_params) :: action
  type(plaq_solve_report) :: report
  integer(c_int64_t), target :: most = 10
  call ok(plaq_dirac_params_init(action, c_sizeof(action)))
  call ok(plaq_solve_report_init(report, c_sizeof(report)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge))
  action%kappa = 0.12d0
  call ok(plaq_dirac_create(context, gauge, action, dirac))
  call ok(plaq_solver_create(dirac, solver=solver))
  call ok(plaq_solver_propagator(solver, callback=c_funloc(watch), user=c_loc(most), propagator=quark, report=report))
  print '(2(a, l1), a, es8.1)', 'stopped: ', report%stopped == 1, ', converged: ', report%converged == 1, &
    ', residual', report%residual
  if (report%stopped == 0) error stop 3
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

  integer(c_int32_t) function watch(iteration, residual, seconds, user) bind(c)
    integer(c_int64_t), value :: iteration
    real(c_double), value :: residual, seconds
    type(c_ptr), value :: user
    integer(c_int64_t), pointer :: most
    call c_f_pointer(user, most)
    if (mod(iteration, 5_c_int64_t) == 0) print '(a, i3, a, es8.1)', 'iteration ', iteration, ', residual', residual
    watch = merge(1, 0, iteration >= most .or. seconds > 1d5) ! not 0: stop
  end function
end program

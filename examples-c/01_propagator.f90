! A configuration from a file, a quark propagator on it, the correlator of its pion.
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
  type(plaq_file_report) :: file
  type(plaq_dirac_params) :: action
  real(c_double), allocatable :: pion(:), mass(:)
  integer(c_int64_t) :: times
  integer :: t
  call ok(plaq_file_report_init(file, c_sizeof(file)))
  call ok(plaq_dirac_params_init(action, c_sizeof(action)))
  call ok(plaq_context_create(context=context)) ! a GPU where there is one, else the CPU
  call ok(plaq_gauge_read(context, argument(), gauge=gauge, report=file))
  action%kappa = 0.12d0
  action%csw = 1.2d0
  call ok(plaq_dirac_create(context, gauge, action, dirac))
  call ok(plaq_solver_create(dirac, solver=solver))
  call ok(plaq_solver_propagator(solver, callback=c_null_funptr, user=c_null_ptr, propagator=quark)) ! point source at 0
  times = file%extents(4)
  allocate (pion(times), mass(times))
  call ok(plaq_spinor_correlators(quark, 0, 1d0, times, pion)) ! antiperiodic in time
  call ok(plaq_correlator_effective_mass(pion, times, PLAQ_MASS_FORM_COSH, mass))
  do t = 1, int(times)
    print '(i3, es18.9, f11.6)', t - 1, pion(t), mass(t)
  end do
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

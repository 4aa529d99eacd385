! Distillation: modes of time slices, elementals and perambulators, the pion between them, and the same in an HDF5 file.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg $OUT/tau.h5
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  integer, parameter :: n = 8, t = 8
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge, none
  type(plaq_modes) :: modes
  type(plaq_dirac) :: dirac
  type(plaq_solver) :: solver
  type(plaq_modes_params) :: wanted
  type(plaq_modes_report) :: found
  type(plaq_dirac_params) :: action
  real(c_double) :: tau(2*t*16*n*n), phi(2*t*n*n), correlator(2*t)
  integer(c_int64_t), parameter :: one = 1
  integer(c_int64_t) :: search, device, host, slices, finished
  integer(c_int32_t), parameter :: t0 = 3, rest(3) = 0, pion(2) = 15 ! gamma5 at both ends
  integer(c_int32_t) :: step(1) = PLAQ_MODES_DERIVATIVE_X, status
  integer :: k
  call ok(plaq_modes_params_init(wanted, c_sizeof(wanted)))
  call ok(plaq_modes_report_init(found, c_sizeof(found)))
  call ok(plaq_dirac_params_init(action, c_sizeof(action)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(1), gauge=gauge))
  wanted%count = n
  wanted%steps = 10 ! of stout smearing in space
  call ok(plaq_modes_memory(gauge, wanted, search, device, host, slices))
  print '(a, f0.1, a, f0.1, a, i0, a)', '# search ', search*1d-6, ' MB, modes ', device*1d-6, ' MB, ', slices, &
    ' time slices together'
  call ok(plaq_modes_create(gauge, none, wanted, c_null_funptr, c_null_ptr, modes, found))
  if (found%converged == 0) error stop 3

  action%kappa = 0.12d0
  call ok(plaq_dirac_create(context, gauge, action, dirac))
  call ok(plaq_solver_create(dirac, solver=solver))
  call ok(plaq_modes_perambulators(modes, solver, [t0], one, c_null_funptr, c_null_ptr, tau, int(t*16*n*n, c_int64_t), finished))
  call ok(plaq_modes_meson_elementals(modes, modes, [0], one, step, 0_c_int64_t, rest, one, phi, int(t*n*n, c_int64_t)))
  call ok(plaq_modes_mesons(tau, tau, int(n, c_int64_t), int(t, c_int64_t), int(t0, c_int64_t), phi, phi(2*t0*n*n + 1:), &
    pion, one, correlator))
  do k = 1, t
    print '(i0, es14.6)', k - 1, correlator(2*k - 1)
  end do

  ! Elementals of mesons without and with a derivative, of baryons with one of the third quark; source times that the
  ! file has are not solved for again.
  status = plaq_modes_write_elementals(modes, modes, [0, 1], 2*one, step, one, rest, one, [0, 0, 1], 3*one, step, one, &
    argument(2), PLAQ_IF_EXISTS_OVERWRITE)
  if (status == PLAQ_UNSUPPORTED) then
    print '(2a)', '# no file: ', plaq_text(plaq_last_error())
  else
    call ok(status)
    call ok(plaq_modes_write_perambulators(modes, solver, [0, t0], 2*one, argument(2), 'perambulators'//c_null_char, &
      PLAQ_BASIS_DEGRAND_ROSSI, c_null_funptr, c_null_ptr, finished))
    print '(a, i0, a)', '# ', finished, ' source times in the file'
    if (finished /= 2) error stop 3
  end if
  call ok(plaq_context_destroy(context))

contains

  subroutine ok(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    write (error_unit, '(a)') plaq_text(plaq_last_error())
    error stop 1
  end subroutine

  function argument(k) result(text)
    integer, intent(in) :: k
    character(len=:), allocatable :: text
    character(len=1000) :: word
    call get_command_argument(k, word)
    text = trim(word)//c_null_char
  end function
end program

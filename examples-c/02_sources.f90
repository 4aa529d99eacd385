! Many sources, one solver: point sources are averaged, noise comes from a whole time slice.
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
  type(plaq_source_params) :: source
  real(c_double), allocatable :: pion(:), one(:)
  integer(c_int64_t) :: times
  integer :: s, t
  call ok(plaq_file_report_init(file, c_sizeof(file)))
  call ok(plaq_dirac_params_init(action, c_sizeof(action)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge, report=file))
  action%kappa = 0.12d0
  call ok(plaq_dirac_create(context, gauge, action, dirac))
  call ok(plaq_solver_create(dirac, solver=solver))
  times = file%extents(4)
  allocate (pion(times), one(times))
  pion = 0
  do s = 0, 2
    call ok(plaq_source_params_init(source, c_sizeof(source)))
    if (s < 2) then ! points (0, 0, 0, 0) and (2, 2, 2, 4)
      source%position = s*file%extents/2
    else ! twelve columns that share their numbers: the one-end trick
      source%kind = PLAQ_SOURCE_WALL
      source%noise = PLAQ_NOISE_Z2
      source%dilute = PLAQ_DILUTE_SPIN + PLAQ_DILUTE_COLOUR
      source%seed = 7
    end if
    call ok(plaq_solver_propagator(solver, source, c_null_funptr, c_null_ptr, quark))
    call ok(plaq_spinor_correlators(quark, source%position(4), 1d0, times, one))
    call ok(plaq_spinor_destroy(quark))
    if (s < 2) pion = pion + one/2
  end do
  print '(a)', '# t, two points, wall of noise over the sites of a slice'
  do t = 1, int(times)
    print '(i3, 2es18.9)', t - 1, pion(t), one(t)/product(file%extents(1:3))
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

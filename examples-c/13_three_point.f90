! A nucleon's three-point function: a sequential source through the sink, and the conserved current, which counts quarks.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  integer, parameter :: times = 8, sink = 3
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_dirac) :: dirac
  type(plaq_solver) :: solver
  type(plaq_spinor) :: s, w, x, none
  type(plaq_dirac_params) :: action
  type(plaq_solver_params) :: how
  type(plaq_spinor_params) :: like
  ! C gamma5 of (u^T C gamma5 d) u, and the projector (1 + gamma_t) / 2, row by row, (re, im).
  real(c_double) :: c5(32) = 0, p(32) = 0, two(2, 4, 4, times, 6), three(2, times, 16, 2), current(2, times, 4), c2, charge
  ! An operator on u: pairings 123 and 321, slots 1 and 3 of the sink.
  integer(c_int32_t) :: pairings(4) = [0, 0, 3, 3], slots(4) = [0, 2, 0, 2], rest(3) = 0
  integer(c_int32_t) :: lengths(2) = [0, 1], z(1) = [2] ! a local operator, and one with U_z(x) q(x + z)
  integer :: a, b, t
  c5([3, 9, 23, 29]) = [-1d0, 1d0, -1d0, 1d0]
  p([1, 5, 11, 15, 17, 21, 27, 31]) = 0.5d0
  call ok(plaq_dirac_params_init(action, c_sizeof(action)))
  call ok(plaq_solver_params_init(how, c_sizeof(how)))
  call ok(plaq_spinor_params_init(like, c_sizeof(like)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge))
  action%kappa = 0.12d0
  action%csw = 1.2d0
  how%tol = 1d-11
  call ok(plaq_dirac_create(context, gauge, action, dirac))
  call ok(plaq_solver_create(dirac, how, solver))
  call ok(plaq_solver_propagator(solver, callback=c_null_funptr, user=c_null_ptr, propagator=s)) ! a point at the origin
  call ok(plaq_spinor_contract_quarks(s, none, none, sink=c5, source=c5, momenta=rest, nmomenta=1_c_int64_t, &
    times=int(times, c_int64_t), correlators=two))
  c2 = 0
  do a = 1, 4
    do b = 1, 4
      c2 = c2 + p(2*(4*(b - 1) + a) - 1)*(two(1, b, a, sink + 1, 1) + two(1, b, a, sink + 1, 4))
    end do
  end do
  like%gauge = gauge
  like%nrhs = 12
  call ok(plaq_spinor_create(context, like, w))
  call ok(plaq_spinor_sequential_baryon(s, none, none, w, sink=c5, source=c5, projector=p, pairings=pairings, slots=slots, &
    weights=[1d0, 1d0, 1d0, 1d0], terms=4_c_int64_t, momentum=rest, time=int(sink, c_int32_t)))
  call ok(plaq_solver_propagator_from(solver, w, c_null_funptr, c_null_ptr, x))
  call ok(plaq_spinor_contract_insertions(x, s, gauge, lengths=lengths, lines=2_c_int64_t, steps=z, nsteps=1_c_int64_t, &
    momenta=rest, nmomenta=1_c_int64_t, times=int(times, c_int64_t), correlators=three))
  call ok(plaq_spinor_contract_current(x, s, gauge, momenta=rest, nmomenta=1_c_int64_t, times=int(times, c_int64_t), &
    correlators=current))
  do t = 1, sink - 1
    print '(a, i0, 2(a, f0.6))', 't ', t, ': gamma_t ', three(1, t + 1, 9, 1)/c2, ', with a link ', three(1, t + 1, 9, 2)/c2
  end do
  charge = (current(1, 2, 4) - current(1, sink + 3, 4))/c2
  print '(a, f0.9)', 'charge of u ', charge
  if (abs(charge - 2) > 1d-7) error stop 3
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

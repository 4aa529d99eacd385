! Quark loops with errors: multigrid's coarse space taken out of the noise, until an error is reached.
! test: tests/data/quenched-b6.0-4x4x4x8.ildg
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  integer, parameter :: times = 8
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_dirac) :: dirac
  type(plaq_multigrid) :: multigrid
  type(plaq_solver) :: solver, none
  type(plaq_space) :: space
  type(plaq_loops) :: loops
  type(plaq_dirac_params) :: action
  type(plaq_solver_params) :: how
  type(plaq_multigrid_params) :: levels
  type(plaq_loop_goals) :: goals
  type(plaq_loops_report) :: report
  type(plaq_loops_part_report) :: part
  integer(c_int32_t) :: lengths(1) = 0, steps(1) = 0, rest(3) = 0 ! a local operator at rest
  real(c_double) :: means(2, times, 16), squares(2, times, 16)
  integer(c_int64_t) :: bytes
  integer(c_int32_t) :: k
  call ok(plaq_dirac_params_init(action, c_sizeof(action)))
  call ok(plaq_solver_params_init(how, c_sizeof(how)))
  call ok(plaq_multigrid_params_init(levels, c_sizeof(levels)))
  call ok(plaq_loop_goals_init(goals, c_sizeof(goals)))
  call ok(plaq_loops_report_init(report, c_sizeof(report)))
  call ok(plaq_loops_part_report_init(part, c_sizeof(part)))
  call ok(plaq_context_create(context=context))
  call ok(plaq_gauge_read(context, argument(), gauge=gauge))
  action%kappa = 0.13d0
  action%csw = 1.2d0
  call ok(plaq_dirac_create(context, gauge, action, dirac))
  levels%level(1)%block = 2
  levels%level(1)%vectors = 6
  call ok(plaq_multigrid_create(dirac, levels, c_null_funptr, c_null_ptr, multigrid))
  how%solver = PLAQ_SOLVER_GCR
  how%nkrylov = 4
  call ok(plaq_solver_create(dirac, how, solver))
  call ok(plaq_solver_set_multigrid(solver, multigrid))
  call ok(plaq_space_memory(solver, multigrid, 0_c_int32_t, bytes))
  print '(a, f0.1, a)', 'low modes take ', bytes/1048576d0, ' MiB'
  call ok(plaq_space_create_multigrid(solver, multigrid, 0_c_int32_t, 1d-6, space))
  call ok(plaq_loops_create(solver, none, space, gauge, lengths=lengths, lines=1_c_int64_t, steps=steps, nsteps=0_c_int64_t, &
    momenta=rest, nmomenta=1_c_int64_t, loops=loops))
  goals%error = 2 ! of Tr D^-1 of a time slice
  call ok(plaq_loops_add(loops, goals, c_null_funptr, c_null_ptr, report))
  do k = 0, report%parts - 1
    call ok(plaq_loops_describe_part(loops, k, part))
    print '(2(a, i0), a, f6.2, a)', 'level ', part%level, ': ', part%done, &
      merge(' of noise, ', ' of all,   ', part%term == PLAQ_LOOPS_TERM_NOISE), part%seconds, ' s'
  end do
  call ok(plaq_loops_values(loops, -1_c_int32_t, means, squares, 16_c_int64_t*times, ncurrents=4_c_int64_t*times))
  do k = 1, times
    print '(a, i0, 2(a, f0.2))', 't ', k - 1, ': ', means(1, k, 1), ' +- ', sqrt(squares(1, k, 1))
  end do
  print '(a, f0.2)', 'error ', report%error
  if (report%reached == 0 .or. report%failed > 0) error stop 3
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

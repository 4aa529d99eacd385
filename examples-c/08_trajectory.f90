! Hybrid Monte Carlo from an input in TOML: trajectories with two flavours of quarks, each with its energy violation.
! test:
program example
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use plaq
  implicit none
  character, parameter :: nl = new_line('a')
  character(len=*), parameter :: input = 'length = 0.5'//nl//'seed = 4'//nl//'accept_until = 3'//nl// &
    '[[monomial]]'//nl//'name = "gauge"'//nl//'type = "gauge"'//nl//'action = "wilson"'//nl//'beta = 5.5'//nl// &
    '[[monomial]]'//nl//'name = "quarks"'//nl//'type = "two_flavours"'//nl//'operator = { kappa = 0.1 }'//nl// &
    '[[level]]'//nl//'integrator = "omelyan2"'//nl//'steps = 6'//nl//'monomials = ["gauge", "quarks"]'//nl//c_null_char
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_hmc) :: hmc
  type(plaq_gauge_params) :: shape
  type(plaq_hmc_report) :: report
  integer :: n
  call ok(plaq_gauge_params_init(shape, c_sizeof(shape)))
  call ok(plaq_context_create(context=context))
  shape%extents = 4
  call ok(plaq_gauge_create(context, shape, gauge))
  call ok(plaq_gauge_hot(gauge, 4_c_int64_t))
  call ok(plaq_hmc_create(gauge, input, hmc)) ! docs/hmc.md lists the keys
  do n = 0, 2
    call ok(plaq_hmc_report_init(report, c_sizeof(report)))
    call ok(plaq_hmc_run(hmc, gauge, 1_c_int64_t, c_null_funptr, c_null_ptr, report))
    print '(a, i0, a, f0.6, a, sp, es9.2, 2a)', 'trajectory ', n, ': plaquette ', report%plaquette, ', delta H ', &
      report%delta_h, ', ', merge('accepted', 'rejected', report%accepted == 1)
  end do
  call ok(plaq_context_destroy(context))

contains

  subroutine ok(status)
    integer(c_int32_t), intent(in) :: status
    if (status == PLAQ_SUCCESS) return
    write (error_unit, '(a)') plaq_text(plaq_last_error())
    error stop 1
  end subroutine
end program

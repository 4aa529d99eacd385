!> flow: gradient flow of a configuration: action density, scales t0 and w0, topological charge; the twin
!> of flow.c, without its files.
!>
!>   flow_f --gauge FILE [--flow wilson|symanzik|zeuthen] [--step EPS] [--time T] [--tolerance D] [--every N]
!>          [--device auto|cpu|cuda] [--threads N]
!>
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --time 0.5 --every 5
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --flow zeuthen --time 0.3 --tolerance 1e-4
include 'example.inc'

program flow
  use plaq
  use example
  implicit none
  character(len=112), parameter :: help(2) = [character(len=112) :: &
    'usage: flow_f --gauge FILE [--flow wilson|symanzik|zeuthen] [--step EPS] [--time T] [--tolerance D] [--every N]', &
    '              [--device auto|cpu|cuda] [--threads N]']
  character(len=8), parameter :: flow_names(3) = [character(len=8) :: 'wilson', 'symanzik', 'zeuthen']
  integer(c_int32_t), parameter :: flow_values(3) = [PLAQ_FLOW_WILSON, PLAQ_FLOW_SYMANZIK, PLAQ_FLOW_ZEUTHEN]
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_flow_params) :: params
  type(plaq_flow_report) :: report
  type(plaq_flow_point), allocatable :: points(:)
  integer(c_int64_t) :: count, room, k
  real(c_double) :: t2e
  integer :: last

  last = command_argument_count()
  call check_options(last, '--gauge --flow --step --time --tolerance --every --device --threads', help)
  call ok(plaq_flow_params_init(params, c_sizeof(params)))
  call ok(plaq_flow_report_init(report, c_sizeof(report)))
  params%kind = choose(last, '--flow', 'wilson', flow_names, flow_values)
  params%step = number(last, '--step', '0.02')
  params%time = number(last, '--time', '1')
  params%tolerance = number(last, '--tolerance', '0')
  params%every = int(whole(last, '--every', '1'), c_int32_t)
  if (.not. params%step > 0 .or. params%every < 1) call usage_error('--step or --every', 'out of range')

  context = open_context(last)
  call ok(plaq_gauge_read_file(context, option(last, '--gauge')//c_null_char, gauge=gauge))
  room = int(params%time / params%step, c_int64_t) / params%every + 8
  if (params%tolerance > 0) room = room + 1000000
  allocate (points(room))
  call ok(plaq_flow_run(gauge, params, c_null_funptr, c_null_ptr, report, points, room, count))
  print '(a)', '# t, plaquette spatial, temporal, E spatial, temporal, t^2 E, charge'
  do k = 1, min(count, room)
    t2e = points(k)%time**2 * (points(k)%energy_spatial + points(k)%energy_temporal)
    print '(f9.5,2x,2f13.10,2x,2f13.8,2x,f12.8,2x,f9.5)', points(k)%time, points(k)%plaquette_spatial, &
      points(k)%plaquette_temporal, points(k)%energy_spatial, points(k)%energy_temporal, t2e, points(k)%charge
  end do
  if (report%t0_clover > 0) print '(a,f0.6,a,f0.6,a)', '# t0 ', report%t0_clover, ' (plaquette: ', report%t0_plaquette, ')'
  if (report%w0_clover > 0) print '(a,f0.6,a,f0.6,a)', '# w0 ', report%w0_clover, ' (plaquette: ', report%w0_plaquette, ')'
  print '(a,a,a)', '# ', word(report%steps), ' steps'
  call ok(plaq_context_destroy(context))
  call leave(0)
end program

!> gluon: the gluon propagator of a configuration in Landau gauge; the twin of gluon.c, with the same
!> options, table and file, and its conventions.
!>
! test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --fix yes --json $OUT/gluon_f.json --plot $OUT/gluon_f.svg
! test: --gauge tests/data/quenched-b6.0-8x8x8x8.nersc --fix yes --cut 0
include 'example.inc'
include 'plot.inc'
include 'fixing.inc'

program gluon
  use plaq
  use example
  use plots
  use gaugefix_progress
  implicit none
  real(c_double), parameter :: pi = 3.14159265358979323846_c_double
  character(len=5), parameter :: fix_names(3) = [character(len=5) :: 'no', 'yes', 'as-is']
  character(len=32), parameter :: needs(2) = [character(len=32) :: &
    '--stop-theta --copies: --fix=yes', &
    '--seed: --copies']
  character(len=111), parameter :: help(14) = [character(len=111) :: &
    'usage: gluon_f --gauge FILE [options]', &
    'The gluon propagator of a configuration in Landau gauge, p^2 and D(p^2) in a table.', &
    '  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself', &
    '  --fix F              yes: fixes the gauge first; no: refuses links that are not fixed; as-is: takes them (no)', &
    '  --stop-theta T       violation of the gauge condition that --fix yes reaches (1e-12)', &
    '  --copies N           gauge copies, of which the best is kept (1)', &
    '  --seed S             of their random numbers (1)', &
    '  --cut WIDTH          momenta at most so many units 2 pi / L_space away from the diagonal (1,1,1,1) (1)', &
    '  --json FILE          all momenta as JSON (none)', &
    '  --plot FILE.svg      p^2 D over p^2 as a picture (none)', &
    '  --device D           auto, cpu or cuda (auto)', &
    '  --threads N          of the CPU; 0: all (0)', &
    '  --help, -h, --version', &
    'example: gluon_f --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --fix yes --plot gluon.svg']

  !> Momenta that the symmetries of the lattice make one.
  type point
    integer :: k(4) = 0, momenta = 0
    !> p^2, and sum_{a,mu} |A|^2 over `momenta` of them.
    real(c_double) :: p2 = 0, total = 0
  end type

  character(len=:), allocatable :: gauge_file, json_file, plot_file, device
  integer(c_int32_t) :: fixes
  real(c_double) :: cut, theta, transversality
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_gaugefix) :: fixed
  type(plaq_gaugefix_params) :: params
  type(plaq_gaugefix_report) :: report
  type(plaq_file_report) :: file
  type(plaq_plaquette) :: links
  type(point), allocatable :: points(:)
  !> Column, row, direction, site; x fastest.
  complex(c_double), allocatable, target :: field(:, :, :, :)
  integer :: last, l(4), volume

  last = command_argument_count()
  call read_options()
  context = open_context(last)
  device = device_name(context)
  write (error_unit, '(a)') 'gluon on '//device
  call ok(plaq_file_report_init(file, c_sizeof(file)))
  call ok(plaq_gauge_read_file(context, gauge_file//c_null_char, gauge=gauge, report=file))
  call ok(plaq_gaugefix_report_init(report, c_sizeof(report)))
  if (fixes == 1) then
    call watch_signals()
    call ok(plaq_gaugefix_run(gauge, params, c_funloc(progress), c_null_ptr, report, fixed))
    call progress_end()
    call ok(plaq_gaugefix_destroy(fixed))
    if (report%stopped == 1) then
      print '(a)', '# INTERRUPTED: the gauge is not fixed'
      call leave(3)
    end if
  end if
  call ok(plaq_gauge_plaquette(gauge, links))
  l = file%extents
  volume = product(l)
  allocate (field(3, 3, 4, volume))
  call ok(plaq_gauge_save(gauge, data=c_loc(field)))
  call potential()
  call fourier()
  call average()
  if (fixes == 0 .and. theta > 1e-6_c_double) then
    write (error_unit, '(a,es9.3,a)') gauge_file//': not in Landau gauge, theta is ', theta, &
      '; --fix yes fixes it, --fix as-is takes it as it is'
    call leave(1)
  end if
  call print_table()
  if (len(json_file) > 0) call write_json()
  if (len(plot_file) > 0) call write_plot()
  call ok(plaq_context_destroy(context))
  call leave(merge(0, 3, fixes /= 1 .or. report%converged == 1))

contains

  subroutine read_options()
    call check_options(last, '--gauge --fix --stop-theta --copies --seed --cut --json --plot --device --threads', help, needs)
    call ok(plaq_gaugefix_params_init(params, c_sizeof(params)))
    gauge_file = option(last, '--gauge')
    json_file = option(last, '--json', '')
    plot_file = option(last, '--plot', '')
    call check_output(json_file, overwrite=.true.)
    call check_plot(plot_file, overwrite=.true.)
    fixes = choose(last, '--fix', 'no', fix_names, [0_c_int32_t, 1_c_int32_t, 2_c_int32_t])
    params%stop_theta = number(last, '--stop-theta', '1e-12')
    if (params%stop_theta < 0) call usage_error('--stop-theta', 'expected 0 or more')
    params%copies = whole(last, '--copies', '1')
    params%seed = whole(last, '--seed', '1')
    cut = number(last, '--cut', '1')
    if (cut < 0) call refuse('--cut', option(last, '--cut'), '0 or more')
  end subroutine

  !> U becomes the traceless part of (U - U^dagger) / 2i; memory has its transpose.
  subroutine potential()
    complex(c_double) :: a(3, 3), trace
    integer :: x, mu, i
    do x = 1, volume
      do mu = 1, 4
        a = (field(:, :, mu, x) - conjg(transpose(field(:, :, mu, x)))) / (0, 2)
        trace = (a(1, 1) + a(2, 2) + a(3, 3)) / 3
        do i = 1, 3
          a(i, i) = a(i, i) - trace
        end do
        field(:, :, mu, x) = a
      end do
    end do
  end subroutine

  !> sum_x exp(-2 pi i k x / L) f(x) in place, one axis after the other.
  subroutine fourier()
    complex(c_double), allocatable :: line(:, :, :, :), phase(:)
    integer :: mu, stride, x, n, k
    stride = 1
    do mu = 1, 4
      allocate (line(3, 3, 4, 0:l(mu) - 1), phase(0:l(mu) - 1))
      phase = [(exp(cmplx(0, -2 * pi * n / l(mu), c_double)), n=0, l(mu) - 1)]
      do x = 1, volume
        if (modulo((x - 1) / stride, l(mu)) /= 0) cycle
        line = field(:, :, :, x:x + (l(mu) - 1) * stride:stride)
        do k = 0, l(mu) - 1
          associate (to => field(:, :, :, x + k * stride))
            to = 0
            do n = 0, l(mu) - 1
              to = to + phase(modulo(k * n, l(mu))) * line(:, :, :, n)
            end do
          end associate
        end do
      end do
      stride = stride * l(mu)
      deallocate (line, phase)
    end do
  end subroutine

  !> The member of a class of momenta under reflections, and exchanges of axes of the same extent,
  !> that stands for it.
  function representative(momentum) result(k)
    integer, intent(in) :: momentum(4)
    integer :: k(4), mu, nu
    k = min(momentum, l - momentum)
    do mu = 1, 4
      do nu = mu + 1, 4
        if (l(mu) == l(nu) .and. k(mu) > k(nu)) k([mu, nu]) = k([nu, mu])
      end do
    end do
  end function

  !> Distance of the momentum 2 pi k / L from the diagonal, in units of 2 pi / L_space.
  real(c_double) function distance(k)
    integer, intent(in) :: k(4)
    real(c_double) :: q(4)
    q = k * real(minval(l(1:3)), c_double) / l
    distance = sqrt(max(0.0_c_double, sum(q**2) - sum(q)**2 / 4))
  end function

  !> From A(p) to classes of momenta inside the cut, and the violation of the gauge condition.
  subroutine average()
    type(point), allocatable :: all(:)
    complex(c_double) :: a(3, 3)
    real(c_double) :: half(4), square, divergence, whole_sum, p2
    integer :: x, rest, k(4), r(4), mu, at
    allocate (all(volume))
    divergence = 0
    whole_sum = 0
    do x = 1, volume
      rest = x - 1
      do mu = 1, 4
        k(mu) = modulo(rest, l(mu))
        rest = rest / l(mu)
      end do
      half = pi * k / l
      p2 = sum(4 * sin(half)**2)
      a = 0
      do mu = 1, 4
        ! exp(-i p/2) for the midpoint of the link.
        a = a + 2 * sin(half(mu)) * exp(cmplx(0, -half(mu), c_double)) * field(:, :, mu, x)
      end do
      ! tr T^a T^b = delta / 2.
      square = 2 * sum(abs(field(:, :, :, x))**2)
      divergence = divergence + sum(abs(a)**2)
      whole_sum = whole_sum + p2 * square / 2
      r = representative(k)
      at = 1 + r(1) + l(1) * (r(2) + l(2) * (r(3) + l(3) * r(4)))
      all(at)%k = r
      all(at)%p2 = p2
      all(at)%total = all(at)%total + square
      all(at)%momenta = all(at)%momenta + 1
    end do
    theta = divergence / (3.0_c_double * real(volume, c_double)**2)
    transversality = merge(divergence / whole_sum, 0.0_c_double, whole_sum > 0)
    points = pack(all, [(inside(all(at)), at=1, volume)])
    call sort(points)
  end subroutine

  logical function inside(p)
    type(point), intent(in) :: p
    inside = p%momenta > 0
    if (inside) inside = distance(p%k) <= cut * (1 + 1e-12_c_double) + 1e-12_c_double
  end function

  !> By p^2, classes of the same p^2 stay as they are: few points, so plain insertion.
  subroutine sort(list)
    type(point), intent(inout) :: list(:)
    type(point) :: one
    integer :: i, n
    do i = 2, size(list)
      one = list(i)
      do n = i - 1, 1, -1
        if (list(n)%p2 <= one%p2 + 1e-12_c_double) exit
        list(n + 1) = list(n)
      end do
      list(n + 1) = one
    end do
  end subroutine

  real(c_double) function propagator(p)
    type(point), intent(in) :: p
    propagator = p%total / p%momenta / (merge(3, 4, p%p2 > 0) * 8.0_c_double * volume)
  end function

  subroutine print_table()
    integer :: i
    print '(3a,3(i0," x "),i0,a,f14.12)', '# ', gauge_file, ' ('//format_name(file%format)//'), ', file%extents, &
      ', plaquette ', links%total
    if (fixes == 1) print '(a)', '# fixed here, '//word(report%copies)//' copies, '//word(report%iterations)// &
      ' iterations'//trim(merge('               ', ', NOT CONVERGED', report%converged == 1))
    print '(a,f14.12,2(a,es9.3))', '# functional ', links%link_trace, ', theta ', theta, ', transversality ', &
      transversality
    print '(a)', '#              k             p^2               D           p^2 D  momenta'
    do i = 1, size(points)
      associate (p => points(i))
        print '(i3,3i4,3(2x,f14.10),2x,i7)', p%k, p%p2, propagator(p), p%p2 * propagator(p), p%momenta
      end associate
    end do
  end subroutine

  subroutine write_plot()
    type(plot_points) :: dressing
    integer :: i
    do i = 1, size(points)
      call plot_add(dressing, points(i)%p2, points(i)%p2 * propagator(points(i)))
    end do
    call plot_page(plot_file, [plot_one('Gluon propagator in Landau gauge', '(a p)^2', 'p^2 D(p^2)', &
                                        plot_history('p^2 D', '#0072b2', dressing))])
  end subroutine

  subroutine write_json()
    integer :: unit, i
    unit = begin_file(json_file)
    write (unit, '(a)') '{', '  "version": '//quoted(plaq_text(plaq_version()))//',', &
      '  "device": '//quoted(device)//',', '  "gauge": {"file": '//quoted(gauge_file)//', "format": "'// &
      format_name(file%format)//'", "lattice": '//json_integers(file%extents)//'},', &
      '  "functional": '//exact(links%link_trace)//', "theta": '//exact(theta)//', "transversality": '// &
      exact(transversality)//', "cut": '//exact(cut)//',', '  "points": ['
    do i = 1, size(points)
      associate (p => points(i))
        write (unit, '(a)') '    {"k": '//json_integers(int(p%k, c_int32_t))//', "p2": '//exact(p%p2)//', "D": '// &
          exact(propagator(p))//', "p2D": '//exact(p%p2 * propagator(p))//', "momenta": '// &
          word(int(p%momenta, c_int64_t))//'}'//trim(merge(',', ' ', i < size(points)))
      end associate
    end do
    write (unit, '(a)') '  ]', '}'
    call end_file(unit, json_file)
  end subroutine
end program

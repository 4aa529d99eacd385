"""Keywords that functions of the package pass on to structs of parameters, for type checkers: what the members of
these take, but those that the functions name themselves. Generated from src/capi; do not edit.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence, TypedDict, Union

from . import capi


class Context(TypedDict, total=False):
    """Parameters of a context."""
    ordinal: int
    communicator_kind: Union[int, str, capi.plaq_communicator]
    communicator: Any
    communicator_fortran: int
    reproducible: int
    grid: Sequence[int]
    rank_table: Any
    rank_callback: Callable[..., Any]
    rank_user: Any
    timeout: float
    memory_limit: int
    stream: Any


class Layout(TypedDict, total=False):
    """Layout of an array of the host."""
    order: Union[int, str, capi.plaq_order]
    precision: Union[int, str, capi.plaq_precision]
    location: Union[int, str, capi.plaq_location]
    basis: Union[int, str, capi.plaq_basis]
    arrays: int
    project: int
    tolerance: float
    scale: Sequence[float]
    boundary: Sequence[float]
    site_bytes: int
    site_offset: int
    stream: Any


class GaugeSmear(TypedDict, total=False):
    """Parameters of link smearing."""
    kind: Union[int, str, capi.plaq_smearing]
    steps: int
    directions: int
    alpha: Sequence[float]


class Gauge(TypedDict, total=False):
    """Shape of a gauge field."""
    extents: Sequence[int]
    precision: Union[int, str, capi.plaq_precision]
    storage: Union[int, str, capi.plaq_storage]
    boundary_time: Union[int, str, capi.plaq_boundary_time]
    phi: Sequence[float]
    phi_prime: Sequence[float]


class GaugeRead(TypedDict, total=False):
    """Parameters of reading a configuration; format and size are found in the file."""
    extents: Sequence[int]
    storage: Union[int, str, capi.plaq_storage]
    unitarity: float
    header: float
    project: int
    wrong_checksum: int
    boundary_time: Union[int, str, capi.plaq_boundary_time]
    phi: Sequence[float]
    phi_prime: Sequence[float]


class GaugeWrite(TypedDict, total=False):
    """Format and header of a file that is written. Texts are NULL or NUL-terminated UTF-8."""
    byte_order: Union[int, str, capi.plaq_byte_order]
    precision: Union[int, str, capi.plaq_precision]
    sequence_number: int
    ensemble_id: Union[str, bytes, None]
    ensemble_label: Union[str, bytes, None]
    creator: Union[str, bytes, None]
    date: Union[str, bytes, None]
    lfn: Union[str, bytes, None]


class SpinorSmear(TypedDict, total=False):
    """Parameters of Gaussian (Wuppertal) smearing: psi <- [(1 + alpha H) / (1 + 2 d alpha)]^steps psi, where H is"""
    alpha: float
    steps: int
    directions: int
    momentum: Sequence[float]
    width: float


class Spinor(TypedDict, total=False):
    """Shape of a spinor field."""
    extents: Sequence[int]
    precision: Union[int, str, capi.plaq_precision]
    subset: Union[int, str, capi.plaq_subset]
    nrhs: int
    spins: int
    gauge: Any
    slices: int


class Heatbath(TypedDict, total=False):
    """Parameters of quenched updates with weight exp(-beta sum (1 - Re tr U_munu / N))."""
    beta: float
    seed: int
    sweeps: int
    overrelax: int
    first_sweep: int
    cg: float
    cg_prime: float


class Clover(TypedDict, total=False):
    """Shape of a clover term."""
    extents: Sequence[int]
    precision: Union[int, str, capi.plaq_precision]
    gauge: Any


class Dirac(TypedDict, total=False):
    """A quark of Wilson type: D = m + sum_mu h_mu (1 - ...) Wilson's term, + csw (i/4) sum sigma F, + i mu gamma5."""
    csw_t: float
    cf: float
    cf_prime: float
    storage: Union[int, str, capi.plaq_storage]
    clover: Union[int, str, capi.plaq_clover_form]
    clover_links: Union[int, str, capi.plaq_clover_links]


class Laplace(TypedDict, total=False):
    """Parameters of the operator -D^2 + m^2 on periodic fields, where D^2 is the gauge-covariant second"""
    mass2: float
    directions: int
    spins: int
    precision: Union[int, str, capi.plaq_precision]
    storage: Union[int, str, capi.plaq_storage]


class Origin(TypedDict, total=False):
    """Source and operator from which the columns of a field were made, for plaq_contract_params and files."""
    position: Sequence[int]
    normalisation: Union[int, str, capi.plaq_normalisation]
    boundary_time: Union[int, str, capi.plaq_boundary_time]
    boundary: float
    boundary_space: Sequence[float]
    mass: float
    mu: float
    links: Sequence[float]
    kind: Union[int, str, capi.plaq_line_kind]
    clover: Union[int, str, capi.plaq_clover_form]
    csw: Sequence[float]
    crossed: float


class MultigridLevel(TypedDict, total=False):
    """A level of multigrid and its step to the next coarser one."""
    block: Sequence[int]
    vectors: int
    pre: int
    post: int


class Multigrid(TypedDict, total=False):
    """Parameters of a hierarchy of multigrid. The defaults need no tuning."""
    levels: int
    cycle: Union[int, str, capi.plaq_cycle]
    level: Any
    smoother: Union[int, str, capi.plaq_smoother]
    smoother_precision: Union[int, str, capi.plaq_precision]
    coarse_precision: Union[int, str, capi.plaq_precision]
    iterations: int
    coarsest_iterations: int
    setup_iterations: int
    refinements: int
    gather: int
    omega: float
    tol: float
    coarsest_tol: float
    seed: int
    coarse_smoother: Union[int, str, capi.plaq_smoother]
    coarsest: Union[int, str, capi.plaq_coarsest]
    coarsest_modes: int
    deep_cycle: Union[int, str, capi.plaq_cycle]
    domain: Sequence[int]
    domain_steps: int
    link_precision: Union[int, str, capi.plaq_precision]
    setup_columns: int
    setup_solver: Union[int, str, capi.plaq_setup_solver]
    setup_vectors: Union[int, str, capi.plaq_vector_memory]
    twist_factors: Sequence[float]


class Solver(TypedDict, total=False):
    """Parameters of a solver. By default the solver is chosen while it solves, on the even-odd preconditioned"""
    solver: Union[int, str, capi.plaq_solver_kind]
    solution: Union[int, str, capi.plaq_solution]
    equations: Union[int, str, capi.plaq_equations]
    system: Union[int, str, capi.plaq_system]
    sloppy_precision: Union[int, str, capi.plaq_precision]
    sloppy_storage: Union[int, str, capi.plaq_storage]
    max_iterations: int
    nkrylov: int
    precondition_steps: int
    initial_guess: int
    tol: float
    tol_hq: float
    delta: float
    omega: float
    columns: int
    expected_columns: int
    distance_t0: int
    max_seconds: float
    distance_alpha: float
    tol_site: float
    sums: Union[int, str, capi.plaq_iteration_sums]
    fall_back: int


class Source(TypedDict, total=False):
    """Source of a propagator, with columns exp(i p (x - position)) eta(x) where eta is 1 or noise. Without noise a"""
    noise: Union[int, str, capi.plaq_noise]
    position: Sequence[int]
    momentum: Sequence[int]
    vectors: int
    spin: int
    colour: int
    first: int
    count: int
    time_parts: int
    seed: int


class Sequential(TypedDict, total=False):
    """Parameters of sequential sources delta(t, time) exp(i p (x - x0)) Gamma psi(x)."""
    time: int
    gamma: int
    momentum: Sequence[int]
    position: Sequence[int]
    boundary_time: Union[int, str, capi.plaq_boundary_time]


class Contract(TypedDict, total=False):
    """Parameters for contractions of propagators."""
    position: Sequence[int]
    boundary: float
    parity: int
    projection: Union[int, str, capi.plaq_projection]
    boundary_space: Sequence[float]
    flavour_changing: int
    next_boundary_space: Sequence[float]


class Loops(TypedDict, total=False):
    """Parameters of the noise for loops."""
    kind: Union[int, str, capi.plaq_loops_kind]
    noise: Union[int, str, capi.plaq_noise]
    seed: int
    first: int
    vectors: int
    dilute: int
    time_parts: int
    probes: int
    factor: Sequence[float]


class Reweighting(TypedDict, total=False):
    """Parameters of reweighting factors and of the noise that estimates them."""
    kind: Union[int, str, capi.plaq_reweighting_kind]
    system: Union[int, str, capi.plaq_system]
    vectors: int
    first: int
    seed: int
    low: float
    high: float
    poles: int
    fields: int
    error: float
    shifts: int


class SpinorWrite(TypedDict, total=False):
    """Contents of the file of a propagator."""
    kind: Union[int, str, capi.plaq_propagator_kind]
    precision: Union[int, str, capi.plaq_precision]
    info: Union[str, bytes, None]


class SpinorRead(TypedDict, total=False):
    """Parameters of reading a propagator."""
    extents: Sequence[int]
    precision: Union[int, str, capi.plaq_precision]
    wrong_checksum: int


class Eigen(TypedDict, total=False):
    """Parameters of a search for eigenvectors of A, where A = M if M is hermitian, as for a Laplacian, and A ="""
    method: Union[int, str, capi.plaq_eigen_method]
    end: Union[int, str, capi.plaq_eigen_end]
    system: Union[int, str, capi.plaq_system]
    max_vectors: int
    block: int
    max_restarts: int
    verify: int
    tol: float
    degree: int
    time_slices: int
    from_: float
    to: float
    seed: int
    max_seconds: float
    vectors: Union[int, str, capi.plaq_vector_memory]
    min_vectors: int


class LoopSums(TypedDict, total=False):
    """Parameters that divide loops into parts."""
    traces: Union[int, str, capi.plaq_loops_traces]
    hopping: int


class Modes(TypedDict, total=False):
    """Modes of -D^2 on every time slice, D^2 the covariant second difference in x, y and z."""
    count: int
    steps: int
    rho: float
    tol: float
    max_restarts: int
    verify: int
    seed: int
    max_seconds: float
    vectors: Union[int, str, capi.plaq_vector_memory]
    mixed: int
    momentum: Sequence[float]


class ModesNoise(TypedDict, total=False):
    """Noise in the space of modes: a column is b(x) = sum of eta(t, s, k) v_k(x) over the modes k, spins s and times"""
    noise: Union[int, str, capi.plaq_noise]
    vectors: int
    seed: int
    time: Union[int, str, capi.plaq_modes_dilution]
    time_parts: int
    spin: Union[int, str, capi.plaq_modes_dilution]
    spin_parts: int
    mode: Union[int, str, capi.plaq_modes_dilution]
    mode_parts: int
    first: int
    count: int


class Overlap(TypedDict, total=False):
    """Parameters of the overlap operator D_N(m) = (1 - m / (2 rho)) rho (1 + gamma5 sign(Q)) + m with rho = 1 + s."""
    delta: float
    sign: Union[int, str, capi.plaq_overlap_sign]
    most_modes: int
    method: Union[int, str, capi.plaq_eigen_method]
    modes_tol: float
    max_degree: int
    two_passes: int
    low: float
    high: float
    csw: float
    precision: Union[int, str, capi.plaq_precision]
    storage: Union[int, str, capi.plaq_storage]
    seed: int
    smearing_steps: int
    smearing: Union[int, str, capi.plaq_smearing]
    smearing_alpha: Sequence[float]
    max_seconds: float
    high_modes: int
    max_restarts: int
    vectors: Union[int, str, capi.plaq_vector_memory]
    block: int


class OverlapSolve(TypedDict, total=False):
    """Parameters of solves of D x = b."""
    solver: Union[int, str, capi.plaq_overlap_solver]
    max_iterations: int
    tol: float
    sloppy_precision: Union[int, str, capi.plaq_precision]
    sloppy_storage: Union[int, str, capi.plaq_storage]
    relax: int
    deflate: int
    nkrylov: int
    wilson_iterations: int
    wilson_mass: float
    wilson_tol: float
    subtract: int
    max_seconds: float


class Gaugefix(TypedDict, total=False):
    """Parameters of gauge fixing."""
    direction: int
    residual: int
    method: Union[int, str, capi.plaq_gaugefix_method]
    precision: Union[int, str, capi.plaq_gaugefix_precision]
    logarithmic: int
    omega: float
    probability: float
    stochastic_sweeps: int
    hot: float
    cold: float
    temperatures: int
    microcanonical: int
    stop_theta: float
    stop_theta_max: float
    stop_change: float
    max_iterations: int
    check_every: int
    copies: int
    random_start: int
    seed: int
    alpha: float


class GaugeAction(TypedDict, total=False):
    """A gauge action: sum over x and planes of beta c0 (1 - Re tr P / 3) and beta c1"""
    action: Union[int, str, capi.plaq_gauge_action_kind]
    beta: float
    anisotropy: float
    c1: float
    u0: float
    flavours: float
    cg: float
    cg_prime: float
    plaquettes: Sequence[float]
    rectangles: Sequence[float]


class Hmc(TypedDict, total=False):
    """Parameters of a chain apart from its action and integrator: keys of an input (docs/hmc.md)."""
    length: float
    seed: int
    trajectory: int
    accept_until: int
    reversibility_every: int
    algorithm: Union[int, str, capi.plaq_hmc_algorithm]
    rejection: Union[int, str, capi.plaq_smd_rejection]
    friction: float


class Quarks(TypedDict, total=False):
    """Parameters of the quarks of a monomial (docs/fermions.md)."""
    flavours: int
    system: Union[int, str, capi.plaq_system]
    max_iterations: int
    sloppy_precision: Union[int, str, capi.plaq_precision]
    guesses: int
    smearing_levels: int
    multigrid: int
    multigrid_preconditioner: int
    persistent: int
    nkrylov: int
    shifts: int
    refresh: Union[int, str, capi.plaq_refresh]
    fields: int
    check_every: int
    tolerance_force: float
    tolerance_hamiltonian: float
    smearing_rho: float
    error_force: float
    error_hamiltonian: float
    interval: Sequence[float]
    epsilon: float
    mu_schur: Sequence[float]
    tol_site: float
    sums_force: Union[int, str, capi.plaq_iteration_sums]
    sums_hamiltonian: Union[int, str, capi.plaq_iteration_sums]


class Flow(TypedDict, total=False):
    """A gradient flow by Luescher's third-order Runge-Kutta scheme (JHEP 08 (2010) 071, appendix C)."""
    kind: Union[int, str, capi.plaq_flow_kind]
    every: int
    step: float
    time: float
    tolerance: float


class SpinorFlow(TypedDict, total=False):
    """A gradient flow of quark fields by Luescher's third-order Runge-Kutta scheme (JHEP 04 (2013) 123, appendix D),"""
    kind: Union[int, str, capi.plaq_flow_kind]
    checkpoints: int
    step: float
    time: float
    boundary: Sequence[float]

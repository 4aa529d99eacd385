// Constants that Rust and the kernels share.

constants! {
    /// Largest number of right-hand sides whose coefficients one launch of vector operations carries.
    MAX_RHS = 32;

    // Factors with which the site operator of a Dirac kernel multiplies (wilson.h).
    SITE_ONE = 0;
    /// Site term a + i mu gamma5.
    SITE_TWIST = 1;
    /// Site term of clover blocks.
    SITE_CLOVER = 2;
    /// Site term of clover blocks + i mu gamma5.
    SITE_CLOVER_TWIST = 3;
    /// Site term A H - i mu gamma5 H with H = (A^2 + mu^2)^-1; planes of A H come first, then those of H.
    SITE_CLOVER_TWIST_INVERSE = 4;
    /// Site term gamma5, only in the site kernel.
    SITE_GAMMA5 = 5;

    // Sites that a launch of the hop takes where the lattice has halos (geometry.h).
    /// All sites; a GPU packs the faces first and waits for those of other ranks in between.
    REGION_ALL = 0;
    /// Sites whose neighbours are all on this rank.
    REGION_INNER = 1;
    REGION_OUTER = 2;
    /// Sites at faces, then the others, in one launch that exchanges faces itself (gaugefix.h).
    REGION_FACES_FIRST = 3;
    /// Value of `parity` for launches in which each block determines its parity (wilson.h).
    PARITY_BOTH = 2;
    /// Number of threads that pack faces while inner sites are done: some 400 KB are then under way, which a link of
    /// 400 GB/s takes in a microsecond, and they take an eighth of a large GPU.
    PACK_THREADS = 8192;

    /// Largest number of GPUs of one machine that exchange the sums of reductions among themselves (sums.h).
    MAX_PEERS = 8;

    /// Number of time-slices of a row that a warp of the hop on tensor cores goes through at a time (tensor_hop.h).
    TENSOR_SLICES = 2;

    // Boundaries of links in time, bits (bounds.h).
    /// Quarks vanish on slice 0.
    BOUND_LOWER = 1;
    /// The lattice ends with the last stored slice, where quarks vanish.
    BOUND_UPPER = 2;
    /// Spatial links of slice 0 are fixed.
    BOUND_FIXED = 4;
    /// Spatial links of the slice behind the last stored one are fixed.
    BOUND_EDGE = 8;
    /// Sum of the bits for open boundaries.
    BOUND_OPEN = 3;
    BOUND_SF = 13;
    BOUND_OPEN_SF = 9;

    // Link storages (recon.h), reals per link where that names them.
    R18 = 18;
    R12 = 12;
    /// SU(3), eight numbers by the minimal algebraic parametrisation.
    R8 = 8;
    /// SU(3), eight angles.
    R8A = 81;
    /// SU(2), four reals.
    SU2 = 4;

    // Purposes of random numbers, a part of the Philox counter (philox.h).
    RANDOM_LINK = 0;
    RANDOM_NORMAL_SPINOR = 1;
    RANDOM_Z4_SPINOR = 2;
    RANDOM_HEATBATH = 3;
    RANDOM_GAUGE = 4;
    RANDOM_GAUGEFIX = 5;
    RANDOM_MOMENTA = 6;
    /// Random number for the acceptance of a trajectory.
    RANDOM_ACCEPT = 7;
    /// Random numbers for pseudofermions.
    RANDOM_PSEUDOFERMION = 8;
    RANDOM_Z2_SPINOR = 9;
    /// Random numbers for noise in the space of modes, which is made on the host.
    RANDOM_MODES = 10;

    // Indices of which each value has a column of its own in a source (source.h).
    DILUTE_COLOUR = 1;
    DILUTE_SPIN = 2;
    /// Dilution in even and odd sites.
    DILUTE_PARITY = 4;
    /// Dilution in time slices t = k mod parts.
    DILUTE_TIME = 8;

    // Arrays of momenta (momenta.h): coefficients of T_a; the anti-hermitian matrix i p as 10 reals
    // (entries 01, 02, 12, then the imaginary parts of the diagonal, one left free), or whole.
    MOMENTA_COEFFICIENTS = 0;
    MOMENTA_TEN = 1;
    MOMENTA_MATRICES = 2;
    MOMENTA_OPENQCD = 3;

    // Functionals of gauge fixing (gaugefix.h).
    GAUGE_TRACE = 0;
    GAUGE_ABELIAN = 1;
    GAUGE_PHASES = 2;
    // Operations of a sweep on an element of a subgroup.
    /// Replaces an element by the best one to the power omega.
    GAUGE_OVERRELAX = 0;
    /// Replaces an element by the square of the best one.
    GAUGE_MICROCANONICAL = 1;
    /// Replaces an element with probability omega by the square of the best one, else by the best one.
    GAUGE_STOCHASTIC = 2;
    /// Draws an element with weight exp(omega f).
    GAUGE_HEAT = 3;

    // Element-wise operations of blas.h; x,y,z,w are the vectors in order, a,b,c complex per rhs.
    BLAS_COPY = 1;
    /// Computes y = a x + b y.
    BLAS_AXPBY = 2;
    /// Computes z += a x; x = b x + c y (CG: solution, search direction).
    BLAS_CG_UPDATE = 3;
    /// Computes z = a x + b y + c z.
    BLAS_AXPBYPCZ = 4;
    /// Sums |x|^2.
    BLAS_NORM = 5;
    /// Sums Re <x,y>, Im <x,y>, |x|^2.
    BLAS_DOT = 6;
    /// Computes y += a x; sums |y|^2.
    BLAS_AXPY_NORM = 7;
    /// Computes y += a x; sums Re <z,y>, Im <z,y>, |y|^2.
    BLAS_AXPY_DOT = 8;
    /// Computes w += a x + b y; y += c z; sums Re <v,y>, Im <v,y>, |y|^2 (BiCGStab: solution, residual).
    BLAS_BICGSTAB = 9;

    /// Number of values that a thread of a GPU takes where several right-hand sides are fastest.
    BLAS_NUMBERS = 4;

    // Factors of a coefficient: none, or a function of sums over vectors x and y that an earlier launch left on the
    // device. If the product is not finite, the term is left out.
    TIMES_NOTHING = 0;
    /// Factor 1, for a term that may be left out.
    TIMES_ONE = 1;
    /// Factor 1 / <x, y>.
    TIMES_OVER_DOT = 2;
    /// Factor 1 / Re <x, y>.
    TIMES_OVER_REAL = 3;
    /// Factor 1 / |x|^2.
    TIMES_OVER_NORM = 4;
    /// Factor <x, y> / |x|^2.
    TIMES_DOT_OVER_NORM = 5;
    /// Factor |u|^2, from the second sums.
    TIMES_NORM = 6;
    /// Factor |u|^2 / Re <x, y>, from two sums.
    TIMES_NORM_OVER_REAL = 7;
    /// Factor |u|^2 / |x|^2, from two sums.
    TIMES_NORM_OVER_NORM = 8;

    // Vectors that a tile of products of all pairs has of either side, and those that one pass of a linear
    // combination makes (basis.h).
    BASIS_ROWS = 4;
    BASIS_COLUMNS = 2;
    BASIS_OUT = 4;

    // Vectors that a Krylov space has at most with its residual, those of a tile of products, pairs of sites of
    // which a sample takes one, and what vectors are (krylov.h, krylov_short.h).
    KRYLOV_MOST = 20;
    KRYLOV_TILE = 4;
    KRYLOV_SAMPLED = 8;
    KRYLOV_POWERS = 0;
    KRYLOV_IMAGES = 1;

    // Rows of a dense matrix that an element has on the CPU (dense.h).
    DENSE_ROWS = 32;
    // Columns that are multiplied at once, and threads of a GPU that share a number of a combination (dense.h).
    DENSE_COLUMNS = 4;
    DENSE_PARTS = 8;

    // Columns of a thread of a GPU between levels (aggregate.h).
    AGGREGATE_COLUMNS = 4;
    /// Number of components that a thread takes, where that divides those of a chirality, in prolongations of single
    /// precision.
    AGGREGATE_ROWS = 6;
    /// Number of null vectors that a thread takes in restrictions.
    AGGREGATE_VECTORS = 4;
}

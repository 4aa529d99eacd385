// Constants that Rust and the kernels share.

constants! {
    /// Largest number of right-hand sides whose coefficients one launch of vector operations carries.
    MAX_RHS = 32;

    // Codes of the site operator of a Dirac kernel, by which a spinor is multiplied at each site (wilson.h); a is a
    // real number, A the clover term, mu the twisted mass.
    SITE_ONE = 0;
    /// Site term a + i mu gamma5.
    SITE_TWIST = 1;
    /// Site term of clover blocks.
    SITE_CLOVER = 2;
    /// Site term of clover blocks + i mu gamma5.
    SITE_CLOVER_TWIST = 3;
    /// Site term A H - i mu gamma5 H with H = (A^2 + mu^2)^-1, the inverse of A + i mu gamma5; the clover field holds
    /// first A H, then H.
    SITE_CLOVER_TWIST_INVERSE = 4;
    /// Site term gamma5, only in the site kernel.
    SITE_GAMMA5 = 5;

    // Codes of the sites on which a launch of the hop computes, if the lattice has halos (geometry.h).
    /// All sites; a GPU first packs the messages for other ranks, and waits for theirs before it computes sites at
    /// faces.
    REGION_ALL = 0;
    /// Sites whose neighbours are all on this rank.
    REGION_INNER = 1;
    REGION_OUTER = 2;
    /// Sites at faces, then all others, in one launch that exchanges messages with other ranks itself (gaugefix.h).
    REGION_FACES_FIRST = 3;
    /// Value of `parity` for launches on both parities, in which each thread block works on one of them (wilson.h).
    PARITY_BOTH = 2;
    /// Number of threads that pack messages while other threads compute inner sites. They keep some 400 KB under way,
    /// what a link of 400 GB/s transfers in a microsecond, and occupy an eighth of a large GPU.
    PACK_THREADS = 8192;

    /// Largest number of GPUs of one host that add up reductions directly in each other's memory (sums.h).
    MAX_PEERS = 8;

    /// Number of time slices that a warp works on at a time in the hop on tensor cores (tensor_hop.h).
    TENSOR_SLICES = 2;

    // Bits that describe the boundaries of the lattice in time (bounds.h).
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

    // Storages of links (recon.h). The value is the number of reals of a link, except for R8A.
    R18 = 18;
    R12 = 12;
    /// SU(3), eight numbers by the minimal algebraic parametrisation.
    R8 = 8;
    /// SU(3), eight angles.
    R8A = 81;
    /// SU(2), four reals.
    SU2 = 4;

    // Purposes of random numbers. The purpose is a part of the Philox counter, so that different purposes draw
    // different numbers from the same seed (philox.h).
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
    /// Random numbers for noise vectors in the space of distillation's modes, drawn on the host.
    RANDOM_MODES = 10;

    // Bits of the indices in which a source is diluted: each value of such an index has a column of its own (source.h).
    DILUTE_COLOUR = 1;
    DILUTE_SPIN = 2;
    /// Dilution in even and odd sites.
    DILUTE_PARITY = 4;
    /// Dilution in time slices t = k mod parts.
    DILUTE_TIME = 8;

    // Codes of the form in which an array stores the momentum p = sum_a p_a T_a of a link (momenta.h): the coefficients
    // p_a; the anti-hermitian matrix i p as 10 reals (complex entries 01, 02, 12, three imaginary parts of the
    // diagonal, one unused); i p as 18 reals; i p in the form of openQCD.
    MOMENTA_COEFFICIENTS = 0;
    MOMENTA_TEN = 1;
    MOMENTA_MATRICES = 2;
    MOMENTA_OPENQCD = 3;

    // Codes of the functional that gauge fixing maximises (gaugefix.h).
    GAUGE_TRACE = 0;
    GAUGE_ABELIAN = 1;
    GAUGE_PHASES = 2;
    // Codes of the update of the element of each SU(2) subgroup in a sweep of gauge fixing with the functional f.
    /// Replaces an element by the power omega of the element that maximises f.
    GAUGE_OVERRELAX = 0;
    /// Replaces an element by the square of the element that maximises f.
    GAUGE_MICROCANONICAL = 1;
    /// Replaces an element by the one that maximises f, or with probability omega by the square of that.
    GAUGE_STOCHASTIC = 2;
    /// Draws an element with weight exp(omega f).
    GAUGE_HEAT = 3;

    // Codes of the element-wise operations of blas.h on vectors x, y, z, w, v, with complex coefficients a, b, c for
    // each right-hand side.
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

    /// Number of complex numbers that a thread of a GPU works on if several right-hand sides are fastest in memory.
    BLAS_NUMBERS = 4;

    // Codes of a factor by which a coefficient of a vector operation is multiplied: none, or a function of scalar
    // products of vectors x, y, u that an earlier launch left on the device. If the product is not finite, its term is
    // left out.
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
    /// Factor |u|^2, from the sums at a second address.
    TIMES_NORM = 6;
    /// Factor |u|^2 / Re <x, y>, from sums at two addresses.
    TIMES_NORM_OVER_REAL = 7;
    /// Factor |u|^2 / |x|^2, from sums at two addresses.
    TIMES_NORM_OVER_NORM = 8;

    // Products of all pairs of vectors are computed in tiles of BASIS_ROWS x BASIS_COLUMNS vectors; one pass of a
    // linear combination computes BASIS_OUT vectors (basis.h).
    BASIS_ROWS = 4;
    BASIS_COLUMNS = 2;
    BASIS_OUT = 4;

    // Krylov spaces (krylov.h, krylov_short.h): largest number of vectors including the residual; a tile has
    // KRYLOV_TILE x KRYLOV_TILE scalar products; a sample takes one of KRYLOV_SAMPLED pairs of sites; codes of what the
    // vectors are.
    KRYLOV_MAX_VECTORS = 20;
    KRYLOV_TILE = 4;
    KRYLOV_SAMPLED = 8;
    KRYLOV_POWERS = 0;
    KRYLOV_IMAGES = 1;

    // Number of rows of a dense matrix that an element of a launch covers on the CPU (dense.h).
    DENSE_ROWS = 32;
    // Number of columns of a dense product that are computed together; number of threads of a GPU that share the sum
    // for one number of a linear combination (dense.h).
    DENSE_COLUMNS = 4;
    DENSE_PARTS = 8;

    // Number of columns that a thread of a GPU works on in transfers between multigrid levels (aggregate.h).
    AGGREGATE_COLUMNS = 4;
    /// Number of components that a thread works on in prolongations in single precision, if it divides the number of
    /// components of a chirality.
    AGGREGATE_ROWS = 6;
    /// Largest number of null vectors that a thread works on in restrictions.
    AGGREGATE_VECTORS = 4;
}

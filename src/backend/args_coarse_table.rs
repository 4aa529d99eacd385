// The table of argument structs of kernels for multigrid's coarse levels, Krylov spaces, hops on tensor cores, and
// domain decomposition.

kernel_args! {
    table COARSE_ARGS;

    /// Arguments of out = coef_y y + coef D in with a coarse operator D: a `rows` x `rows` matrix for each site and
    /// direction. Direction 2 mu is backward, 2 mu + 1 forward in mu, 8 the diagonal (coarse.h).
    struct CoarseApplyArgs {
        arg links: Ptr,
        /// Address of one f32 for each link matrix that is stored in 16 or 8 bits: the scale of its numbers.
        arg scales: Ptr,
        arg diagonal: Ptr,
        arg inp: Ptr,
        arg out: Ptr,
        arg y: Ptr,
        /// Address of eight i32 for each site, by direction: the number of the neighbour on this rank; below 0: -1 -
        /// its position on the received face; the least i32: there is no neighbour.
        arg neighbours: Ptr,
        /// Addresses of the faces received from other ranks, by direction.
        arg halo: [Ptr; 8],
        spec rows: i32,
        spec nrhs: i32,
        spec with_y: i32,
        /// The result is computed on `count` sites from number `first` on. `first_in`, `first_out` and `first_y` are
        /// the numbers of the first sites that the vectors hold.
        arg first: i32,
        arg count: i32,
        arg first_in: i32,
        arg first_out: i32,
        arg first_y: i32,
        arg directions: i32,
        arg coef: f64,
        arg coef_y: f64,
    }

    /// Arguments of the kernel that copies faces of a coarse vector into messages; entry 2 mu is for the lower face in
    /// direction mu, 2 mu + 1 for the upper one (coarse.h).
    struct CoarsePackArgs {
        arg inp: Ptr,
        arg out: [Ptr; 8],
        /// Addresses of the numbers of the sites on each face (i32); `places` is how many sites there are.
        arg sites: [Ptr; 8],
        arg places: [i32; 8],
        spec components: i32,
        spec nrhs: i32,
        /// The vector holds `count` sites of the grid, from number `first` on; other sites of a face are left out.
        arg first: i32,
        arg count: i32,
    }

    /// Arguments of the kernel that copies `count` columns (right-hand sides) of a coarse vector, from number first_x
    /// on, to those of another one, from number first_y on (coarse.h).
    struct CoarseColumnsArgs {
        arg x: Ptr,
        arg y: Ptr,
        spec components: i32,
        spec columns_x: i32,
        spec columns_y: i32,
        spec count: i32,
        arg first_x: i32,
        arg first_y: i32,
        /// 0: all components are copied; 1: the upper chirality is copied and the lower one set to zero; 2: the
        /// reverse.
        arg chirality: i32,
    }

    /// Arguments of kernels on the `rows` x `rows` matrices of coarse sites: products out = left inp, inverses of `out`
    /// in place, adjoint hops, and the parts of an operator inside of aggregates (coarse.h).
    struct CoarseMatrixArgs {
        arg left: Ptr,
        arg inp: Ptr,
        arg out: Ptr,
        spec rows: i32,
        /// Products: the number of matrices of `inp` for each matrix of `left`. For the kernel `coarse_inner` a bit
        /// mask of directions 2 mu + forward, for `coarse_adjoint` one of directions mu.
        spec each: i32,
    }

    /// Arguments of the kernel that makes matrices of coarse sites for two flavours from those of one flavour
    /// (coarse_pair.h).
    struct CoarsePairArgs {
        arg inp: Ptr,
        arg out: Ptr,
        /// Number of rows of a matrix of inp.
        spec rows: i32,
        /// 0: out = inp + T, 1: out = 1 + inp T.
        spec product: i32,
        /// The flavour matrix T has i twist[f] gamma5 for each flavour f on the diagonal and `split` off the diagonal.
        arg twist: [f64; 2],
        arg split: f64,
    }

    /// Arguments of conversions to 16 or 8 bits, out = inp / scale. Matrices of coarse sites have a scale each. Null
    /// vectors have `rows` numbers per site; in 16 bits they have no scales, in 8 bits one for each component.
    struct CoarseShortenArgs {
        arg inp: Ptr,
        arg out: Ptr,
        arg scales: Ptr,
        spec rows: i32,
    }

    /// Arguments of kernels on up to 20 vectors x of one shape that span a Krylov space: their scalar products, least
    /// squares, and linear combinations of them (krylov.h).
    struct KrylovArgs {
        arg x: [Ptr; 20],
        arg y: Ptr,
        arg z: Ptr,
        /// Distance in complex numbers from one number of a right-hand side to its next; `apart`: from one right-hand
        /// side to the next.
        spec step: i32,
        arg apart: i64,
        /// On a CPU: 1 if real and imaginary parts alternate in memory, 0 if the real parts of all lanes are followed
        /// by the imaginary parts.
        spec interleaved: i32,
        arg numbers: i32,
        /// Number of vectors x; number of the first one whose scalar products with those before it are computed; number
        /// of tiles of KRYLOV_TILE x KRYLOV_TILE products.
        arg count: i32,
        arg first: i32,
        arg tiles: i32,
        arg nrhs: i32,
        /// Kind of the vectors: KRYLOV_POWERS or KRYLOV_IMAGES.
        arg kind: i32,
        /// A direction is dropped if, after orthogonalisation, less than this fraction of its square norm is left,
        /// which is then mere rounding.
        arg noise: f64,
        spec with_y: i32,
        spec with_z: i32,
        /// 1: the combination is added to the old y. `skip` is the number of the coefficient of x_0.
        arg keep: i32,
        arg skip: i32,
        arg sums: Ptr,
        arg gram: Ptr,
        arg coef: Ptr,
    }

    /// Arguments of kernels on up to 20 vectors x of one shape in 16 bits and two vectors y, z in single precision:
    /// scalar products and linear combinations (krylov_short.h).
    struct KrylovShortArgs {
        arg x: [Ptr; 20],
        arg norm: [Ptr; 20],
        arg y: Ptr,
        arg z: Ptr,
        /// Distance in bytes from one right-hand side to the next in the numbers of x; `norm_apart` is that distance in
        /// the units of x, `wide_apart` that in y and z.
        arg apart: i64,
        arg norm_apart: i64,
        arg wide_apart: i64,
        /// Number of reals of a site, a multiple of 8.
        spec reals: i32,
        spec with_z: i32,
        /// 1: scalar products are estimated from one of four sites, and an element of the launch is four sites; 0: all
        /// sites are summed.
        spec sample: i32,
        /// Number of right-hand sides if the vectors are columns in half precision (half_columns.h), whose numbers are
        /// multiplied by the f32 at `scales`; else 0.
        spec columns: i32,
        arg scales: Ptr,
        /// Number of vectors x; number of the first one whose scalar products with those before it are computed; number
        /// of tiles of KRYLOV_TILE x KRYLOV_TILE products.
        arg count: i32,
        arg first: i32,
        arg tiles: i32,
        arg nrhs: i32,
        arg coef: Ptr,
    }

    /// Arguments of the kernel that writes the tables of links and site terms that the hop on tensor cores reads
    /// (tensor_hop.h).
    struct TensorTablesArgs {
        sub hop: HopArgs,
        arg links: Ptr,
        arg blocks: Ptr,
    }

    /// Arguments of the kernel that converts spinors to columns in half precision. The numbers of a right-hand side are
    /// multiplied by a scale that follows from its |v|^2, the third of its sums at the address `sums`.
    struct TensorConvertArgs {
        sub inp: FieldView,
        arg out: Ptr,
        arg sums: Ptr,
        arg scales: Ptr,
        spec nrhs: i32,
        /// Distance in planes from one right-hand side to the next.
        arg step_in: i32,
    }

    /// Arguments of the kernel that copies the sites at faces between ranks, of columns in half precision, into
    /// messages or from messages.
    struct TensorFacesArgs {
        sub geom: Geom,
        arg columns: Ptr,
        /// Addresses of the messages: entry 2 mu is for the lower face in direction mu, 2 mu + 1 for the upper one.
        arg message: [Ptr; 8],
        arg parity: i32,
        /// Number of the first site of the columns that belongs to another rank.
        arg behind: i32,
        spec nrhs: i32,
        /// 1 if messages have arrived and are copied from; 0 if they are written.
        spec arrived: i32,
    }

    /// Arguments of the hop on tensor cores, which acts on columns in half precision (tensor_hop.h).
    struct TensorHopArgs {
        sub geom: Geom,
        arg inp: Ptr,
        arg out: Ptr,
        arg links: Ptr,
        arg blocks: Ptr,
        /// Parity of the result.
        arg parity: i32,
        /// Number of the first site of the columns that belongs to another rank.
        arg behind: i32,
        spec nrhs: i32,
        spec site_term: i32,
        /// Extents in y and z of the tile of the lattice that a thread block works on.
        spec tile_y: i32,
        spec tile_z: i32,
        spec slices: i32,
    }

    /// Arguments of the kernel that sets links between sites of different domains to zero (domains.h).
    struct DomainCutArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// Storage of links, R12 or R18.
        spec storage: i32,
        /// Extents of a domain.
        arg block: [i32; 4],
    }

    /// Arguments of steps of minimal residual with a coefficient for each domain. If the vectors q, r, z are those of a
    /// coarse level, only the addresses of their numbers are used (domains.h).
    struct DomainArgs {
        sub geom: Geom,
        sub q: FieldView,
        sub r: FieldView,
        sub z: FieldView,
        spec parity: i32,
        spec components: i32,
        spec nrhs: i32,
        /// Number of sites of a right-hand side for which there are three numbers at `products` and two at `coef`.
        arg places: i32,
        arg products: Ptr,
        arg coef: Ptr,
        /// Addresses of i32: at `sites` the numbers of the sites of all domains, one domain after the other; at
        /// `starts` the position where the sites of each domain begin; at `colours` the colour of each domain.
        arg sites: Ptr,
        arg starts: Ptr,
        arg colours: Ptr,
        /// The colour of the domains to work on; -1: all.
        arg colour: i32,
        arg omega: f64,
    }

    /// Arguments of products with dense matrices on the coarsest level: the inverse of its operator, or low modes as
    /// columns (dense.h).
    struct DenseArgs {
        arg matrix: Ptr,
        arg x: Ptr,
        arg y: Ptr,
        spec nrhs: i32,
        arg rows: i64,
        arg columns: i32,
        /// Number of reals of an element.
        arg numbers: i32,
        arg keep: i32,
        arg scale: f64,
    }

    /// Arguments of kernels that copy right-hand sides of spinors to columns of a vector of the finest multigrid level,
    /// or back (aggregate.h).
    struct AggregateFieldArgs {
        sub geom: Geom,
        sub field: FieldView,
        arg data: Ptr,
        spec columns: i32,
        /// Number of right-hand sides of the field.
        spec count: i32,
        spec parities: i32,
        arg parity: i32,
        /// Column of the field's first right-hand side.
        arg first: i32,
        /// 1 if the vector of the multigrid level holds the sites of both parities, else 0.
        arg whole: i32,
        /// mu + 1: the spinors are multiplied by (1 - sign gamma_mu)/2; 0: they are not.
        arg project: i32,
        arg chirality: i32,
        arg sign: f64,
    }

    /// Arguments of the kernel that multiplies spinors by a site operator (SITE_* code `site`) and copies them to
    /// columns of a vector of the finest multigrid level (aggregate.h).
    struct AggregateSiteArgs {
        sub to: AggregateFieldArgs,
        sub clover: FieldView,
        spec site: i32,
        arg twist: f64,
        arg twist_scale: f64,
    }

    /// Arguments of the kernel that computes the hop from x + mu for those sites x whose neighbour x + mu is in another
    /// aggregate of this rank, as a vector of the finest multigrid level (aggregate.h).
    struct AggregateHopArgs {
        /// Arguments of the hop; its `inp` holds both parities.
        sub hop: HopArgs,
        arg data: Ptr,
        arg faces: Ptr,
        arg mu: i32,
    }

    /// Arguments of restriction and prolongation between a level and the next coarser one (aggregate.h).
    struct AggregateArgs {
        arg v: Ptr,
        /// Address of one f32 for each component of a site, the scales of null vectors v in 8 bits; else 0.
        arg scales: Ptr,
        arg fine: Ptr,
        arg coarse: Ptr,
        /// Address of i32: in restrictions the sites of each aggregate, in prolongations the aggregate of each site.
        arg sites: Ptr,
        arg faces: Ptr,
        /// Counts: `m` components of a chirality of a site, `n` null vectors, `columns` right-hand sides, and `block`
        /// sites of an aggregate.
        spec m: i32,
        spec n: i32,
        spec columns: i32,
        spec block: i32,
        /// 1: for each chirality `coarse` is a triangular matrix, whose elements with column < row are 0 or not needed.
        spec upper: i32,
        /// Number of null vectors that a thread of a GPU works on in restrictions: 1, 2 (for one column only) or
        /// AGGREGATE_VECTORS.
        spec vectors: i32,
        /// Number of sites to process; sites with this or a larger number are skipped.
        arg limit: i32,
        /// Bit mask of one face of the aggregates: only sites on that face are summed over; 0: all sites.
        arg face: i32,
        arg step_site: i64,
        arg step_row: i64,
        arg step_column: i64,
        /// A vector counts as linearly dependent on those before it if, after orthogonalisation, less than this
        /// fraction of its |v|^2 is left, which is then mere rounding.
        arg tiny: f64,
    }
}

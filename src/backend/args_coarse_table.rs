// The table of argument structs of multigrid's coarse levels and domains.

kernel_args! {
    table COARSE_ARGS;

    /// Products of a coarse operator with a vector (coarse.h). Directions 2 mu + forward, 8: the diagonal.
    struct CoarseApplyArgs {
        arg links: Ptr,
        /// Addresses of the scales of links: one f32 for each link of 16 bits.
        arg scales: Ptr,
        arg diagonal: Ptr,
        arg inp: Ptr,
        arg out: Ptr,
        arg y: Ptr,
        /// Numbers of the eight neighbours of each site, as i32.
        arg neighbours: Ptr,
        /// The faces that came from other ranks, in each direction.
        arg halo: [Ptr; 8],
        spec rows: i32,
        spec nrhs: i32,
        spec with_y: i32,
        /// First site of the result.
        arg first: i32,
        arg count: i32,
        arg first_in: i32,
        arg first_out: i32,
        arg first_y: i32,
        arg directions: i32,
        arg coef: f64,
        arg coef_y: f64,
    }

    /// Copies faces of a coarse vector into messages, for lower and upper faces in turn.
    struct CoarsePackArgs {
        arg inp: Ptr,
        arg out: [Ptr; 8],
        /// Numbers of the sites on each face, as i32, and how many they are.
        arg sites: [Ptr; 8],
        arg places: [i32; 8],
        spec components: i32,
        spec nrhs: i32,
        /// Number of sites that the vector holds.
        arg first: i32,
        arg count: i32,
    }

    /// Copies columns of coarse vectors into others.
    struct CoarseColumnsArgs {
        arg x: Ptr,
        arg y: Ptr,
        spec components: i32,
        spec columns_x: i32,
        spec columns_y: i32,
        spec count: i32,
        arg first_x: i32,
        arg first_y: i32,
        /// Chirality that is copied, 0: both, 1: upper components, 2: lower ones; the other one becomes zero.
        arg chirality: i32,
    }

    /// Matrices of coarse sites: out = left inp, or the inverse of out in place.
    struct CoarseMatrixArgs {
        arg left: Ptr,
        arg inp: Ptr,
        arg out: Ptr,
        spec rows: i32,
        /// Number of matrices of inp for each of left; for `coarse_inner` the bits of directions 2 mu + forward, for
        /// `coarse_adjoint` those of directions mu.
        spec each: i32,
    }

    /// Matrices of coarse sites for two flavours (coarse_pair.h).
    struct CoarsePairArgs {
        arg inp: Ptr,
        arg out: Ptr,
        /// Number of rows of a matrix of inp.
        spec rows: i32,
        /// 0: out = inp + T, 1: out = 1 + inp T.
        spec product: i32,
        /// T: i twist gamma5 for each flavour, and the coupling between them.
        arg twist: [f64; 2],
        arg split: f64,
    }

    /// Converts matrices of coarse sites to 16 or 8 bits, out = inp / scale, each with its scale; or null vectors: to
    /// 16 bits with `rows` numbers per site and no scales, to 8 bits with a scale for each component.
    struct CoarseShortenArgs {
        arg inp: Ptr,
        arg out: Ptr,
        arg scales: Ptr,
        spec rows: i32,
    }

    /// Arguments for several vectors of one shape (krylov.h).
    struct KrylovArgs {
        arg x: [Ptr; 20],
        arg y: Ptr,
        arg z: Ptr,
        /// Distance in complex numbers from one number of a right-hand side to the next.
        spec step: i32,
        arg apart: i64,
        /// On a CPU: whether real and imaginary parts alternate.
        spec interleaved: i32,
        arg numbers: i32,
        /// Number of vectors, number of the first one whose products are wanted, and number of tiles of these.
        arg count: i32,
        arg first: i32,
        arg tiles: i32,
        arg nrhs: i32,
        /// A KRYLOV_* code.
        arg kind: i32,
        /// Share of the square norm of a direction below which only rounding is left of it.
        arg noise: f64,
        spec with_y: i32,
        spec with_z: i32,
        /// Whether the old y is part of the new one; and the coefficient of x_0.
        arg keep: i32,
        arg skip: i32,
        arg sums: Ptr,
        arg gram: Ptr,
        arg coef: Ptr,
    }

    /// Arguments for several vectors of one shape in 16 bits, and two in single precision (krylov_short.h).
    struct KrylovShortArgs {
        arg x: [Ptr; 20],
        arg norm: [Ptr; 20],
        arg y: Ptr,
        arg z: Ptr,
        /// Distance in bytes from one right-hand side to the next: in x, in its units, in y and z.
        arg apart: i64,
        arg norm_apart: i64,
        arg wide_apart: i64,
        /// Number of reals of a site, a multiple of 8.
        spec reals: i32,
        spec with_z: i32,
        /// Whether products are of one site in four; an element is then four sites.
        spec sample: i32,
        /// 0, or the number of right-hand sides where vectors are columns in half precision (half_columns.h), which
        /// are multiplied by these scales.
        spec columns: i32,
        arg scales: Ptr,
        /// Number of vectors, number of the first one whose products are wanted, and number of tiles of these.
        arg count: i32,
        arg first: i32,
        arg tiles: i32,
        arg nrhs: i32,
        arg coef: Ptr,
    }

    /// Makes the tables of links and site terms for the hop on tensor cores (tensor_hop.h).
    struct TensorTablesArgs {
        sub hop: HopArgs,
        arg links: Ptr,
        arg blocks: Ptr,
    }

    /// Converts spinors to columns in half precision: numbers times scales that follow from sums, of which |v|^2 is
    /// the third of each right-hand side.
    struct TensorTakeArgs {
        sub inp: FieldView,
        arg out: Ptr,
        arg sums: Ptr,
        arg scales: Ptr,
        spec nrhs: i32,
        /// Distance in planes from one right-hand side to the next.
        arg step_in: i32,
    }

    /// Copies columns in half precision at the faces between ranks.
    struct TensorFacesArgs {
        sub geom: Geom,
        arg columns: Ptr,
        /// Messages across lower and upper faces in turn.
        arg message: [Ptr; 8],
        arg parity: i32,
        /// Number of the first site of the columns that belongs to another rank.
        arg behind: i32,
        spec nrhs: i32,
        /// 1 if messages have arrived and are copied from; 0 if they are written.
        spec arrived: i32,
    }

    /// The hop on columns in half precision.
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
        /// Rows in y of a block's tile.
        spec tile_y: i32,
        spec tile_z: i32,
        spec slices: i32,
    }

    /// Sets links that lead out of domains to zero (domains.h).
    struct DomainCutArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// Storage of links, R12 or R18.
        spec storage: i32,
        /// Extents of a domain.
        arg block: [i32; 4],
    }

    /// Steps of minimal residual in domains; for vectors of coarse levels only the addresses of the data are used.
    struct DomainArgs {
        sub geom: Geom,
        sub q: FieldView,
        sub r: FieldView,
        sub z: FieldView,
        spec parity: i32,
        spec components: i32,
        spec nrhs: i32,
        /// Number of sites of a right-hand side in `products` (three numbers each) and in `coef` (two).
        arg places: i32,
        arg products: Ptr,
        arg coef: Ptr,
        /// For every domain the numbers of its sites, as i32; where each domain's list begins; and its colour.
        arg sites: Ptr,
        arg starts: Ptr,
        arg colours: Ptr,
        /// The colour of the domains to work on; -1: all.
        arg colour: i32,
        arg omega: f64,
    }

    /// Arguments of products with dense matrices on the coarsest level (dense.h).
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

    /// Converts spinors to vectors of the finest multigrid level (aggregate.h).
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
        /// Whether the vector holds both parities.
        arg whole: i32,
        /// mu + 1: the spinors are multiplied by (1 - sign gamma_mu)/2; 0: they are not.
        arg project: i32,
        arg chirality: i32,
        arg sign: f64,
    }

    /// Converts spinors times a site operator, of kind SITE_*, to vectors of the finest multigrid level.
    struct AggregateSiteArgs {
        sub to: AggregateFieldArgs,
        sub clover: FieldView,
        spec site: i32,
        arg twist: f64,
        arg twist_scale: f64,
    }

    /// Hops forward that leave an aggregate, as vectors of the finest multigrid level (aggregate.h).
    struct AggregateHopArgs {
        /// The hop, whose `inp` has both parities.
        sub hop: HopArgs,
        arg data: Ptr,
        arg faces: Ptr,
        arg mu: i32,
    }

    /// Arguments of restriction and prolongation between a level and the next coarser one (aggregate.h).
    struct AggregateArgs {
        arg v: Ptr,
        /// Scales of v in 8 bits: one f32 for each component of a site.
        arg scales: Ptr,
        arg fine: Ptr,
        arg coarse: Ptr,
        /// Numbers of the sites of each aggregate, or number of the aggregate of each site.
        arg sites: Ptr,
        arg faces: Ptr,
        /// Numbers of components of a chirality, of null vectors, of columns, and of sites of an aggregate.
        spec m: i32,
        spec n: i32,
        spec columns: i32,
        spec block: i32,
        /// 1: numbers of `coarse` with column < row of a chirality are not needed, or are 0.
        spec upper: i32,
        /// Number of null vectors that a thread of a GPU takes in restrictions: 1, for one column perhaps 2, else
        /// perhaps AGGREGATE_VECTORS.
        spec vectors: i32,
        /// Number of sites to process; sites with this or a larger number are skipped.
        arg limit: i32,
        /// Bit of the face whose sites are summed over; 0: all sites.
        arg face: i32,
        arg step_site: i64,
        arg step_row: i64,
        arg step_column: i64,
        /// Share of a vector's |v|^2 below which only rounding is left after orthogonalising it to those before it.
        arg tiny: f64,
    }
}

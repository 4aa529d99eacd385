// The table of argument structs of multigrid's coarse levels and domains.

kernel_args! {
    table COARSE_ARGS;

    /// Products of a coarse operator with a vector (coarse.h). Directions 2 mu + forward, 8: the diagonal.
    struct CoarseApplyArgs {
        arg links: Ptr,
        /// One f32 per link of 16 bits.
        arg scales: Ptr,
        arg diagonal: Ptr,
        arg inp: Ptr,
        arg out: Ptr,
        arg y: Ptr,
        /// Eight i32 per site.
        arg neighbours: Ptr,
        /// Faces that came across in each direction.
        arg halo: [Ptr; 8],
        spec rows: i32,
        spec nrhs: i32,
        spec with_y: i32,
        /// Sites of the result, and the first ones that the vectors hold.
        arg first: i32,
        arg count: i32,
        arg first_in: i32,
        arg first_out: i32,
        arg first_y: i32,
        arg directions: i32,
        arg coef: f64,
        arg coef_y: f64,
    }

    /// Faces of a coarse vector into messages, lower and upper ones in turn.
    struct CoarsePackArgs {
        arg inp: Ptr,
        arg out: [Ptr; 8],
        /// One i32 per site of a face, and how many they are.
        arg sites: [Ptr; 8],
        arg places: [i32; 8],
        spec components: i32,
        spec nrhs: i32,
        /// Sites that the vector holds.
        arg first: i32,
        arg count: i32,
    }

    /// Columns of coarse vectors into others.
    struct CoarseColumnsArgs {
        arg x: Ptr,
        arg y: Ptr,
        spec components: i32,
        spec columns_x: i32,
        spec columns_y: i32,
        spec count: i32,
        arg first_x: i32,
        arg first_y: i32,
        /// 0: both, 1: upper components only, 2: lower ones; zeros in place of the others.
        arg chirality: i32,
    }

    /// Matrices of coarse sites: out = left inp, or the inverse of out in place.
    struct CoarseMatrixArgs {
        arg left: Ptr,
        arg inp: Ptr,
        arg out: Ptr,
        spec rows: i32,
        /// Matrices of inp to one of left; of `coarse_inner` the bits of directions 2 mu + forward, of
        /// `coarse_adjoint` those of directions mu.
        spec each: i32,
    }

    /// Matrices of coarse sites for two flavours (coarse_pair.h).
    struct CoarsePairArgs {
        arg inp: Ptr,
        arg out: Ptr,
        /// Rows of a matrix of inp.
        spec rows: i32,
        /// 0: out = inp + T, 1: out = 1 + inp T.
        spec product: i32,
        /// T of either flavour: i twist gamma5; and between them.
        arg twist: [f64; 2],
        arg split: f64,
    }

    /// Matrices of coarse sites in 16 or 8 bits, out = inp / scale with a scale for each; or null vectors: of 16 bits a site has
    /// `rows` numbers that need no scales, of 8 bits a component.
    struct CoarseShortenArgs {
        arg inp: Ptr,
        arg out: Ptr,
        arg scales: Ptr,
        spec rows: i32,
    }

    /// Several vectors of one shape (krylov.h).
    struct KrylovArgs {
        arg x: [Ptr; 20],
        arg y: Ptr,
        arg z: Ptr,
        /// Complex numbers from one of a right-hand side to the next, and from one right-hand side to
        /// the next.
        spec step: i32,
        arg apart: i64,
        /// CPU: real and imaginary parts alternate; and such numbers that an element has.
        spec interleaved: i32,
        arg numbers: i32,
        /// Vectors, the first whose products are wanted, and tiles of these.
        arg count: i32,
        arg first: i32,
        arg tiles: i32,
        arg nrhs: i32,
        /// KRYLOV_*
        arg kind: i32,
        /// Share of |.|^2 of a direction that must be left, as rounding leaves that much.
        arg noise: f64,
        spec with_y: i32,
        spec with_z: i32,
        /// Is the old y part of the new one; the coefficient of x_0.
        arg keep: i32,
        arg skip: i32,
        arg sums: Ptr,
        arg gram: Ptr,
        arg coef: Ptr,
    }

    /// Several vectors of one shape in 16 bits, and two in single precision (krylov_short.h).
    struct KrylovShortArgs {
        arg x: [Ptr; 20],
        arg norm: [Ptr; 20],
        arg y: Ptr,
        arg z: Ptr,
        /// Bytes from one right-hand side to the next: of x, of its units, of y and z.
        arg apart: i64,
        arg norm_apart: i64,
        arg wide_apart: i64,
        /// Numbers of a site, a multiple of 8.
        spec reals: i32,
        spec with_z: i32,
        /// Products are of one in four sites; an element is four sites.
        spec sample: i32,
        /// 0, or vectors are columns in half precision of so many right-hand sides (half_columns.h), which are times
        /// these scales.
        spec columns: i32,
        arg scales: Ptr,
        /// Vectors, the first whose products are wanted, and tiles of these.
        arg count: i32,
        arg first: i32,
        arg tiles: i32,
        arg nrhs: i32,
        arg coef: Ptr,
    }

    /// Tables of the terms of a hop and of its site operator for tensor cores (tensor_hop.h).
    struct TensorTablesArgs {
        sub hop: HopArgs,
        arg links: Ptr,
        arg blocks: Ptr,
    }

    /// Columns in half precision of spinors: numbers times scales that follow from sums, |v|^2 being the third of
    /// each right-hand side.
    struct TensorTakeArgs {
        sub inp: FieldView,
        arg out: Ptr,
        arg sums: Ptr,
        arg scales: Ptr,
        spec nrhs: i32,
        /// Planes from one right-hand side to the next.
        arg step_in: i32,
    }

    /// Columns in half precision at the faces between ranks.
    struct TensorFacesArgs {
        sub geom: Geom,
        arg columns: Ptr,
        /// Messages across lower and upper faces in turn.
        arg message: [Ptr; 8],
        arg parity: i32,
        /// Site of the columns at which those of other ranks begin.
        arg behind: i32,
        spec nrhs: i32,
        /// Messages came; else they are written.
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
        /// Site of the columns at which those of other ranks begin.
        arg behind: i32,
        spec nrhs: i32,
        spec site_term: i32,
        /// Rows in y and z of a block's tile, and time-slices that it goes through.
        spec tile_y: i32,
        spec tile_z: i32,
        spec slices: i32,
    }

    /// Links that lead out of domains become zero (domains.h).
    struct DomainCutArgs {
        sub geom: Geom,
        sub gauge: FieldView,
        /// R12 or R18.
        spec storage: i32,
        /// Extents of a domain.
        arg block: [i32; 4],
    }

    /// Steps of minimal residual in domains; vectors of coarse levels have their data alone.
    struct DomainArgs {
        sub geom: Geom,
        sub q: FieldView,
        sub r: FieldView,
        sub z: FieldView,
        spec parity: i32,
        spec components: i32,
        spec nrhs: i32,
        /// Sites of a right-hand side in `products`, three numbers for each, and in `coef`, two.
        arg places: i32,
        arg products: Ptr,
        arg coef: Ptr,
        /// One i32 per site of every domain, where each domain begins, and its colour.
        arg sites: Ptr,
        arg starts: Ptr,
        arg colours: Ptr,
        /// The colour that is worked on, -1: all.
        arg colour: i32,
        arg omega: f64,
    }

    /// Dense products on the coarsest level (dense.h).
    struct DenseArgs {
        arg matrix: Ptr,
        arg x: Ptr,
        arg y: Ptr,
        spec nrhs: i32,
        arg rows: i64,
        arg columns: i32,
        /// Numbers of an element.
        arg numbers: i32,
        arg keep: i32,
        arg scale: f64,
    }

    /// Spinors as vectors of the finest level (aggregate.h).
    struct AggregateFieldArgs {
        sub geom: Geom,
        sub field: FieldView,
        arg data: Ptr,
        spec columns: i32,
        /// Right-hand sides of the field.
        spec count: i32,
        spec parities: i32,
        arg parity: i32,
        /// First column that the field's right-hand sides become.
        arg first: i32,
        /// Does the vector hold both parities.
        arg whole: i32,
        /// mu + 1: times (1 - sign gamma_mu)/2.
        arg project: i32,
        arg chirality: i32,
        arg sign: f64,
    }

    /// The same times a site operator, whose kind is one of SITE_*.
    struct AggregateSiteArgs {
        sub to: AggregateFieldArgs,
        sub clover: FieldView,
        spec site: i32,
        arg twist: f64,
        arg twist_scale: f64,
    }

    /// Hops forward that leave an aggregate, as vectors of the finest level (aggregate.h).
    struct AggregateHopArgs {
        /// `inp` has both parities.
        sub hop: HopArgs,
        arg data: Ptr,
        arg faces: Ptr,
        arg mu: i32,
    }

    /// Restriction and prolongation between a level and the next coarser one.
    struct AggregateArgs {
        arg v: Ptr,
        /// Scales of v in 8 bits: one f32 for each component of a site.
        arg scales: Ptr,
        arg fine: Ptr,
        arg coarse: Ptr,
        /// Sites of aggregates, or the aggregate of each site.
        arg sites: Ptr,
        arg faces: Ptr,
        /// Components of a chirality, null vectors, columns, sites of an aggregate.
        spec m: i32,
        spec n: i32,
        spec columns: i32,
        spec block: i32,
        /// 1: of `coarse` only numbers with column >= row of a chirality are wanted, or are not 0.
        spec upper: i32,
        /// Null vectors of a thread of a GPU in restrictions: 1, of one column maybe 2, else maybe AGGREGATE_VECTORS.
        spec vectors: i32,
        /// Sites below this are there.
        arg limit: i32,
        /// Bit of the face that counts, 0: all sites.
        arg face: i32,
        arg step_site: i64,
        arg step_row: i64,
        arg step_column: i64,
        /// Share of a vector's |v|^2 that must be left when those before it are taken out.
        arg tiny: f64,
    }
}

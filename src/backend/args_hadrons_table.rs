// The table of argument structs of kernels for sources, contractions and distillation. A member `slice` counts the
// time slices of a lane's part of the lattice.

kernel_args! {
    table HADRON_ARGS;

    /// Arguments of the kernel that sets right-hand sides of a spinor field to columns of a source (source.h).
    struct SourceArgs {
        sub geom: Geom,
        sub out: FieldView,
        /// Global coordinates (x, y, z, t) of the source. Bit mu of `places` is set if the source is restricted to this
        /// coordinate in direction mu: 15 for a point, 8 for a time slice.
        arg position: [i32; 4],
        arg places: i32,
        /// 1 if the source has the factor exp(i p (x - position)) with p = 2 pi momentum / L, else 0.
        arg moving: i32,
        arg momentum: [i32; 4],
        /// A RANDOM_* code of the noise; below 0: none.
        arg noise: i32,
        /// Sum of the DILUTE_* bits of the indices in which the source is diluted.
        arg dilute: i32,
        /// For DILUTE_TIME the number of parts into which time slices are divided.
        arg time_parts: i32,
        /// The only spin (0 to 3) for which the source is not zero; below 0: all spins. `colour`: the only colour (0 to
        /// 2); below 0: all colours.
        arg spin: i32,
        arg colour: i32,
        /// Number of the source's column that the first right-hand side of the field is set to.
        arg first: i32,
        arg seed: u64,
    }

    /// Arguments of the kernel that multiplies spinors by a product of gamma matrices and a momentum phase, on one time
    /// slice or on all (source.h).
    struct SpinPhaseArgs {
        sub geom: Geom,
        sub out: FieldView,
        sub inp: FieldView,
        arg position: [i32; 4],
        arg places: i32,
        arg momentum: [i32; 4],
        arg column: [i32; 4],
        arg phase: [i32; 4],
    }

    /// Arguments of the contraction of two quark propagators into mesons with all spins open (contract.h).
    struct MesonArgs {
        sub geom: Geom,
        sub quark: FieldView,
        sub other: FieldView,
        /// Time slice of a lane's part of the lattice at which the launch begins.
        arg slice: i32,
        /// Number of columns of a propagator for each spin of the source.
        arg colours: i32,
        arg moving: i32,
        arg momentum: [i32; 4],
        arg position: [i32; 4],
        /// Shift of the momentum by boundary phases in space, in units of pi / L_mu.
        arg shift: [f64; 4],
    }

    /// Arguments of scalar products of all pairs of vectors v and w on single time slices, and of linear combinations
    /// with coefficients for each time slice (time_slices.h).
    struct TimeSliceArgs {
        sub geom: Geom,
        sub v: FieldView,
        sub w: FieldView,
        /// Time slice, in the lanes' parts, at which the launch begins.
        arg slice: i32,
        /// Numbers of vectors: `rows` vectors v and `columns` vectors w.
        arg rows: i32,
        arg columns: i32,
        spec add: i32,
        spec diagonal: i32,
        arg coef: Ptr,
    }

    /// Arguments of kernels that put colour vectors into spinors or extract them, multiply them by plane waves, or take
    /// antisymmetric products of pairs of them, for distillation (distillation.h).
    struct DistillArgs {
        sub geom: Geom,
        sub out: FieldView,
        sub inp: FieldView,
        sub other: FieldView,
        /// Address of i32: for each vector that is written the number of the right-hand side that it is made from.
        arg table: Ptr,
        arg momentum: [i32; 4],
        arg time: i32,
        arg reserved: i32,
    }

    /// A phase for each site: the plane wave exp(i p (x - position)), p_mu = (2 pi n_mu + pi shift_mu) / L_mu, times the boundary phases met on the way from x to
    /// x + displacement; zero on all time slices but `time`, unless that is below 0 (structure.h, wave_phases).
    struct WaveArgs {
        arg position: [i32; 4],
        arg displacement: [i32; 4],
        /// Boundary phases in units of pi.
        arg boundary: [f64; 4],
        arg shift: [f64; 4],
        arg time: i32,
        arg reserved: i32,
    }

    /// A 4 x 4 complex spin matrix for each site, as 32 numbers: the address, and the bytes of a plane, which holds one
    /// parity of a time slice (structure.h).
    struct MatricesArgs {
        arg data: Ptr,
        arg bytes: i64,
    }

    /// Arguments of the kernel that contracts the colours of two quark lines into a spin matrix for each site
    /// (structure.h).
    struct SpinPairArgs {
        sub geom: Geom,
        sub forward: FieldView,
        sub back: FieldView,
        sub matrices: MatricesArgs,
        /// Time slice, in the lanes' parts, at which the launch begins.
        arg slice: i32,
        arg columns: i32,
    }

    /// Arguments of the kernel that multiplies colour vectors by the field strengths of three planes (gluons.h).
    struct FieldStrengthTimesArgs {
        sub geom: Geom,
        sub bounds: Bounds,
        sub gauge: FieldView,
        sub vectors: FieldView,
        sub out: FieldView,
        /// 1: the planes that contain t; 0: the spatial planes.
        arg electric: i32,
        /// 1: the vectors are first set to unit vectors.
        arg begin: i32,
    }

    /// Arguments of the sums of spin matrices times plane waves over time slices (structure.h).
    struct SliceWaveArgs {
        sub geom: Geom,
        sub matrices: MatricesArgs,
        sub wave: WaveArgs,
        /// Address of the momenta of `waves` plane waves, four i32 each in units of 2 pi / L.
        arg table: Ptr,
        arg waves: i32,
        arg slice: i32,
    }

    /// Arguments of the kernel that multiplies spinors by spin matrices, `left` and `right`, and by a plane wave
    /// (structure.h). A spin matrix is 16 pairs (re, im), row by row.
    struct SpinProductArgs {
        sub geom: Geom,
        sub out: FieldView,
        sub inp: FieldView,
        sub wave: WaveArgs,
        arg momentum: [i32; 4],
        arg left: [f64; 32],
        arg right: [f64; 32],
        arg spins: i32,
        arg colours: i32,
    }

    /// Arguments of the contraction of three quark lines with open spins, or of the sequential source made from them
    /// (structure.h). The spin matrices g, h, p are 16 pairs (re, im) each, row by row.
    struct QuarkTripleArgs {
        sub geom: Geom,
        sub x: FieldView,
        sub y: FieldView,
        sub z: FieldView,
        sub out: FieldView,
        sub matrices: MatricesArgs,
        arg g: [f64; 32],
        arg h: [f64; 32],
        arg p: [f64; 32],
        arg scale: [f64; 2],
        arg open: i32,
        arg which: i32,
        arg slice: i32,
        arg reserved: i32,
    }
}

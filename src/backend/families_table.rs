/// The table of kernels.
pub const KERNELS: &[Kernel] = &[
    Kernel { name: "hop", body: "Hop", header: "wilson.h", args: "HopArgs", kind: Kind::Block, params: &[PRECISIONS, RECONS] },
    Kernel { name: "hop_pack", body: "HopPack", header: "wilson.h", args: "HopArgs", kind: Kind::Block, params: &[PRECISIONS] },
    Kernel { name: "signal", body: "Signal", header: "signal.h", args: "SignalArgs", kind: Kind::Lane, params: &[] },
    Kernel { name: "await", body: "Await", header: "signal.h", args: "SignalArgs", kind: Kind::Lane, params: &[] },
    Kernel { name: "border_pack", body: "BorderPack", header: "border.h", args: "BorderArgs", kind: Kind::Lane, params: &[PRECISIONS, STORAGES] },
    Kernel { name: "border_unpack", body: "BorderUnpack", header: "border.h", args: "BorderArgs", kind: Kind::Lane, params: &[PRECISIONS, STORAGES] },
    Kernel { name: "border_return", body: "BorderReturn", header: "border.h", args: "BorderArgs", kind: Kind::Lane, params: &[PRECISIONS, STORAGES] },
    Kernel { name: "face_pack", body: "FacePack", header: "border.h", args: "FaceArgs", kind: Kind::Lane, params: &[FLOATS, &["R12", "SU2"]] },
    Kernel { name: "face_unpack", body: "FaceUnpack", header: "border.h", args: "FaceArgs", kind: Kind::Lane, params: &[FLOATS, &["R12", "SU2"]] },
    Kernel { name: "site_op", body: "SiteOp", header: "wilson.h", args: "SiteOpArgs", kind: Kind::Site, params: &[PRECISIONS] },
    Kernel { name: "laplace", body: "Laplace", header: "laplace.h", args: "LaplaceArgs", kind: Kind::Site, params: &[FLOATS, &["R18", "R12"]] },
    Kernel { name: "vector_pack", body: "VectorPack", header: "laplace.h", args: "LaplaceArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "smear_links", body: "SmearLinks", header: "smear.h", args: "SmearArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "blas", body: "Blas", header: "blas.h", args: "BlasArgs", kind: Kind::Site, params: &[PRECISIONS] },
    Kernel { name: "blas_mixed", body: "Blas2", header: "blas.h", args: "BlasArgs", kind: Kind::Site, params: &[PRECISIONS, PRECISIONS] },
    Kernel { name: "heavy_quark", body: "HeavyQuark", header: "blas.h", args: "BlasArgs", kind: Kind::Reduce(3), params: &[PRECISIONS] },
    Kernel { name: "blas_sum", body: "BlasSum", header: "blas.h", args: "BlasArgs", kind: Kind::Reduce(3), params: &[PRECISIONS] },
    Kernel { name: "stream_copy", body: "StreamCopy", header: "blas.h", args: "StreamArgs", kind: Kind::Site, params: &[] },
    Kernel { name: "convert_gauge", body: "ConvertGauge", header: "recon.h", args: "ConvertArgs", kind: Kind::Site, params: &[PRECISIONS, PRECISIONS] },
    Kernel { name: "convert_clover", body: "ConvertClover", header: "recon.h", args: "ConvertArgs", kind: Kind::Site, params: &[PRECISIONS, PRECISIONS] },
    Kernel { name: "math", body: "MathProbe", header: "plaq_math.h", args: "MathArgs", kind: Kind::Site, params: &[&["f64", "f32"]] },
    Kernel { name: "clover_build", body: "CloverBuild", header: "clover.h", args: "CloverArgs", kind: Kind::Site, params: &[FLOATS, &["R18", "R12"]] },
    Kernel { name: "clover_invert", body: "CloverInvert", header: "clover.h", args: "CloverArgs", kind: Kind::Reduce(3), params: &[FLOATS] },
    Kernel { name: "layout_gauge", body: "LayoutGauge", header: "layout.h", args: "LayoutArgs", kind: Kind::Lane, params: &[PRECISIONS] },
    Kernel { name: "layout_spinor", body: "LayoutSpinor", header: "layout.h", args: "LayoutArgs", kind: Kind::Lane, params: &[PRECISIONS] },
    Kernel { name: "layout_clover", body: "LayoutClover", header: "layout.h", args: "LayoutArgs", kind: Kind::Lane, params: &[PRECISIONS] },
    Kernel { name: "layout_report", body: "LayoutReport", header: "layout.h", args: "ReportArgs", kind: Kind::LaneReduce(2, 0), params: &[] },
    Kernel { name: "plaquette_sum", body: "PlaquetteSum", header: "observables.h", args: "ObservableArgs", kind: Kind::Reduce(3), params: &[PRECISIONS, STORAGES] },
    Kernel { name: "lines", body: "Lines", header: "observables.h", args: "ObservableArgs", kind: Kind::Lane, params: &[FLOATS, WHOLE] },
    Kernel { name: "unitarity", body: "Unitarity", header: "observables.h", args: "ObservableArgs", kind: Kind::Lane, params: &[FLOATS, WHOLE] },
    Kernel { name: "field_strength_sum", body: "FieldStrengthSum", header: "observables.h", args: "ObservableArgs", kind: Kind::Reduce(3), params: &[FLOATS, &["R18"]] },
    Kernel { name: "random_gauge", body: "RandomGauge", header: "random.h", args: "RandomArgs", kind: Kind::Lane, params: &[FLOATS, WHOLE] },
    Kernel { name: "random_spinor", body: "RandomSpinor", header: "random.h", args: "RandomArgs", kind: Kind::Lane, params: &[PRECISIONS] },
    Kernel { name: "update_links", body: "UpdateLinks", header: "heatbath.h", args: "UpdateArgs", kind: Kind::Site, params: &[FLOATS, WHOLE] },
    Kernel { name: "gauge_sweep", body: "GaugeSweep", header: "gaugefix.h", args: "GaugeFixArgs", kind: Kind::Site, params: &[FLOATS, &["R8", "R12", "SU2"]] },
    Kernel { name: "gauge_sweep_seen", body: "GaugeSweep", header: "gaugefix.h", args: "GaugeFixArgs", kind: Kind::ReduceMost(4, 2), params: &[FLOATS, &["R8", "R12", "SU2"]] },
    Kernel { name: "gauge_quality", body: "GaugeQuality", header: "gaugefix.h", args: "GaugeFixArgs", kind: Kind::ReduceMost(4, 2), params: &[FLOATS, &["R8", "R12", "SU2"]] },
    Kernel { name: "gauge_transform", body: "GaugeTransform", header: "gaugefix.h", args: "GaugeFixArgs", kind: Kind::Site, params: &[&["f64"], WHOLE] },
    Kernel { name: "transform_select", body: "TransformSelect", header: "gaugefix.h", args: "GaugeFixArgs", kind: Kind::Site, params: &[&["f64"], WHOLE] },
    Kernel { name: "transform_array", body: "TransformArray", header: "gaugefix.h", args: "GaugeFixArgs", kind: Kind::Lane, params: &[&["f64"], WHOLE] },
    Kernel { name: "transform_product", body: "TransformProduct", header: "gaugefix.h", args: "TransformProductArgs", kind: Kind::Site, params: &[&["f64"], WHOLE] },
    Kernel { name: "axial_step", body: "AxialStep", header: "axial.h", args: "AxialArgs", kind: Kind::Site, params: &[&["f64"], WHOLE] },
    Kernel { name: "axial_unit", body: "AxialUnit", header: "axial.h", args: "AxialArgs", kind: Kind::Site, params: &[&["f64"], WHOLE] },
    Kernel { name: "fourier_gradient", body: "FourierGradient", header: "fourier.h", args: "FourierArgs", kind: Kind::ReduceMost(6, 2), params: &[FLOATS, &["R8", "R12", "SU2"]] },
    Kernel { name: "fourier_update", body: "FourierUpdate", header: "fourier.h", args: "FourierArgs", kind: Kind::Site, params: &[FLOATS, &["R8", "R12", "SU2"]] },
    Kernel { name: "fourier_scale", body: "FourierScale", header: "fourier.h", args: "FourierArgs", kind: Kind::LaneReduce(1, 0), params: &[FLOATS, &["R8", "R12", "SU2"]] },
    Kernel { name: "fourier_direction", body: "FourierDirection", header: "fourier.h", args: "FourierArgs", kind: Kind::LaneReduce(1, 1), params: &[FLOATS, &["R8", "R12", "SU2"]] },
    Kernel { name: "source", body: "Source", header: "contract.h", args: "SourceArgs", kind: Kind::Lane, params: &[PRECISIONS] },
    Kernel { name: "correlators", body: "Correlators", header: "contract.h", args: "CorrelatorArgs", kind: Kind::Reduce(12), params: &[FLOATS] },
    Kernel { name: "coarse_apply", body: "CoarseApply", header: "coarse.h", args: "CoarseApplyArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "coarse_pack", body: "CoarsePack", header: "coarse.h", args: "CoarsePackArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "coarse_blas", body: "CoarseBlas", header: "coarse.h", args: "CoarseBlasArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "coarse_sum", body: "CoarseSum", header: "coarse.h", args: "CoarseBlasArgs", kind: Kind::Reduce(3), params: &[FLOATS] },
    Kernel { name: "coarse_columns", body: "CoarseColumns", header: "coarse.h", args: "CoarseColumnsArgs", kind: Kind::Site, params: &[FLOATS, FLOATS] },
    Kernel { name: "coarse_invert", body: "CoarseInvert", header: "coarse.h", args: "CoarseMatrixArgs", kind: Kind::LaneReduce(1, 0), params: &[] },
    Kernel { name: "coarse_multiply", body: "CoarseMultiply", header: "coarse.h", args: "CoarseMatrixArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "aggregate_take", body: "AggregateTake", header: "aggregate.h", args: "AggregateFieldArgs", kind: Kind::Lane, params: &[PRECISIONS, FLOATS] },
    Kernel { name: "aggregate_give", body: "AggregateGive", header: "aggregate.h", args: "AggregateFieldArgs", kind: Kind::Lane, params: &[PRECISIONS, FLOATS] },
    Kernel { name: "aggregate_restrict", body: "AggregateRestrict", header: "aggregate.h", args: "AggregateArgs", kind: Kind::Site, params: &[FLOATS, FLOATS] },
    Kernel { name: "aggregate_prolong", body: "AggregateProlong", header: "aggregate.h", args: "AggregateArgs", kind: Kind::Site, params: &[FLOATS, FLOATS] },
    Kernel { name: "aggregate_cholesky", body: "AggregateCholesky", header: "aggregate.h", args: "AggregateArgs", kind: Kind::LaneReduce(1, 1), params: &[] },
    Kernel { name: "random_momenta", body: "RandomMomenta", header: "momenta.h", args: "MomentaArgs", kind: Kind::Lane, params: &[FLOATS] },
    Kernel { name: "momenta_sum", body: "MomentaSum", header: "momenta.h", args: "MomentaArgs", kind: Kind::ReduceMost(1, 1), params: &[FLOATS] },
    Kernel { name: "momenta_add", body: "MomentaAdd", header: "momenta.h", args: "MomentaArgs", kind: Kind::Site, params: &[FLOATS, FLOATS] },
    Kernel { name: "momenta_project", body: "MomentaProject", header: "momenta.h", args: "MomentaArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "momenta_array", body: "MomentaArray", header: "momenta.h", args: "MomentaArgs", kind: Kind::Lane, params: &[FLOATS] },
    Kernel { name: "evolve_links", body: "EvolveLinks", header: "evolve.h", args: "EvolveArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "project_links", body: "ProjectLinks", header: "evolve.h", args: "EvolveArgs", kind: Kind::ReduceMost(1, 1), params: &[FLOATS] },
    Kernel { name: "links_distance", body: "LinksDistance", header: "evolve.h", args: "EvolveArgs", kind: Kind::ReduceMost(1, 1), params: &[FLOATS] },
    Kernel { name: "plaquette_elements", body: "PlaquetteElements", header: "gauge_force.h", args: "ForceArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "plaquette_force", body: "PlaquetteForce", header: "gauge_force.h", args: "ForceArgs", kind: Kind::ReduceMost(1, 1), params: &[FLOATS] },
    Kernel { name: "plane_loops", body: "PlaneLoops", header: "gauge_force.h", args: "ForceArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "rectangle_elements", body: "RectangleElements", header: "gauge_force.h", args: "ForceArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "rectangle_steps", body: "RectangleSteps", header: "gauge_force.h", args: "ForceArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "rectangle_force", body: "RectangleForce", header: "gauge_force.h", args: "ForceArgs", kind: Kind::ReduceMost(1, 1), params: &[FLOATS] },
    Kernel { name: "plaquette_action", body: "PlaquetteAction", header: "gauge_force.h", args: "ForceArgs", kind: Kind::Reduce(1), params: &[FLOATS] },
    Kernel { name: "rectangle_action", body: "RectangleAction", header: "gauge_force.h", args: "ForceArgs", kind: Kind::Reduce(1), params: &[FLOATS] },
    Kernel { name: "algebra_laplace", body: "AlgebraLaplace", header: "gauge_force.h", args: "ForceArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "hop_force", body: "HopForce", header: "fermion_force.h", args: "HopForceArgs", kind: Kind::Site, params: &[FLOATS, &["R18", "R12"]] },
    Kernel { name: "clover_insertion", body: "CloverInsertion", header: "clover_force.h", args: "CloverInsertionArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "clover_force", body: "CloverForce", header: "clover_force.h", args: "CloverForceArgs", kind: Kind::Site, params: &[FLOATS, &["R18", "R12"]] },
    Kernel { name: "basis_dots", body: "BasisDots", header: "basis.h", args: "BasisArgs", kind: Kind::Reduce(16), params: &[FLOATS] },
    Kernel { name: "basis_update", body: "BasisUpdate", header: "basis.h", args: "BasisArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "chiral_sum", body: "ChiralSum", header: "chiral.h", args: "ChiralArgs", kind: Kind::Site, params: &[PRECISIONS] },
    Kernel { name: "stout_exponent", body: "StoutExponent", header: "stout.h", args: "StoutArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "stout_turn", body: "StoutTurn", header: "stout.h", args: "StoutArgs", kind: Kind::Site, params: &[FLOATS] },
    Kernel { name: "stout_force", body: "StoutForce", header: "stout.h", args: "StoutArgs", kind: Kind::Site, params: &[FLOATS] },
];

/// Kernels whose launch shape the GPU tuner measures by running them again and again. A sweep of
/// gauge fixing changes what it reads: its first call is on a copy (src/ops/gaugefix/sweeper.rs).
#[allow(dead_code)]
pub const TUNED: &[&str] = &["hop", "gauge_sweep"];

/// Kernels that on a GPU come on the device while the one before still runs (plaq_dialect.h): those whose
/// blocks stay for long. The wait costs short blocks more than it gains, a copy a fifth.
#[allow(dead_code)]
pub const OVERLAPPING: &[&str] = &["hop", "gauge_sweep"];

/// Kernels that solvers spend their time in: compiled with vectors for any number of lanes.
#[allow(dead_code)]
pub const HOT: &[&str] = &["hop", "hop_pack", "site_op", "blas", "blas_mixed", "blas_sum"];

/// Kernels that run once where others run a thousand times: for no number of lanes.
#[allow(dead_code)]
pub const COLD: &[&str] = &["convert_clover", "transform_array", "axial_step", "axial_unit"];

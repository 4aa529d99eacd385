//! Launch shapes: the default for each kernel, and those that the tuner tries.

use super::source::LaunchShape;
use crate::backend::families::{Blocks, Kernel, Kind};

/// Number of blocks of a reduction per multiprocessor: enough to keep it busy, few enough that their partial sums are
/// added up quickly.
const REDUCE_BLOCKS: usize = 8;

const fn shape(block: u32, min_blocks: u32) -> LaunchShape {
    LaunchShape { block, min_blocks }
}

/// The launch shape without tuning. A multiprocessor has 65536 registers, so that a shape (block, blocks) leaves
/// 65536 / (block * blocks) for a thread; tests/gpu_compile.rs limits the spills of each.
pub fn default_shape(kernel: &Kernel, params: &[&str]) -> LaunchShape {
    let double = params.contains(&"f64");
    match (kernel.blocks, kernel.kind) {
        (Blocks::Small, _) => shape(64, if double { 4 } else { 8 }),
        (Blocks::SmallSingle, _) if !double => shape(64, 8),
        (Blocks::AllRegisters, _) => shape(64, 4),
        (Blocks::Links, _) => shape(if double { 384 } else { 512 }, 1),
        (Blocks::Rectangles, _) => shape(if double { 256 } else { 384 }, 1),
        (_, Kind::Site | Kind::Block) => shape(128, if double { 2 } else { 4 }),
        (_, Kind::Lane) => shape(64, 4),
        (_, Kind::Reduce(_) | Kind::LaneReduce(..) | Kind::ReduceMax(..)) => {
            shape(256, if double { 1 } else { 2 })
        }
    }
}

/// The launch shapes to try for a kernel, its default first; only the default if results depend on the shape.
pub fn candidates(kernel: &Kernel, params: &[&str]) -> Vec<LaunchShape> {
    let first = default_shape(kernel, params);
    // Shapes of tuned kernels go from many registers and few warps to the opposite. The assembler rounds the warps of
    // a multiprocessor up to a multiple of four, so shapes between these give the same code.
    let more: &[LaunchShape] = match (kernel.tuned, params.contains(&"f64")) {
        _ if !kernel.any_shape() => &[],
        (true, true) => &[shape(64, 4), shape(64, 6), shape(128, 2), shape(128, 3)],
        (true, false) => &[
            shape(64, 6),
            shape(64, 8),
            shape(64, 10),
            shape(64, 12),
            shape(128, 3),
            shape(128, 4),
            shape(128, 5),
            shape(128, 6),
            shape(256, 2),
        ],
        (false, true) => &[shape(64, 4), shape(128, 3), shape(128, 4), shape(256, 2)],
        (false, false) => &[shape(64, 8), shape(128, 6), shape(128, 8), shape(256, 2)],
    };
    let mut all = vec![first];
    all.extend(more.iter().copied().filter(|s| *s != first));
    all
}

/// Number of blocks among which the sum of a batch is divided in a reduction. It depends only on the device and the
/// amount of work, so that the order of summation does, too.
pub fn sum_blocks(
    kernel: &Kernel,
    shape: LaunchShape,
    multiprocessors: usize,
    n: usize,
    batches: usize,
) -> usize {
    let each = match kernel.blocks.one_wave() {
        true => shape.min_blocks as usize,
        false => REDUCE_BLOCKS,
    };
    n.div_ceil(shape.block as usize).min((each * multiprocessors).div_ceil(batches))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::families::KERNELS;

    /// For sums in one wave all blocks are on the device at the same time, whatever their number of registers; other
    /// sums take several waves. With little work there are fewer blocks.
    #[test]
    fn sums_in_one_wave() {
        let mut waves = [0, 0];
        for kernel in KERNELS.iter().filter(|k| k.kind.numbers().is_some()) {
            for params in [["f64"], ["f32"]] {
                let shape = default_shape(kernel, &params);
                let blocks = |n, batches| sum_blocks(kernel, shape, 132, n, batches);
                let many = blocks(1 << 24, 1);
                let one = kernel.blocks.one_wave();
                waves[one as usize] += 1;
                let fit = 132 * shape.min_blocks as usize;
                assert_eq!(many, if one { fit } else { 132 * REDUCE_BLOCKS }, "{}", kernel.name);
                assert!(blocks(1 << 24, 12) <= many.div_ceil(12), "{}", kernel.name);
                assert_eq!(blocks(shape.block as usize, 1), 1);
                assert_eq!(blocks(shape.block as usize + 1, 1), 2);
            }
        }
        assert!(waves.iter().all(|n| *n > 0), "{waves:?}");
    }

    /// Blocks of links hold whole groups of 16 sites of either parity with four links each, and leave each thread the
    /// registers that its precision needs (tests/gpu_compile.rs limits the spills).
    #[test]
    fn blocks_of_links_hold_groups_of_sites() {
        let mut found = 0;
        for kernel in KERNELS.iter().filter(|k| k.blocks.one_wave()) {
            for (params, registers) in [(["f64"], 168), (["f32"], 128)] {
                let shape = default_shape(kernel, &params);
                assert_eq!(shape.block % (16 * 2 * 4), 0, "{}", kernel.name);
                let each = 65536 / (shape.block * shape.min_blocks);
                assert!(each >= registers && shape.block <= 1024, "{}: {each}", kernel.name);
                found += (kernel.blocks == Blocks::Links) as usize;
            }
        }
        assert!(found >= 4, "{found}");
    }
}

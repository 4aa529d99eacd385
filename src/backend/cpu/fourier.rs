//! Fourier transforms on the host's threads, by rustfft for lines along each axis.

use std::sync::Arc;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftNum, FftPlanner};

use super::threads::Threads;
use crate::backend::fourier::{FourierShape, Plan};
use crate::backend::Ptr;
use crate::error::Result;

/// Number of lines that are copied together if the numbers of a line are not contiguous, so that whole cache lines are
/// used.
const LINES: usize = 8;

struct Lines<T> {
    threads: Arc<Threads>,
    shape: FourierShape,
    /// Forward and inverse transforms of each axis.
    axes: [Vec<Arc<dyn Fft<T>>>; 2],
}

pub fn plan(threads: &Arc<Threads>, shape: FourierShape) -> Box<dyn Plan> {
    fn of<T: FftNum>(threads: Arc<Threads>, shape: FourierShape) -> Box<dyn Plan> {
        let mut planner = FftPlanner::<T>::new();
        let lengths = &shape.extents[..shape.axes];
        let forward = lengths.iter().map(|&l| planner.plan_fft_forward(l)).collect();
        let inverse = lengths.iter().map(|&l| planner.plan_fft_inverse(l)).collect();
        Box::new(Lines { threads, shape, axes: [forward, inverse] })
    }
    if shape.single {
        of::<f32>(threads.clone(), shape)
    } else {
        of::<f64>(threads.clone(), shape)
    }
}

/// The lines of an array along one axis, which `fft` transforms: number n of line `line` is at `at + line + n stride`.
struct Axis<'a, T> {
    fft: &'a dyn Fft<T>,
    stride: usize,
    lines: std::ops::Range<usize>,
}

impl<T: FftNum> Axis<'_, T> {
    /// # Safety
    /// No other code reads or writes the numbers of these lines in the array while this runs.
    unsafe fn run(&self, array: *mut Complex<T>, workspace: &mut Vec<Complex<T>>) {
        let (l, scratch) = (self.fft.len(), self.fft.get_inplace_scratch_len());
        let zero = Complex::new(T::zero(), T::zero());
        workspace.resize(workspace.len().max(LINES * l + scratch), zero);
        let (buffer, scratch) = workspace.split_at_mut(LINES * l);
        for first in self.lines.clone().step_by(LINES) {
            let count = LINES.min(self.lines.end - first);
            let buffer = &mut buffer[..count * l];
            for n in 0..l {
                let row = array.add(first + n * self.stride);
                (0..count).for_each(|k| buffer[k * l + n] = *row.add(k));
            }
            self.fft.process_with_scratch(buffer, scratch);
            for n in 0..l {
                let row = array.add(first + n * self.stride);
                (0..count).for_each(|k| *row.add(k) = buffer[k * l + n]);
            }
        }
    }
}

impl<T: FftNum> Plan for Lines<T> {
    fn run(&self, from: Ptr, to: Ptr, inverse: bool) -> Result<()> {
        let axes = &self.axes[inverse as usize];
        let [x, y, z, last] = self.shape.extents;
        let block = x * y * z;
        // The first three axes of a block are transformed one after another while the block is in the caches.
        let blocks = |b: usize| {
            let zero = Complex::new(T::zero(), T::zero());
            let mut workspace = vec![zero; axes[0].get_inplace_scratch_len()];
            let at = b * block * size_of::<Complex<T>>();
            let array = (to.0 as usize + at) as *mut Complex<T>;
            // SAFETY: block b of both arrays is this thread's alone, and inside (Fourier::check);
            // buffers are aligned.
            unsafe {
                if from != to {
                    let source = (from.0 as usize + at) as *const Complex<T>;
                    std::ptr::copy_nonoverlapping(source, array, block);
                }
                let numbers = std::slice::from_raw_parts_mut(array, block);
                axes[0].process_with_scratch(numbers, &mut workspace);
                if self.shape.axes == 1 {
                    return;
                }
                for layer in 0..z {
                    let axis = Axis { fft: &*axes[1], stride: x, lines: 0..x };
                    axis.run(array.add(layer * x * y), &mut workspace);
                }
                Axis { fft: &*axes[2], stride: x * y, lines: 0..x * y }.run(array, &mut workspace);
            }
        };
        let pieces = 4 * self.threads.count();
        let columns = |k: usize| {
            let (array, piece) = (k / pieces, k % pieces);
            let at = array * block * last * size_of::<Complex<T>>();
            let lines = piece * block / pieces..(piece + 1) * block / pieces;
            let axis = Axis { fft: &*axes[3], stride: block, lines };
            // SAFETY: no other thread reads or writes these lines of the array.
            unsafe { axis.run((to.0 as usize + at) as *mut Complex<T>, &mut Vec::new()) };
        };
        self.threads.run(self.shape.arrays * last, &blocks);
        if self.shape.axes == 4 {
            self.threads.run(self.shape.arrays * pieces, &columns);
        }
        Ok(())
    }
}

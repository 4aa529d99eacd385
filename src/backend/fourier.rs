//! Discrete Fourier transforms of complex arrays in device memory.

use super::{Buffer, Device, Ptr};
use crate::error::Result;

/// Shape of arrays that are transformed together. In each array axis 0 is fastest; the arrays follow each other in
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FourierShape {
    pub extents: [usize; 4],
    /// Number of axes that are transformed, the first 1, 3 or all 4; for every value of the other axes there is a
    /// transform of its own.
    pub axes: usize,
    pub arrays: usize,
    /// True for single precision, false for double.
    pub single: bool,
}

impl FourierShape {
    /// Number of complex numbers in all arrays together.
    pub fn numbers(&self) -> usize {
        self.arrays * self.extents.iter().product::<usize>()
    }
    fn bytes(&self) -> usize {
        self.numbers() * if self.single { 8 } else { 16 }
    }
}

/// A back end's implementation of Fourier transforms of one shape: sum_x exp(-i p x) f(x), for the inverse sum_p
/// exp(i p x) f(p), both without a normalisation factor. The addresses `from` and `to` may be the same.
pub trait Plan: Send + Sync {
    fn run(&self, from: Ptr, to: Ptr, inverse: bool) -> Result<()>;
}

/// Fourier transforms of arrays of one shape on a device.
pub struct Fourier {
    shape: FourierShape,
    // Stands before `device`, so that the plan is dropped while the device still exists.
    plan: Box<dyn Plan>,
    device: Device,
    /// Memory, in rehearsals, of the size that the work area of a GPU's transforms has, so that it is counted.
    _work: Option<Buffer>,
}

impl Fourier {
    /// Returns an error if the device has no Fourier transforms.
    ///
    /// # Errors
    /// On a GPU `CufftMissing`.
    pub fn available(device: &Device) -> Result<()> {
        let smallest = FourierShape { extents: [2; 4], axes: 4, arrays: 1, single: true };
        Fourier::new(device, smallest).map(|_| ())
    }

    /// # Errors
    /// On a GPU `CufftMissing`, `OutOfMemory`.
    pub fn new(device: &Device, shape: FourierShape) -> Result<Self> {
        let work = device.is_stand_in() && !device.is_cpu();
        let work = work.then(|| device.alloc(shape.bytes())).transpose()?;
        let plan = device.0.backend.fourier(shape)?;
        Ok(Fourier { shape, plan, device: device.clone(), _work: work })
    }

    pub fn forward(&self, from: &Buffer, to: &mut Buffer) -> Result<()> {
        self.check(from);
        self.check(to);
        self.plan.run(from.ptr(), to.ptr(), false)
    }
    /// Computes the transform, in place.
    pub fn transform(&self, array: &mut Buffer) -> Result<()> {
        self.check(array);
        self.plan.run(array.ptr(), array.ptr(), false)
    }
    /// Computes the inverse transform, in place.
    pub fn inverse(&self, array: &mut Buffer) -> Result<()> {
        self.check(array);
        self.plan.run(array.ptr(), array.ptr(), true)
    }

    fn check(&self, buffer: &Buffer) {
        assert!(buffer.bytes() >= self.shape.bytes() && *buffer.device() == self.device);
    }
}

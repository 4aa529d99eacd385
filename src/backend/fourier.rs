//! Discrete Fourier transforms of complex arrays in device memory.

use super::{Buffer, Device, Ptr};
use crate::error::Result;

/// Shape of arrays that are transformed together; axis 0 is fastest in each, and arrays follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FourierShape {
    pub extents: [usize; 4],
    /// Number of axes that are transformed: the first one or three, for every value of the others by itself, or all
    /// 4.
    pub axes: usize,
    pub arrays: usize,
    /// True for single precision, false for double.
    pub single: bool,
}

impl FourierShape {
    /// Number of values of all arrays together.
    pub fn numbers(&self) -> usize {
        self.arrays * self.extents.iter().product::<usize>()
    }
    fn bytes(&self) -> usize {
        self.numbers() * if self.single { 8 } else { 16 }
    }
}

/// A back end's implementation of transforms of one shape: the sum over x of exp(-i p x) f(x), for the inverse with
/// exp(i p x), both without a factor. `from` may be `to`.
pub trait Plan: Send + Sync {
    fn run(&self, from: Ptr, to: Ptr, inverse: bool) -> Result<()>;
}

/// Transforms of one shape on a device.
pub struct Fourier {
    shape: FourierShape,
    // Before the device, which must be there when a plan is dropped.
    plan: Box<dyn Plan>,
    device: Device,
    /// Memory as large as the work area of a GPU's transforms, which a rehearsal holds instead of transforms.
    _work: Option<Buffer>,
}

impl Fourier {
    /// An error if the device has no Fourier transforms.
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

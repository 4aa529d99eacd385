//! Discrete Fourier transforms of complex arrays in device memory.

use super::{Buffer, Device, Ptr};
use crate::error::Result;

/// Arrays that are transformed together, each with axis 0 fastest, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FourierShape {
    pub extents: [usize; 4],
    /// The first one or the first 3 axes, for every value of the others on their own, or all 4.
    pub axes: usize,
    pub arrays: usize,
    /// Single precision instead of double.
    pub single: bool,
}

impl FourierShape {
    /// Numbers of all arrays.
    pub fn numbers(&self) -> usize {
        self.arrays * self.extents.iter().product::<usize>()
    }
    fn bytes(&self) -> usize {
        self.numbers() * if self.single { 8 } else { 16 }
    }
}

/// What a back end makes of a shape: the sum over x of exp(-i p x) f(x), for the inverse exp(i p x),
/// both without a factor. `from` may be `to`.
pub trait Plan: Send + Sync {
    fn run(&self, from: Ptr, to: Ptr, inverse: bool) -> Result<()>;
}

/// Transforms of one shape on a device.
pub struct Fourier {
    shape: FourierShape,
    // Before the device, which must be there when a plan is dropped.
    plan: Box<dyn Plan>,
    device: Device,
    /// What stands for the work area of a GPU's back end in a rehearsal.
    _work: Option<Buffer>,
}

impl Fourier {
    /// Are there transforms on this device?
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
    /// The transform, in place.
    pub fn transform(&self, array: &mut Buffer) -> Result<()> {
        self.check(array);
        self.plan.run(array.ptr(), array.ptr(), false)
    }
    /// The transform, in place.
    pub fn inverse(&self, array: &mut Buffer) -> Result<()> {
        self.check(array);
        self.plan.run(array.ptr(), array.ptr(), true)
    }

    fn check(&self, buffer: &Buffer) {
        assert!(buffer.bytes() >= self.shape.bytes() && *buffer.device() == self.device);
    }
}

//! Tests of kernels through the device layer, on every device of this machine.

use super::families::{Float, Su3, Values};
use super::{kernels, Device, FieldView, Precision, Recon, Work};
use crate::backend::args::{BlasArgs, Geom, HopArgs, StreamArgs, BLAS_AXPBY, BLAS_NORM};
use crate::error::{Error, Status};

#[path = "../../tests/common/mod.rs"]
pub mod common;
use common::devices;

/// The device that `PLAQ_TEST_DEVICE` names, or if it is not set a CPU with two threads.
pub fn one_device() -> Device {
    match std::env::var("PLAQ_TEST_DEVICE").as_deref() {
        Ok("cuda") => Device::cuda(0).unwrap(),
        _ => Device::cpu(2).unwrap(),
    }
}

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut s = seed;
    let mut next = || {
        s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (s >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn the_copy_kernel_copies() {
    for device in devices() {
        for n in [1usize, 127, 100_003] {
            let data: Vec<u8> = (0..16 * n).map(|i| ((i * i) >> 3) as u8).collect();
            let (mut src, dst) = (device.alloc(16 * n).unwrap(), device.alloc(16 * n).unwrap());
            src.upload(&data).unwrap();
            let args = StreamArgs { src: src.ptr(), dst: dst.ptr() };
            let work = Work { n, batches: 1, lanes: 1 };
            device.launch(kernels::StreamCopy(), &args, work).unwrap();
            let mut back = vec![0; 16 * n];
            dst.download(&mut back).unwrap();
            assert!(back == data, "{n} on {}", device.name());
        }
    }
}

/// Memory of `planes` planes of `sites` sites of 24 doubles, in any order, for element-wise kernels.
struct Vector {
    buffer: super::Buffer,
    sites: usize,
}

impl Vector {
    fn new(device: &Device, data: &[f64], sites: usize) -> Vector {
        let mut buffer = device.alloc(8 * data.len()).unwrap();
        buffer.upload(bytemuck::cast_slice(data)).unwrap();
        Vector { buffer, sites }
    }
    fn view(&self) -> FieldView {
        FieldView {
            data: self.buffer.ptr(),
            plane_bytes: (self.sites * 24 * 8) as i64,
            volume: self.sites as i32,
            ..FieldView::default()
        }
    }
    fn read(&self) -> Vec<f64> {
        let mut back = vec![0.0; self.buffer.bytes() / 8];
        self.buffer.download(bytemuck::cast_slice_mut(&mut back)).unwrap();
        back
    }
}

/// The elements of one launch: eight numbers on the CPU, 16-byte pieces on a GPU (blas.h).
fn work(device: &Device, sites: usize, batches: usize) -> Work {
    let n = if device.is_cpu() { sites * 3 } else { sites * 12 };
    Work { n, batches, lanes: 1 }
}

#[test]
fn sums_are_right_and_the_same_bits_every_time() {
    let planes = 3;
    for device in devices() {
        // From fewer sites than a thread block has threads to more than all blocks of a reduction handle in one pass.
        for sites in [1usize, 100, 4096, 60_000] {
            let data = numbers(planes * sites * 24, sites as u64);
            let x = Vector::new(&device, &data, sites);
            let args = BlasArgs { op: BLAS_NORM, parities: 1, x: x.view(), ..BlasArgs::default() };
            let sum = || {
                device.reduce(kernels::BlasSum(Precision::F64), &args, work(&device, sites, planes))
            };
            let first = sum().unwrap();
            for (p, plane) in data.chunks(sites * 24).enumerate() {
                let want: f64 = plane.iter().map(|v| v * v).sum();
                let got = first[3 * p + 2];
                // Roundoff of a sum of positive numbers in any order.
                let bound = f64::EPSILON * plane.len() as f64 * want;
                assert!((got - want).abs() <= bound, "{got} {want} on {}", device.name());
            }
            for _ in 0..20 {
                assert_eq!(first, sum().unwrap(), "{sites} sites on {}", device.name());
            }
        }
    }
}

#[test]
fn coefficients_belong_to_right_hand_sides() {
    let (sites, planes) = (77, 4);
    for device in devices() {
        let (dx, dy) = (numbers(planes * sites * 24, 1), numbers(planes * sites * 24, 2));
        let (x, y) = (Vector::new(&device, &dx, sites), Vector::new(&device, &dy, sites));
        let mut args = BlasArgs { op: BLAS_AXPBY, parities: 2, ..BlasArgs::default() };
        args.x = x.view();
        args.y = y.view();
        // y = a x + b y with real coefficients a = 2, b = 1 and a = -3, b = 0.5.
        (args.a[0], args.a[2], args.b[0], args.b[2]) = (2.0, -3.0, 1.0, 0.5);
        device.launch(kernels::Blas(Precision::F64), &args, work(&device, sites, planes)).unwrap();
        let per_rhs = 2 * sites * 24;
        for (i, got) in y.read().into_iter().enumerate() {
            let (a, b) = if i < per_rhs { (2.0, 1.0) } else { (-3.0, 0.5) };
            let want = a * dx[i] + b * dy[i];
            assert!((got - want).abs() <= 4.0 * f64::EPSILON, "{i}: {got} {want}");
        }
    }
}

/// A tuned kernel runs: the hop of any vector is zero for links that are zero.
#[test]
fn tuned_kernels_launch() {
    let (extent, volume) = (4, 128);
    for device in devices() {
        let spinor = Vector::new(&device, &numbers(24 * volume, 5), volume);
        let out = Vector::new(&device, &numbers(24 * volume, 6), volume);
        let links = Vector::new(&device, &vec![0.0; 2 * 72 * volume], volume);
        let plane_bytes = (72 * volume * 8) as i64;
        let geom = Geom { x: extent, y: extent, z: extent, t: extent, ..Geom::default() };
        let args = HopArgs {
            geom,
            out: out.view(),
            inp: spinor.view(),
            gauge: FieldView { plane_bytes, ..links.view() },
            coef: [1.0; 4],
            step_out: 1,
            step_in: 1,
            nrhs: 1,
            ..HopArgs::default()
        };
        let work = Work { n: volume, batches: 1, lanes: 1 };
        let hop = kernels::Hop(Precision::F64, Su3::R18);
        for _ in 0..2 {
            device.launch(hop, &args, work).unwrap();
        }
        assert!(out.read().iter().all(|&v| v == 0.0), "{}", device.name());
    }
}

/// A value is accepted by a set if and only if its name is one of the set's names.
#[test]
fn sets_hold_what_they_name() {
    let mut held = [0, 0];
    for p in [Precision::F64, Precision::F32, Precision::F16] {
        assert_eq!(Float::of(p).is_ok(), Float::TOKENS.contains(&p.token()));
        held[0] += Float::of(p).is_ok_and(|v| v.token() == p.token()) as usize;
    }
    for r in [Recon::R18, Recon::R12, Recon::R8, Recon::R8Angles, Recon::Su2] {
        assert_eq!(Su3::of(r).is_ok(), Su3::TOKENS.contains(&r.token()));
        held[1] += Su3::of(r).is_ok_and(|v| v.token() == r.token()) as usize;
    }
    assert_eq!(held, [2, 4]);
    let refused = Error::from(kernels::CoarseApplyShort::of(Precision::F64).err().unwrap());
    assert_eq!(refused.status, Status::Unsupported);
    assert!(refused.message().contains("made for f32, asked for was f64"), "{refused}");
}

/// A constant that has two values in one struct is read from the struct, and absent fields give no constants.
#[test]
fn constants_of_a_call_are_unique() {
    let args =
        BlasArgs { x: FieldView { volume: 8, ..FieldView::default() }, ..BlasArgs::default() };
    let has = |specs: &super::Specs| specs.iter().any(|s| s.0 == "PLAQ_SPEC_FieldView_volume");
    assert!(has(&super::specs_of(&args)));
    let two = BlasArgs { y: FieldView { volume: 9, ..FieldView::default() }, ..args };
    assert!(!has(&super::specs_of(&two)));
}

/// Launches refuse a field that was freed, one with less memory than its planes, and one on a smaller lattice.
#[test]
fn launches_refuse_fields_that_are_not_there() {
    for device in devices() {
        let x = Vector::new(&device, &numbers(24 * 128, 5), 128);
        let out = Vector::new(&device, &numbers(24 * 128, 5), 128);
        let view = x.view();
        let geom = Geom { x: 4, y: 4, z: 4, t: 4, ..Geom::default() };
        let work = Work { n: 128, batches: 1, lanes: 1 };
        let launch = |inp: FieldView| {
            let args = HopArgs { geom, inp, out: out.view(), ..HopArgs::default() };
            device.launch(kernels::Hop(Precision::F64, Su3::R18), &args, work)
        };
        let refused = |inp: FieldView, words: &str| {
            let error = launch(inp).unwrap_err();
            assert!(error.status == Status::Internal && error.message().contains(words), "{error}");
        };
        refused(FieldView { plane_bytes: view.plane_bytes + 1, ..view }, "not in memory");
        refused(FieldView { norm: view.data, norm_bytes: 1 << 40, ..view }, "not in memory");
        // An address far away, as directly behind the field there may be other allocated memory.
        refused(FieldView { data: view.data.offset(1 << 44), ..view }, "not in memory");
        refused(FieldView { volume: 127, ..view }, "expected 128 sites");
        drop(x);
        refused(view, "not in memory");
    }
}

//! Memory and device selection, on every device of this machine.

use crate::common;
use common::{devices, largest};
use plaq::backend::Device;
use plaq::error::Status;

/// Bytes whose pattern does not repeat with a period that is a power of two.
fn pattern(n: usize, seed: u32) -> Vec<u8> {
    (0..n as u32).map(|i| (i.wrapping_mul(2654435761).wrapping_add(seed) >> 13) as u8).collect()
}

#[test]
fn upload_download_round_trip() {
    // Sizes around the chunks of transfers: 8 MiB, in pieces of half a MiB for its threads.
    let sizes = [1, 24, (512 << 10) + 1, (8 << 20) - 1, 8 << 20, (8 << 20) + 1, 40_000_003];
    for device in devices() {
        for (k, n) in sizes.into_iter().enumerate() {
            let data = pattern(n, k as u32);
            let mut buffer = device.alloc(n).unwrap();
            buffer.upload(&data).unwrap();
            let mut back = vec![0; n];
            buffer.download(&mut back).unwrap();
            assert!(back == data, "{n} bytes on {}", device.name());
        }
    }
}

#[test]
fn fresh_memory_is_zero_and_copies_and_clears_are_in_order() {
    for device in devices() {
        let n = (3 << 20) + 5;
        // Several times, since an allocation is likely to get the block that was used and freed before.
        for _ in 0..3 {
            let mut a = device.alloc(n).unwrap();
            let mut back = vec![1; n];
            a.download(&mut back).unwrap();
            assert!(back.iter().all(|&b| b == 0), "{}", device.name());
            a.upload(&pattern(n, 7)).unwrap();
            let mut b = device.alloc(n).unwrap();
            b.copy_from(&a).unwrap();
            a.zero().unwrap();
            b.download(&mut back).unwrap();
            assert!(back == pattern(n, 7), "{}", device.name());
            a.download(&mut back).unwrap();
            assert!(back.iter().all(|&b| b == 0), "{}", device.name());
        }
    }
}

#[test]
fn used_and_peak_follow_buffers() {
    for device in devices() {
        let before = device.used().0;
        let a = device.alloc(1000).unwrap();
        let b = device.alloc(500).unwrap();
        assert_eq!(device.used().0, before + 1500);
        drop(b);
        assert_eq!(device.used(), (before + 1000, before + 1500));
        device.reset_peak();
        drop(a);
        assert_eq!(device.used(), (before, before + 1000));
    }
}

#[test]
fn too_much_memory_is_refused_and_the_device_still_works() {
    for device in devices() {
        let (free, total) = device.memory().unwrap();
        assert!(free <= total && total > 0, "{}", device.name());
        let e = device.require(total + 1, "a test").unwrap_err();
        assert_eq!(e.status, Status::OutOfMemory, "{e}");
        if !device.is_cpu() {
            // A size that the driver refuses at once: for a smaller one it would look for memory, and take that from
            // other processes meanwhile.
            let e = device.alloc(1 << 50).unwrap_err();
            assert_eq!(e.status, Status::OutOfMemory, "{e}");
        }
        let mut small = device.alloc(64).unwrap();
        small.upload(&[3; 64]).unwrap();
        device.synchronize().unwrap();
    }
}

#[test]
fn work_is_timed() {
    for device in devices() {
        let mut a = device.alloc(64 << 20).unwrap();
        let seconds = device.time(|| a.zero()).unwrap();
        assert!(seconds > 0.0 && seconds < 10.0, "{seconds} on {}", device.name());
    }
}

/// Asking for a GPU on a machine without CUDA gives a status with a message about what is missing; libplaq is not
/// linked with CUDA.
#[test]
fn a_machine_without_cuda_gets_a_status() {
    match Device::cuda(0) {
        Ok(device) => {
            assert!(!device.is_cpu());
            assert_eq!(Device::auto().unwrap().name(), device.name());
            let e = Device::cuda(4096).unwrap_err();
            assert_eq!(e.status, Status::NoDevice, "{e}");
        }
        Err(e) => {
            assert!(e.status.is_missing_device(), "{e}");
            assert!(e.message().contains("install") || e.message().contains("check"), "{e}");
            // Asked twice, since the first failure must leave nothing half open.
            assert_eq!(Device::cuda(0).unwrap_err().status, e.status);
            let auto = Device::auto().unwrap();
            assert!(auto.is_cpu());
            auto.alloc(64).unwrap();
        }
    }
}

/// Libraries that are missing are named in messages. Each library is looked for once in a process, so this test runs
/// again in processes of its own.
#[test]
fn libraries_that_are_missing_are_named() {
    use plaq::backend::cuda::{Nccl, Nvrtc};
    use plaq::backend::fourier::{Fourier, FourierShape};
    const CHILD: &str = "PLAQ_TEST_CHILD";
    let path = "/nowhere/lib.so";
    match std::env::var(CHILD).as_deref() {
        Ok("PLAQ_NVRTC") => {
            let e = Nvrtc::get().err().unwrap();
            assert_eq!(e.status, Status::NvrtcMissing);
            assert!(e.message().contains("PLAQ_NVRTC=/nowhere/lib.so"), "{e}");
        }
        Ok("PLAQ_NCCL_LIBRARY") => {
            let e = Nccl::get().err().unwrap();
            assert_eq!(e.status, Status::NcclMissing);
            assert!(e.message().contains("PLAQ_NCCL_LIBRARY=/nowhere/lib.so"), "{e}");
        }
        Ok(_) => {
            let Ok(device) = Device::cuda(0) else { return };
            let shape = FourierShape { extents: [4; 4], axes: 4, arrays: 1, single: false };
            let e = Fourier::new(&device, shape).err().unwrap();
            assert_eq!(e.status, Status::CufftMissing);
            assert!(e.message().contains("PLAQ_CUFFT=/nowhere/lib.so"), "{e}");
        }
        Err(_) => {
            for variable in ["PLAQ_NVRTC", "PLAQ_CUFFT", "PLAQ_NCCL_LIBRARY"] {
                let mut child = std::process::Command::new(std::env::current_exe().unwrap());
                child.args(["libraries_that_are_missing", "--test-threads=1"]);
                let out = child.env(CHILD, variable).env(variable, path).output().unwrap();
                let text = String::from_utf8_lossy(&out.stdout);
                assert!(out.status.success() && text.contains("1 passed"), "{variable}: {text}");
            }
        }
    }
}

/// Fourier transforms of three and of four axes with unequal extents equal the sums that define them.
#[test]
fn fourier_transforms_match_the_sum() {
    use plaq::backend::fourier::{Fourier, FourierShape};
    type C = num_complex::Complex64;
    /// Computes sum_x exp(-+ i p x) f(x) over axis `mu` for each of several arrays.
    fn line(f: &[C], l: [usize; 4], mu: usize, sign: f64) -> Vec<C> {
        let stride: usize = l[..mu].iter().product();
        let mut out = vec![C::ZERO; f.len()];
        for (i, sum) in out.iter_mut().enumerate() {
            let k = i / stride % l[mu];
            for n in 0..l[mu] {
                let angle = sign * std::f64::consts::TAU * (k * n % l[mu]) as f64 / l[mu] as f64;
                *sum += C::from_polar(1.0, angle) * f[i + n * stride - k * stride];
            }
        }
        out
    }
    for device in devices() {
        for (extents, axes, arrays, single) in [
            ([4, 6, 2, 8], 4, 4, false),
            ([2, 10, 14, 4], 3, 2, false),
            ([16, 4, 12, 6], 4, 2, true),
            ([6, 8, 4, 10], 3, 4, true),
        ] {
            let shape = FourierShape { extents, axes, arrays, single };
            let real = |i: usize| ((i * i * 7919 + 13 * i) % 1009) as f64 / 1009.0 - 0.5;
            let f: Vec<C> =
                (0..shape.numbers()).map(|i| C::new(real(i), real(3 * i + 1))).collect();
            let sum =
                |f: &[C], sign| (0..axes).fold(f.to_vec(), |f, mu| line(&f, extents, mu, sign));
            let expected = sum(&f, -1.0);
            let pair = |z: &C| [z.re, z.im];
            let narrow: Vec<f32> = f.iter().flat_map(pair).map(|x| x as f32).collect();
            let wide: Vec<f64> = f.iter().flat_map(pair).collect();
            let bytes: &[u8] =
                if single { bytemuck::cast_slice(&narrow) } else { bytemuck::cast_slice(&wide) };
            let fourier = Fourier::new(&device, shape).unwrap();
            let [mut from, mut to] = [0; 2].map(|_| device.alloc(bytes.len()).unwrap());
            from.upload(bytes).unwrap();
            fourier.forward(&from, &mut to).unwrap();
            let read = |buffer: &plaq::backend::Buffer| -> Vec<C> {
                let mut back = vec![0u8; bytes.len()];
                buffer.download(&mut back).unwrap();
                let numbers: Vec<f64> = if single {
                    back.chunks_exact(4)
                        .map(|b| f32::from_ne_bytes(b.try_into().unwrap()).into())
                        .collect()
                } else {
                    back.chunks_exact(8)
                        .map(|b| f64::from_ne_bytes(b.try_into().unwrap()))
                        .collect()
                };
                numbers.chunks_exact(2).map(|z| C::new(z[0], z[1])).collect()
            };
            let furthest = |a: &[C], b: &[C]| largest(a.iter().zip(b).map(|(a, b)| (a - b).norm()));
            let largest = expected.iter().map(|z| z.norm()).fold(0.0, f64::max);
            let tolerance =
                16.0 * largest * if single { f32::EPSILON as f64 } else { f64::EPSILON };
            let what = format!("{shape:?} on {}", device.name());
            assert!(furthest(&read(&to), &expected) < tolerance, "{what}");
            assert!(furthest(&read(&from), &f) < 1e-7, "{what}: the source changed");
            // The inverse transform in place gives the numbers times the number of sites of a transform.
            fourier.inverse(&mut to).unwrap();
            let sites: usize = extents[..axes].iter().product();
            let back: Vec<C> = read(&to).iter().map(|z| z / sites as f64).collect();
            assert!(furthest(&back, &f) < tolerance, "{what}");
        }
    }
}

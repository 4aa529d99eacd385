//! Memory and device selection, on every device of this machine.

mod common;

use common::devices;
use plaq::backend::Device;
use plaq::error::Status;

/// Bytes that repeat with no period of a power of two.
fn pattern(n: usize, seed: u32) -> Vec<u8> {
    (0..n as u32).map(|i| (i.wrapping_mul(2654435761).wrapping_add(seed) >> 13) as u8).collect()
}

#[test]
fn upload_download_round_trip() {
    // Around the chunks of the transfers: 8 MiB, and pieces of half a MiB for its threads.
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
        // A used and freed block is likely to come back.
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
            let e = device.alloc((total + 1) as usize).unwrap_err();
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

/// libplaq is not linked with CUDA: on a machine without it, asking says what is missing.
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
            assert!(e.message.contains("install") || e.message.contains("check"), "{e}");
            // Twice: the first failure must not leave anything half open.
            assert_eq!(Device::cuda(0).unwrap_err().status, e.status);
            let auto = Device::auto().unwrap();
            assert!(auto.is_cpu());
            auto.alloc(64).unwrap();
        }
    }
}

//! Shared by the tests: which devices they run on.

use plaq::backend::Device;

/// The CPU with one and with two threads, and the first CUDA device where there is one.
/// `PLAQ_TEST_DEVICE=cpu` leaves CUDA out, `=cuda` the CPU (and a missing CUDA device fails).
pub fn devices() -> Vec<Device> {
    let wanted = std::env::var("PLAQ_TEST_DEVICE").unwrap_or_default();
    assert!(
        matches!(wanted.as_str(), "" | "cpu" | "cuda"),
        "PLAQ_TEST_DEVICE: expected cpu or cuda, found {wanted}"
    );
    let mut all = Vec::new();
    if wanted != "cuda" {
        all.extend([1, 2].map(|threads| Device::cpu(threads).expect("a CPU")));
    }
    match Device::cuda(0) {
        Ok(_) if wanted == "cpu" => {}
        Ok(device) => all.push(device),
        Err(e) if wanted == "cuda" || !e.status.is_missing_device() => panic!("{e}"),
        Err(_) => {}
    }
    all
}

//! Rates of loading and saving links, measured on request: `PLAQ_MEASURE=X,Y,Z,T`. Every array was
//! touched before; rates count bytes of links, not what lies between them in a struct.

use crate::common;
use std::time::Instant;

use libloading::Library;
use plaq::backend::{Device, External};
use plaq::fields::{GaugeField, Group, Layout, LinkOptions, Precision, Recon, Subset};

/// GB/s of the best of some tries; the first compiles and touches the memory.
fn rate(bytes: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    bytes as f64 / best / 1e9
}

/// GB/s of copies between the first CUDA device and page-locked memory, to the device and back.
fn pinned(bytes: usize) -> [f64; 2] {
    type Any = *mut std::ffi::c_void;
    // SAFETY: loading the CUDA driver runs its initialisers; the signatures are those of cuda.h; both allocations have
    // `bytes` bytes.
    unsafe {
        let cuda = Library::new("libcuda.so.1").expect("a CUDA driver");
        macro_rules! call {
            ($name:literal ($($arg:expr => $type:ty),*)) => {
                let f = cuda.get::<unsafe extern "C" fn($($type),*) -> i32>($name).expect("in libcuda");
                assert_eq!(f($($arg),*), 0, "{:?}", $name);
            };
        }
        let (mut context, mut host, mut device) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        call!(b"cuInit"(0 => u32));
        call!(b"cuDevicePrimaryCtxRetain"(&mut context => *mut Any, 0 => i32));
        call!(b"cuCtxPushCurrent_v2"(context => Any));
        call!(b"cuMemHostAlloc"(&mut host => *mut Any, bytes => usize, 0 => u32));
        call!(b"cuMemAlloc_v2"(&mut device => *mut u64, bytes => usize));
        std::ptr::write_bytes(host.cast::<u8>(), 1, bytes);
        let rates = [
            rate(bytes, || {
                call!(b"cuMemcpyHtoD_v2"(device => u64, host => Any, bytes => usize));
                call!(b"cuCtxSynchronize"());
            }),
            rate(bytes, || {
                call!(b"cuMemcpyDtoH_v2"(host => Any, device => u64, bytes => usize));
            }),
        ];
        call!(b"cuMemFree_v2"(device => u64));
        call!(b"cuMemFreeHost"(host => Any));
        call!(b"cuCtxPopCurrent_v2"(&mut context => *mut Any));
        call!(b"cuDevicePrimaryCtxRelease_v2"(0 => i32));
        rates
    }
}

fn measure(device: &Device, extents: [usize; 4], layouts: &[Layout]) {
    let links = 4 * 18 * 8 * extents.iter().product::<usize>();
    let geometry = common::geometry(extents, device);
    let mut field = GaugeField::new(device, &geometry, Precision::F64, Recon::R18).expect("fits");
    let held = device.used().0;
    for layout in layouts {
        let sizes = layout.bytes(extents, Group::Su3, Subset::Full).expect("consistent");
        let mut arrays: Vec<Vec<f64>> = sizes.iter().map(|b| vec![0.5; b / 8]).collect();
        device.reset_peak();
        let [load, checked] = [None, Some(1e9)].map(|tolerance| {
            let slices: Vec<&[f64]> = arrays.iter().map(|a| &a[..]).collect();
            let options = LinkOptions { tolerance, reproject: false };
            rate(links, || {
                field.load(layout, &External::read(&slices), options).expect("loads");
                device.synchronize().expect("runs");
            })
        });
        let save = rate(links, || {
            let slices = arrays.iter_mut().map(|a| &mut a[..]).collect();
            field.save(layout, &mut External::write(slices)).expect("saves");
        });
        println!(
            "{} {}: load {load:.1}, checked load {checked:.1}, save {save:.1} GB/s; {} MiB beside the field's {}",
            device.name(),
            layout.name,
            (device.used().1 - held) >> 20,
            held >> 20
        );
    }
}

#[test]
fn rates() {
    let Ok(lattice) = std::env::var("PLAQ_MEASURE") else {
        return println!("skipped: PLAQ_MEASURE names no lattice");
    };
    let parsed: Vec<usize> = lattice.split(',').map(|l| l.parse().expect("a number")).collect();
    let extents: [usize; 4] = parsed.try_into().expect("X,Y,Z,T");
    let p = Precision::F64;
    let site = Layout::milc_site(p, 2016, 112).expect("fits");
    let layouts = [Layout::qdp(p), Layout::milc(p), Layout::qdpjit(p), site];
    for device in common::devices() {
        if !device.is_cpu() {
            let [up, down] = pinned(1 << 30);
            println!("{}: page-locked copy {up:.1} GB/s up, {down:.1} down", device.name());
        }
        measure(&device, extents, &layouts);
    }
}

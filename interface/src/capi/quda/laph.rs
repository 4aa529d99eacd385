//! `quda.h`: projections of quark fields on eigenvectors of the Laplacian in x, y and z.

#![allow(non_snake_case)]

use std::ffi::c_int;

use num_complex::Complex64;

use super::arrays::{InOut, List};
use super::operators::Vectors;
use super::params_invert::QudaInvertParam;
use crate::capi::args::{Array, DataOut, Raw};
use crate::capi::table::interface;
use crate::error::Result;
use crate::fields::Precision;
use crate::ops::distillation::perambulator::sink_products;
use crate::refuse;

interface! {
    "Distillation"
    calls {
        /// Computes host_sinks[quark][eigenvector][t][spin] = the sum over a time slice of conj(eigenvector) quark,
        /// with t of the whole lattice, on all ranks, `tile_quark` quarks and `tile_evec` eigenvectors at a time,
        /// with spins in the basis of the host.
        laphSinkProject(host_sinks: Raw<*mut Complex64>, host_quark: List, n_quark: c_int, tile_quark: c_int, host_evec: List, nevec: c_int, tile_evec: c_int, inv_param: InOut<QudaInvertParam>, X: Array<c_int>) = together sink_project;
    }
}

#[allow(clippy::too_many_arguments)]
fn sink_project(
    host_sinks: *mut Complex64,
    host_quark: &List,
    n_quark: c_int,
    tile_quark: c_int,
    host_evec: &List,
    nevec: c_int,
    tile_evec: c_int,
    inv_param: &mut QudaInvertParam,
    X: &Array<c_int>,
) -> Result<()> {
    let at_least_one = |n: c_int, name: &str| match usize::try_from(n) {
        Ok(n) if n > 0 => Ok(n),
        _ => refuse!(InvalidArgument, "{name}", expected("1 or more"), found("{n}")),
    };
    let (quarks, evecs) = (at_least_one(n_quark, "n_quark")?, at_least_one(nevec, "nevec")?);
    let tile_quark = at_least_one(tile_quark, "tile_quark")?;
    let tile_evec = at_least_one(tile_evec, "tile_evec")?;
    let vectors = Vectors::new(inv_param, "inv_param")?;
    let part = vectors.session.geometry.extents().map(|l| l as c_int);
    let found = X.own(4);
    if found != part {
        refuse!(
            InvalidArgument,
            "X",
            expected("{part:?}, the lattice of this rank"),
            found("{found:?}")
        );
    }
    let sinks = DataOut::at(host_sinks.cast(), "host_sinks")?;
    let (quark_list, evec_list) =
        (host_quark.get(quarks, "host_quark")?, host_evec.get(evecs, "host_evec")?);
    let times = vectors.session.geometry.global_extents()[3];
    let mut all = vec![Complex64::ZERO; quarks * evecs * times * 4];
    for (i, some) in quark_list.chunks(tile_quark).enumerate() {
        let q = vectors.load_unturned(some, 4, "host_quark")?;
        for (j, some) in evec_list.chunks(tile_evec).enumerate() {
            let v = vectors.load_unturned(some, 1, "host_evec")?;
            let width = 4 * q.nrhs();
            for (at, z) in sink_products(&v, &q)?.into_iter().enumerate() {
                let (t, evec, column) =
                    (at / (v.nrhs() * width), at / width % v.nrhs(), at % width);
                let (quark, spin) = (i * tile_quark + column / 4, column % 4);
                all[((quark * evecs + j * tile_evec + evec) * times + t) * 4 + spin] = z;
            }
        }
    }
    sinks.write(Precision::F64, bytemuck::cast_slice(&all));
    Ok(())
}

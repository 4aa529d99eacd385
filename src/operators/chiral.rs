//! Linear combinations with different coefficients for the two chiralities.

use crate::backend::args::ChiralArgs;
use crate::backend::{kernels, FieldView};
use crate::bail;
use crate::error::Result;
use crate::fields::SpinorField;
use crate::refuse;

/// Coefficients for the components with gamma5 = 1 and with gamma5 = -1: a + b gamma5 is [a + b, a - b].
pub type Chiral = [f64; 2];

/// The coefficients of the operator a + b gamma5.
pub fn one_and_gamma5(a: f64, b: f64) -> Chiral {
    [a + b, a - b]
}

/// Computes out = own out + sum of coef_i x_i, with one to four terms in all. Without `own` the old out is not read;
/// neither is a field whose coefficients are 0.
///
/// # Errors
/// `FieldMismatch`: the fields differ in lattice, device, precision, subset or count;
/// `InvalidArgument`: no term, or too many.
pub fn chiral_sum(
    out: &mut SpinorField,
    own: Option<Chiral>,
    terms: &[(&SpinorField, Chiral)],
) -> Result<()> {
    let empty = FieldView { volume: out.geometry().outer() as i32, ..Default::default() };
    let mut views = vec![];
    let mut coef = vec![];
    if let Some(own) = own {
        views.push(out.view());
        coef.extend(own);
    }
    for (x, c) in terms {
        x.check_like(out, "chiral_sum")?;
        if x.precision() != out.precision() {
            bail!(
                FieldMismatch,
                "chiral_sum: precisions {} and {}",
                x.precision(),
                out.precision()
            );
        }
        views.push(x.view());
        coef.extend(*c);
    }
    if !(1..=4).contains(&views.len()) {
        refuse!(InvalidArgument, "chiral_sum", expected("1 to 4 terms"), found("{}", views.len()));
    }
    let count = views.len() as i32;
    views.resize(4, empty);
    coef.resize(8, 0.0);
    let args = ChiralArgs {
        out: out.view(),
        x: views[0],
        y: views[1],
        z: views[2],
        w: views[3],
        terms: count,
        coef: std::array::from_fn(|i| coef[i]),
    };
    out.device().launch(kernels::ChiralSum(out.precision()), &args, out.work())
}

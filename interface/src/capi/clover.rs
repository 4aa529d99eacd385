//! Clover terms as objects of the host, loaded from arrays or taken from an operator.

use std::sync::Arc;

use super::args::{Data, DataOut, Handle, Out, OutArray, Params, Raw};
use super::context::{plaq_context, Context};
use super::gauge::{extents_of_rows, extents_rows, geometry_of, plaq_gauge};
use super::handles::{self, Shared};
use super::layout::{plaq_layout_params, LayoutParams};
use super::table::interface;
use crate::error::Result;
use crate::fields::{CloverField, Group, Precision, Subset};
use crate::params::{Host, InC as _};
use crate::refuse;

/// The object behind the handle `plaq_clover`. Operators share its blocks; loading makes new blocks, and operators
/// keep the old ones.
#[derive(Debug)]
pub struct Clover {
    context: Arc<Context>,
    field: Shared<Arc<CloverField>>,
}

impl Clover {
    pub(crate) fn new(context: &Arc<Context>, field: Arc<CloverField>) -> Self {
        Clover { context: context.clone(), field: Shared::new(field) }
    }
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
    /// The blocks that the object has now; an error names it `argument`.
    pub(crate) fn read(&self, argument: &str) -> Result<Arc<CloverField>> {
        Ok(self.field.read(argument)?.clone())
    }
}

crate::params::parameters! {
    /// Shape of a clover term.
    pub composed struct CloverParams: plaq_clover_params {
        with extents_rows;
        /// Precision of the blocks.
        precision: Precision = Precision::F64;
        with extents_of_rows;
    }
}

interface! {
    "Clover terms"
    handles {
        /// Blocks A of a clover term, or their inverses: for each site and chirality one hermitian 6 x 6 matrix, with
        /// row = 3 spin + colour, kappa-normalised: A = 1 + 2 kappa csw (i/4) sum sigma F.
        plaq_clover: Clover = 5,
    }
    tables {
        plaq_clover_params, plaq_clover_params_init;
    }
    functions {
        /// Makes a clover term with unspecified blocks, to be loaded afterwards.
        plaq_clover_create(context: Handle<plaq_context>, params: Params<plaq_clover_params>, clover: Out<plaq_clover>) = create;
        /// Destroys a clover term; operators made with it remain valid. The zero handle is accepted.
        plaq_clover_destroy(clover: Raw<plaq_clover>) = destroy;
        /// Loads blocks from the host's array, in PLAQ_ORDER_MILC (packed) or PLAQ_ORDER_QDPJIT. After an error the
        /// old blocks are kept. Errors: NOT_FINITE, BAD_LAYOUT.
        plaq_clover_load(clover: Handle<plaq_clover>, layout: Params<plaq_layout_params>, data: Data) = load;
        /// Saves the blocks into the host's array.
        plaq_clover_save(clover: Handle<plaq_clover>, layout: Params<plaq_layout_params>, data: DataOut) = save;
        /// Measures ln |det A| on the even and on the odd sites of the whole lattice, 2 numbers; for `twist` not 0
        /// ln det(A^2 + twist^2) = ln |det(A + i twist gamma5)|^2, where an operator with twisted mass mu has twist
        /// = 2 kappa mu. A in single or double precision. Errors: SINGULAR_CLOVER, BAD_PARAMETER, UNSUPPORTED.
        plaq_clover_log_det(clover: Handle<plaq_clover>, twist: f64, log_det: OutArray<f64>[2]) = log_det_of;
        /// Measures the signs, 1 or -1, of the same two determinants: -1 if A has an odd number of negative
        /// eigenvalues. Errors: those of plaq_clover_log_det.
        plaq_clover_det_sign(clover: Handle<plaq_clover>, twist: f64, sign: OutArray<i32>[2]) = det_sign_of;
    }
}

fn create(
    context: &Arc<Context>,
    params: &plaq_clover_params,
    clover: &mut Out<plaq_clover>,
) -> Result<()> {
    let p = CloverParams::from_c(params, "params")?;
    let geometry = geometry_of(p.extents, p.gauge.0, context)?;
    let field = CloverField::new(context.device(), &geometry, p.precision, 1)?;
    clover.set(context.adopt(Clover::new(context, Arc::new(field)))?);
    Ok(())
}

fn destroy(clover: plaq_clover) -> Result<()> {
    handles::remove(clover, "clover")
}

fn load(clover: &Arc<Clover>, layout: &plaq_layout_params, data: &Data) -> Result<()> {
    let layout = LayoutParams::of(layout)?;
    let mut field = clover.field.write("clover")?;
    let geometry = field.geometry();
    let description = layout.clover()?;
    let shape = (geometry.extents(), Group::Su3, Subset::Full);
    let memory = layout.external(data, &description, shape, 1)?;
    let mut new = CloverField::new(field.device(), geometry, field.precision(), 1)?;
    new.load(&description, &memory, layout.checked())?;
    *field = Arc::new(new);
    Ok(())
}

fn save(clover: &Arc<Clover>, layout: &plaq_layout_params, data: &DataOut) -> Result<()> {
    let layout = LayoutParams::of(layout)?;
    let field = clover.read("clover")?;
    let description = layout.clover()?;
    let shape = (field.geometry().extents(), Group::Su3, Subset::Full);
    field.save(&description, &mut layout.external(data, &description, shape, 1)?)
}

fn log_det_of(clover: &Arc<Clover>, twist: f64, log_det: &mut OutArray<f64>) -> Result<()> {
    if !twist.is_finite() {
        refuse!(BadParameter, "twist", expected("a finite number"), found("{twist}"));
    }
    log_det.set(clover.read("clover")?.log_det(CloverField::square(twist))?.to_vec());
    Ok(())
}

fn det_sign_of(clover: &Arc<Clover>, twist: f64, sign: &mut OutArray<i32>) -> Result<()> {
    if !twist.is_finite() {
        refuse!(BadParameter, "twist", expected("a finite number"), found("{twist}"));
    }
    sign.set(clover.read("clover")?.det_sign(CloverField::square(twist))?.to_vec());
    Ok(())
}

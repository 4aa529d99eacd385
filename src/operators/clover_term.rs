//! The clover term A of an operator and its inverse, made for a parity when it is first needed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::backend::Device;
use crate::bail;
use crate::error::{Result, Status};
use crate::fields::{CloverCoefficients, CloverField, GaugeField, Precision, Subset, Version};

/// The clover blocks A of an operator with their inverse: A^-1, or the two sets of a twisted inverse.
pub(super) struct CloverTerm {
    precision: Precision,
    /// The number s in the twisted inverse, which consists of the sets A H and H = (A^2 + s)^-1; None: the inverse is
    /// A^-1.
    square: Option<f64>,
    direct: Mutex<Parts>,
    inverse: Mutex<Parts>,
    /// The term in another precision from which blocks are copied when they are first needed.
    origin: Option<Arc<CloverTerm>>,
    /// Whether the blocks of A are positive, indefinite or singular; None: not known yet.
    kind: Mutex<Option<Kind>>,
    /// Version of the links that the term was built from.
    built: Version,
}

/// Definiteness of the blocks; the method of their inversion depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Positive,
    Indefinite,
    /// Some block has no inverse, so that only M itself can be applied.
    Singular,
}

/// Blocks of a clover term on one parity or on both. Blocks in `kept` are owned by this object; those in `shared` exist
/// only while others use them.
#[derive(Default)]
struct Parts {
    kept: Vec<Arc<CloverField>>,
    shared: Vec<Weak<CloverField>>,
}

impl Parts {
    fn kept(field: Arc<CloverField>) -> Mutex<Self> {
        Mutex::new(Parts { kept: vec![field], shared: vec![] })
    }
    fn existing(&self) -> Vec<Arc<CloverField>> {
        self.kept.iter().cloned().chain(self.shared.iter().filter_map(Weak::upgrade)).collect()
    }
    fn find(&self, subset: Subset) -> Option<Arc<CloverField>> {
        let fits = |f: &CloverField| [Subset::Full, subset].contains(&f.subset());
        let shared = || self.shared.iter().filter_map(Weak::upgrade).find(|f| fits(f));
        self.kept.iter().find(|f| fits(f)).cloned().or_else(shared)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CloverTerm {
    /// The term with these blocks, which belong to links of version `built`, and with their inverse if that is given.
    pub fn new(
        direct: Arc<CloverField>,
        inverse: Option<Arc<CloverField>>,
        square: Option<f64>,
        links: u64,
    ) -> Self {
        CloverTerm {
            precision: direct.precision(),
            square,
            kind: Mutex::new(inverse.as_ref().map(|_| Kind::Positive)),
            inverse: inverse.map_or_else(Mutex::default, Parts::kept),
            direct: Parts::kept(direct),
            origin: None,
            built: Version::of(links),
        }
    }

    /// Number of sets of blocks in the inverse: one, or two for a twisted inverse.
    pub fn sets(&self) -> usize {
        1 + self.square.is_some() as usize
    }
    pub fn precision(&self) -> Precision {
        self.precision
    }

    fn field(&self, subset: Subset, sets: usize) -> Result<CloverField> {
        let like = self.like();
        CloverField::on(like.device(), like.geometry(), subset, self.precision, sets)
    }
    /// Existing blocks of this term, or of the one that it was copied from, from which its lattice and device are
    /// known.
    fn like(&self) -> Arc<CloverField> {
        lock(&self.root().direct).kept[0].clone()
    }
    /// The term from which this one was copied, directly or through other copies.
    fn root(&self) -> &CloverTerm {
        self.origin.as_ref().map_or(self, |origin| origin.root())
    }

    /// The blocks of A on the sites of `subset`.
    pub fn direct(&self, subset: Subset) -> Result<Arc<CloverField>> {
        let mut parts = lock(&self.direct);
        if let Some(found) = parts.find(subset) {
            return Ok(found);
        }
        let Some(origin) = &self.origin else { bail!(Internal, "a clover term without blocks") };
        let made = Arc::new(self.field(subset, 1)?);
        made.fill_from(&*origin.direct(subset)?)?;
        parts.kept.push(made.clone());
        Ok(made)
    }

    /// The blocks of the inverse on the sites of `subset`, which are computed unless they exist.
    ///
    /// # Errors
    /// `SingularClover`: the block of some site of either parity has no inverse.
    pub fn inverse(&self, subset: Subset) -> Result<Arc<CloverField>> {
        self.check_invertible()?;
        let mut parts = lock(&self.inverse);
        if let Some(found) = parts.find(subset) {
            return Ok(found);
        }
        let made = Arc::new(self.field(subset, self.sets())?);
        for parity in subset.list() {
            match (parts.find(Subset::of_parity(parity)), &self.origin) {
                (Some(half), _) => made.fill_parity(&half, parity)?,
                (None, Some(origin)) => {
                    made.fill_parity(&*origin.inverse(Subset::of_parity(parity))?, parity)?;
                }
                (None, None) => {
                    let positive = self.kind()? == Kind::Positive;
                    self.direct(Subset::Full)?.invert_into(&made, parity, self.square, positive)?;
                }
            }
        }
        parts.shared.retain(|field| field.strong_count() > 0);
        parts.shared.push(Arc::downgrade(&made));
        Ok(made)
    }

    /// Bytes of the inverse blocks on these parities that do not exist yet.
    pub fn missing(&self, parities: impl IntoIterator<Item = usize>) -> u64 {
        let half =
            CloverField::bytes(self.like().geometry(), self.precision, self.sets()) as u64 / 2;
        let parts = lock(&self.inverse);
        let none = |parity: &usize| parts.find(Subset::of_parity(*parity)).is_none();
        half * parities.into_iter().filter(none).count() as u64
    }

    fn kind(&self) -> Result<Kind> {
        let mut known = lock(&self.kind);
        if let Some(kind) = *known {
            return Ok(kind);
        }
        let found = kind_of(&*self.direct(Subset::Full)?, self.square)?;
        *known = Some(found);
        Ok(found)
    }

    /// An error if a block has no inverse.
    ///
    /// # Errors
    /// `SingularClover`, with the site.
    pub fn check_invertible(&self) -> Result<()> {
        if let Some(origin) = &self.origin {
            return origin.check_invertible();
        }
        if self.kind()? != Kind::Singular {
            return Ok(());
        }
        if self.precision != Precision::F16 {
            self.direct(Subset::Full)?.log_det(self.square)?;
        }
        bail!(SingularClover, "the clover term cannot be inverted");
    }

    /// A copy in another precision, whose blocks are copied from this term when they are first needed; it keeps this
    /// term alive.
    pub fn copy_on_demand(self: &Arc<Self>, precision: Precision) -> Self {
        CloverTerm {
            precision,
            square: self.square,
            direct: Mutex::default(),
            inverse: Mutex::default(),
            origin: Some(self.clone()),
            kind: Mutex::default(),
            built: Version::of(self.built.get()),
        }
    }

    /// An independent copy in another precision, with blocks on both parities.
    pub fn whole_copy(&self, precision: Precision) -> Result<Self> {
        let direct = Arc::new(self.direct(Subset::Full)?.to(precision)?);
        let copy = Self::new(direct, None, self.square, self.built.get());
        let mut kept = vec![];
        for parity in 0..2 {
            let subset = Subset::of_parity(parity);
            match self.inverse(subset) {
                Ok(inverse) => {
                    let half = copy.field(subset, self.sets())?;
                    half.fill_parity(&inverse, parity)?;
                    kept.push(Arc::new(half));
                }
                Err(e) if e.status == Status::SingularClover => {}
                Err(e) => return Err(e),
            }
        }
        *lock(&copy.kind) = Some(self.root().kind()?);
        lock(&copy.inverse).kept = kept;
        Ok(copy)
    }

    /// This term on another device, with all numbers zero, and with those inverse blocks that are kept here.
    pub fn like_on(&self, device: &Device) -> Result<Self> {
        let like = |parts: &Mutex<Parts>| -> Result<_> {
            let like = |f: &Arc<CloverField>| {
                CloverField::on(device, f.geometry(), f.subset(), f.precision(), f.sets())
                    .map(Arc::new)
            };
            let kept = lock(parts).kept.iter().map(like).collect::<Result<_>>()?;
            Ok(Mutex::new(Parts { kept, shared: vec![] }))
        };
        let origin = match &self.origin {
            Some(origin) => Some(Arc::new(origin.like_on(device)?)),
            None => None,
        };
        Ok(CloverTerm {
            precision: self.precision,
            square: self.square,
            direct: like(&self.direct)?,
            inverse: like(&self.inverse)?,
            origin,
            kind: Mutex::new(self.kind_known().filter(|kind| *kind != Kind::Singular)),
            built: Version::of(self.built.get()),
        })
    }
    fn kind_known(&self) -> Option<Kind> {
        *lock(&self.kind)
    }

    /// Computes the blocks again, and those inverse blocks that exist, from links of version `now`, in their memory.
    pub fn rebuild(
        &self,
        links: &GaugeField,
        coefficients: CloverCoefficients,
        now: u64,
    ) -> Result<()> {
        if self.origin.is_some() {
            bail!(Unsupported, "update: a shared copy follows its operator");
        }
        if self.built.get() == now {
            return Ok(());
        }
        let direct = self.direct(Subset::Full)?;
        direct.rebuild(links, coefficients)?;
        let short = self.precision == Precision::F16;
        let from = match short {
            true => Arc::new(CloverField::build(links, coefficients)?),
            false => direct,
        };
        let mut parts = lock(&self.inverse);
        let mut known = lock(&self.kind);
        // An inverse cannot be computed later from blocks of A in 16 bits, so it is computed now.
        for parity in (0..2).filter(|_| short) {
            let half = Subset::of_parity(parity);
            if parts.find(half).is_none() {
                parts.kept.push(Arc::new(self.field(half, self.sets())?));
            }
        }
        let existing = parts.existing();
        *known = None;
        if !existing.is_empty() {
            let kind = kind_of(&from, self.square)?;
            for (part, parity) in
                existing.iter().flat_map(|f| f.subset().list().map(move |p| (f, p)))
            {
                let positive = kind == Kind::Positive;
                match (kind, short) {
                    (Kind::Singular, _) => {}
                    (_, false) => from.invert_into(part, parity, self.square, positive)?,
                    (_, true) => {
                        let half = Subset::of_parity(parity);
                        let (device, geometry) = (from.device(), from.geometry());
                        let (precision, sets) = (from.precision(), self.sets());
                        let fine = CloverField::on(device, geometry, half, precision, sets)?;
                        from.invert_into(&fine, parity, self.square, positive)?;
                        part.fill_parity(&fine, parity)?;
                    }
                }
            }
            *known = Some(kind);
        }
        self.built.set(now);
        Ok(())
    }

    /// Copies blocks that have changed in `other`, the term from which this one was copied, into its own memory.
    pub fn follow(&self, other: &CloverTerm) -> Result<()> {
        if self.built.get() == other.built.get() {
            return Ok(());
        }
        for part in lock(&self.direct).existing() {
            part.fill_from(&*other.direct(part.subset())?)?;
        }
        for part in lock(&self.inverse).existing() {
            match other.inverse(part.subset()) {
                // If a block is singular, the inverse is not copied; it is refused until a later update makes one.
                Err(e) if e.status == Status::SingularClover => {}
                inverse => part.fill_from(&*inverse?)?,
            }
        }
        self.built.set(other.built.get());
        Ok(())
    }
}

fn kind_of(direct: &CloverField, square: Option<f64>) -> Result<Kind> {
    match direct.positive(square) {
        Ok(true) => Ok(Kind::Positive),
        Ok(false) => Ok(Kind::Indefinite),
        Err(e) if e.status == Status::SingularClover => Ok(Kind::Singular),
        Err(e) => Err(e),
    }
}

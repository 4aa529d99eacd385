//! Members of QUDA's structs: each is used, a result, of one supported value, or ignored, as its table says.

use plaq::capi::quda::params::*;
use plaq::capi::quda::params_invert::QudaInvertParam;
use plaq::capi::quda::params_parts::*;
use plaq::capi::quda::records::{Record, Role};
use plaq::capi::quda::setup::RECORDS;

/// `right` passes its check; with other bytes in a member it fails where the table has one supported value, and else
/// passes.
fn walk<T: Record>(right: T) -> usize {
    assert_eq!(right.check("param").map_err(|e| e.message), Ok(()), "{}", T::NAME);
    let (size, fields) = (&T::FIELDS[0], &T::FIELDS[1..]);
    assert_eq!(fields.len(), T::ROLES.len());
    let refused = |offset: usize, size: usize| {
        let mut wrong = right;
        let at = (&raw mut wrong).cast::<u8>();
        // SAFETY: inside of the struct, whose members are numbers and addresses that nothing follows.
        unsafe { at.add(offset).write_bytes(0x2a, size) };
        wrong.check("param").err().map(|e| e.message)
    };
    assert!(
        refused(size.offset, size.size).is_some_and(|m| m.contains("param.struct_size: expected"))
    );
    for (field, (name, role)) in fields.iter().zip(T::ROLES) {
        assert_eq!(field.name, *name);
        let refused = refused(field.offset, field.size);
        match role {
            Role::Only(value) => {
                let message = refused.unwrap_or_else(|| panic!("{}.{name}", T::NAME));
                assert!(
                    message.starts_with(&format!("param.{name}: expected {value}, found")),
                    "{message}"
                );
            }
            _ => assert_eq!(refused, None, "{}.{name}", T::NAME),
        }
    }
    // What is printed has a line for each.
    assert_eq!(right.lines().len(), T::FIELDS.len());
    1
}

#[test]
fn every_member_has_its_role() {
    let walked = walk(QudaGaugeParam::NEW)
        + walk(QudaInvertParam::NEW)
        + walk(QudaMultigridParam::NEW)
        + walk(QudaEigParam::NEW)
        + walk(QudaGaugeObservableParam::NEW)
        + walk(QudaGaugeSmearParam::NEW)
        + walk(QudaBLASParam::NEW)
        + walk(QudaQuarkSmearParam::NEW);
    assert_eq!(walked, RECORDS.len());
}

//! The Fortran module, from the tables of src/capi.

use std::collections::HashMap;
use std::fmt::Write as _;

use plaq::capi::table::{Doc, Item, Pair};
use plaq::capi::MODULES;
use plaq::error::Status;

use super::header::split;

const HEAD: &str = "\
!> plaq: embeddable lattice QCD, for Fortran 2008 with iso_c_binding. Generated from src/capi; do
!> not edit. The rules are those of include/plaq.h. Strings that go in end with c_null_char; strings
!> that come back as c_ptr are read with plaq_text. Absent optional arguments are NULL.
module plaq
  use, intrinsic :: iso_c_binding
  implicit none
  public
";

const TAIL: &str = "  end interface

contains

  !> A Fortran string from a C string.
  function plaq_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, n
    text = ''
    if (.not. c_associated(pointer)) return
    call c_f_pointer(pointer, letters, [huge(0)])
    n = 0
    do while (letters(n + 1) /= c_null_char)
      n = n + 1
    end do
    text = repeat(' ', n)
    do i = 1, n
      text(i:i) = letters(i)
    end do
  end function
end module
";

/// What a plaq_* type is to Fortran.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Struct,
    Number,
    Callback,
}

struct Types(HashMap<&'static str, Kind>);

pub fn module() -> String {
    let mut types = Types(HashMap::from([("plaq_status", Kind::Number)]));
    let items = || MODULES.iter().flat_map(|m| m.items);
    for item in items() {
        match item {
            Item::Handle { name, .. } | Item::Struct { name, .. } => {
                types.0.insert(name, Kind::Struct)
            }
            Item::Constants { name, .. } => types.0.insert(name, Kind::Number),
            Item::Callback { name, .. } => types.0.insert(name, Kind::Callback),
            Item::Function { .. } | Item::Enum { .. } | Item::Define { .. } => None,
        };
    }
    let mut s = String::from(HEAD);
    s.push_str("\n  ! Statuses\n");
    for (status, name, _) in Status::TABLE {
        constant(&mut s, &format!("PLAQ_{name}"), *status as i32);
    }
    for module in MODULES {
        let _ = write!(s, "\n  ! {}\n", module.title);
        module.items.iter().for_each(|i| types.declare_item(&mut s, i));
    }
    s.push_str("\n  interface\n");
    for item in items() {
        if let Item::Function { name, doc, args, returns } = item {
            types.function(&mut s, name, doc, args, returns);
        }
    }
    s.push_str(TAIL);
    s
}

fn constant(s: &mut String, name: &str, number: i32) {
    let _ = writeln!(s, "  integer(c_int32_t), parameter :: {name} = {number}");
}

fn comment(s: &mut String, indent: &str, doc: Doc) {
    for line in doc {
        let _ = writeln!(s, "{indent}!> {}", line.trim());
    }
}

impl Types {
    fn declare_item(&self, s: &mut String, item: &Item) {
        match item {
            Item::Handle { name, doc } => {
                comment(s, "  ", doc);
                let _ = writeln!(
                    s,
                    "  type, bind(c) :: {name}\n    integer(c_int64_t) :: id = 0\n  end type"
                );
            }
            Item::Constants { doc, values, .. } => {
                comment(s, "  ", doc);
                for (name, number, doc) in *values {
                    comment(s, "  ", doc);
                    constant(s, name, *number);
                }
            }
            Item::Callback { name, doc, args, .. } => {
                let _ = writeln!(s, "  !> {name}: a bind(c) procedure; pass c_funloc of it.");
                comment(s, "  ", doc);
                let names: Vec<&str> = args.iter().map(|a| a.0).collect();
                let _ = writeln!(s, "  !> Arguments: {}.", names.join(", "));
            }
            Item::Struct { name, doc, fields, .. } => {
                comment(s, "  ", doc);
                let _ = writeln!(s, "  type, bind(c) :: {name}");
                for field in *fields {
                    comment(s, "    ", field.doc);
                    let (wrapper, inner) = split(field.ty);
                    let (ty, shape) = match wrapper.as_str() {
                        "[]" => {
                            let (ty, n) = inner.split_once(';').expect("an array type");
                            (ty.to_string(), format!("({n})"))
                        }
                        _ => (inner, String::new()),
                    };
                    let _ = writeln!(s, "    {} :: {}{shape}", self.ty(&ty), field.name);
                }
                s.push_str("  end type\n");
            }
            // Nothing of plaq.h.
            Item::Function { .. } | Item::Enum { .. } | Item::Define { .. } => {}
        }
    }

    fn function(&self, s: &mut String, name: &str, doc: Doc, args: &[Pair], returns: &str) {
        comment(s, "    ", doc);
        let names: Vec<&str> = args.iter().map(|a| a.0).collect();
        let result = if returns == "Text" { "type(c_ptr)" } else { "integer(c_int32_t)" };
        let line = format!("    {result} function {name}({}) bind(c)", names.join(", "));
        let _ = writeln!(
            s,
            "{}",
            if line.len() > 100 { line.replace(", ", ", &\n        ") } else { line }
        );
        if !args.is_empty() {
            s.push_str("      import\n");
        } else {
            s.push_str("      import :: c_ptr, c_int32_t\n");
        }
        for (arg, ty) in args {
            let _ = writeln!(
                s,
                "      {} :: {arg}{}",
                self.argument(ty),
                if is_list(ty) { "(*)" } else { "" }
            );
        }
        s.push_str("    end function\n");
    }

    fn argument(&self, ty: &str) -> String {
        let (wrapper, inner) = split(ty);
        match (wrapper.as_str(), inner.as_str()) {
            ("Params", t) => format!("{}, intent(in), optional", self.ty(t)),
            ("Report", t) => format!("{}, intent(inout), optional", self.ty(t)),
            ("MaybeArray" | "MaybeOut", t) => format!("{}, intent(inout), optional", self.ty(t)),
            ("Out" | "OutArray" | "Init", t) => format!("{}, intent(inout)", self.ty(t)),
            ("Array", t) => format!("{}, intent(in)", self.ty(t)),
            ("", "Text") => "character(kind=c_char), intent(in)".into(),
            ("", "TextOut") => "character(kind=c_char), intent(inout)".into(),
            (_, t) => format!("{}, value", self.ty(t)),
        }
    }

    fn ty(&self, ty: &str) -> String {
        match ty {
            "i32" => "integer(c_int32_t)".into(),
            "i64" => "integer(c_int64_t)".into(),
            "f64" => "real(c_double)".into(),
            "*mutc_void" | "*constc_char" | "*consti32" | "Data" | "DataOut" => {
                "type(c_ptr)".into()
            }
            name => match self.0.get(name) {
                Some(Kind::Number) => "integer(c_int32_t)".into(),
                Some(Kind::Struct) => format!("type({name})"),
                Some(Kind::Callback) => "type(c_funptr)".into(),
                None => panic!("no Fortran type for {name}"),
            },
        }
    }
}

/// Text and arrays come as the address of their first element.
fn is_list(ty: &str) -> bool {
    let (wrapper, inner) = split(ty);
    matches!(wrapper.as_str(), "Array" | "OutArray" | "MaybeArray")
        || matches!(inner.as_str(), "Text" | "TextOut")
}

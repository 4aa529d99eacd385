//! The Fortran module, from the tables of interface/src/capi.

use std::fmt::Write as _;

use plaq::capi::table::{Argument, Factor, Item, Pass, Type};
use plaq::capi::MODULES;
use plaq::error::Status;

use super::header::{length, with_lengths};

const HEAD: &str = "\
!> plaq: embeddable lattice QCD, for Fortran 2008 with iso_c_binding. Generated from interface/src/capi; do
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

pub fn module() -> String {
    let items = || MODULES.iter().flat_map(|m| m.items);
    let mut s = String::from(HEAD);
    s.push_str("\n  ! Statuses\n");
    for (status, name, _) in Status::TABLE {
        constant(&mut s, &format!("PLAQ_{name}"), *status as i32);
    }
    for module in MODULES {
        let _ = write!(s, "\n  ! {}\n", module.title);
        module.items.iter().for_each(|i| declare_item(&mut s, i));
    }
    s.push_str("\n  interface\n");
    for item in items() {
        if let Item::Function { name, doc, args, returns } = item {
            function(&mut s, name, &with_lengths(doc, args), args, returns);
        }
    }
    s.push_str(TAIL);
    s
}

fn constant(s: &mut String, name: &str, number: i32) {
    let _ = writeln!(s, "  integer(c_int32_t), parameter :: {name} = {number}");
}

fn comment<T: AsRef<str>>(s: &mut String, indent: &str, doc: &[T]) {
    for line in doc {
        let _ = writeln!(s, "{indent}!> {}", line.as_ref().trim());
    }
}

fn declare_item(s: &mut String, item: &Item) {
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
            for value in *values {
                comment(s, "  ", value.doc);
                constant(s, value.name, value.number);
            }
        }
        Item::Callback { name, doc, args, .. } => {
            let _ = writeln!(s, "  !> {name}: a bind(c) procedure; pass c_funloc of it.");
            comment(s, "  ", doc);
            let names: Vec<&str> = args.iter().map(|a| a.name).collect();
            let _ = writeln!(s, "  !> Arguments: {}.", names.join(", "));
        }
        Item::Struct { name, doc, fields, .. } => {
            comment(s, "  ", doc);
            let _ = writeln!(s, "  type, bind(c) :: {name}");
            for field in *fields {
                comment(s, "    ", field.doc);
                let (ty, shape) = match field.ty {
                    Type::Array(ty, n) => (*ty, format!("({n})")),
                    ty => (ty, String::new()),
                };
                let _ = writeln!(s, "    {} :: {}{shape}", fortran_type(&ty), field.name);
            }
            s.push_str("  end type\n");
        }
        // Items of QUDA's headers, which plaq.h does not have.
        Item::Function { .. } | Item::Enum { .. } | Item::Define { .. } => {}
    }
}

fn function(s: &mut String, name: &str, doc: &[String], args: &[Argument], returns: &Type) {
    comment(s, "    ", doc);
    let names: Vec<&str> = args.iter().map(|a| a.name).collect();
    let result = fortran_type(returns);
    let line = format!("    {result} function {name}({}) bind(c)", names.join(", "));
    let _ = writeln!(
        s,
        "{}",
        if line.len() > 100 { line.replace(", ", ", &\n        ") } else { line }
    );
    s.push_str(if args.is_empty() {
        "      import :: c_ptr, c_int32_t\n"
    } else {
        "      import\n"
    });
    // Arguments that give the length of an array are declared before the array.
    let (arrays, others): (Vec<&Argument>, Vec<_>) = args.iter().partition(|a| a.pass.is_array());
    for arg in others.into_iter().chain(arrays) {
        let dimension = match arg.pass {
            Pass::Text | Pass::TextOut => "(*)".into(),
            _ if arg.pass.is_array() => format!("({})", dimension(arg)),
            _ => String::new(),
        };
        let _ = writeln!(s, "      {} :: {}{dimension}", argument(arg), arg.name);
    }
    s.push_str("    end function\n");
}

/// The length of an array, if it is given by arguments of the call.
fn dimension(arg: &Argument) -> String {
    match arg.length {
        Some(factors) if !factors.iter().any(|f| matches!(f, Factor::Words(_))) => length(factors),
        _ => "*".into(),
    }
}

fn argument(arg: &Argument) -> String {
    let (ty, intent) = match arg.pass {
        Pass::Params => (fortran_type(&arg.ty), "intent(in), optional"),
        Pass::Report | Pass::MaybeArray | Pass::MaybeOut => {
            (fortran_type(&arg.ty), "intent(inout), optional")
        }
        Pass::Out | Pass::OutArray | Pass::Init => (fortran_type(&arg.ty), "intent(inout)"),
        Pass::Array => (fortran_type(&arg.ty), "intent(in)"),
        Pass::Text => ("character(kind=c_char)".into(), "intent(in)"),
        Pass::TextOut => ("character(kind=c_char)".into(), "intent(inout)"),
        Pass::Data | Pass::DataOut => ("type(c_ptr)".into(), "value"),
        _ => (fortran_type(&arg.ty), "value"),
    };
    format!("{ty}, {intent}")
}

fn fortran_type(ty: &Type) -> String {
    match ty {
        Type::I32 | Type::Enum(_) => "integer(c_int32_t)".into(),
        Type::I64 => "integer(c_int64_t)".into(),
        Type::F64 => "real(c_double)".into(),
        Type::Address | Type::Text | Type::Numbers(_) => "type(c_ptr)".into(),
        Type::Handle(name) | Type::Struct(name) => format!("type({name})"),
        Type::Callback(_) => "type(c_funptr)".into(),
        other => panic!("no Fortran type for {other:?}"),
    }
}

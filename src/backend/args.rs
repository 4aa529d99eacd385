//! The argument structs of kernels. Each is written once, in a table; macros make of it the Rust struct
//! (`#[repr(C)]`) and the text of the C++ struct with assertions on its size and offsets. build.rs also reads this
//! file.
//!
//! A `spec` member is a constant: on a GPU its value is compiled into the kernel, on a CPU it is read from the struct;
//! C++ reads it by a function, e.g. `a.dagger()`. An `arg` is a plain member, e.g. `a.coef[0]`. A `sub` is a nested
//! struct of the tables.

/// Address in the memory of the device on which a kernel runs; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Ptr(pub u64);

impl Ptr {
    pub const NULL: Ptr = Ptr(0);
    pub fn offset(self, bytes: u64) -> Ptr {
        if self.0 == 0 {
            self
        } else {
            Ptr(self.0 + bytes)
        }
    }
}

/// The types that members of argument structs may have, with their declaration in C++.
pub trait CppField {
    fn declare(name: &str) -> String;
}
macro_rules! cpp_scalar { ($($t:ty => $c:literal),*) => {$(
    impl CppField for $t { fn declare(name: &str) -> String { format!(concat!($c, " {}"), name) } }
)*}}
cpp_scalar! { i32 => "int", i64 => "i64", u32 => "u32", u64 => "u64", f64 => "double", Ptr => "char*" }
impl<T: CppField, const N: usize> CppField for [T; N] {
    fn declare(name: &str) -> String {
        T::declare(&format!("{name}[{N}]"))
    }
}

/// The values of the `spec` members of a struct, each as (name of the C++ macro, value).
pub type Specs = Vec<(&'static str, i64)>;

/// An argument struct of the table.
pub trait KernelArgs: Copy {
    const NAME: &'static str;
    fn specs(&self, out: &mut Specs);
    /// Calls `see` with every geometry and field in the arguments, including those in nested structs.
    fn views(&self, see: &mut dyn FnMut(Seen));
}

/// A part of a kernel's arguments that is checked before a launch.
pub enum Seen<'a> {
    Geom(&'a Geom),
    Field(&'a FieldView),
}

/// A function that calls the function given to it with every geometry and field in a call's arguments
/// ([`KernelArgs::views`]).
#[allow(dead_code)]
pub type Views<'a> = &'a dyn Fn(&mut dyn FnMut(Seen));

macro_rules! kernel_args {
    (@specs spec $s:ident $self:ident $f:ident $out:ident) => {
        $out.push((concat!("PLAQ_SPEC_", stringify!($s), "_", stringify!($f)), $self.$f as i64));
    };
    (@specs arg $s:ident $self:ident $f:ident $out:ident) => {};
    (@specs sub $s:ident $self:ident $f:ident $out:ident) => { $self.$f.specs($out); };
    (@views sub $self:ident $f:ident $see:ident) => { $self.$f.views($see); };
    (@views $k:ident $self:ident $f:ident $see:ident) => {};
    (@kind spec $t:ty) => { CppKind::Spec };
    (@kind arg $t:ty) => { CppKind::Arg(<$t as CppField>::declare) };
    (@kind sub $t:ty) => { CppKind::Sub };
    (table $table:ident; $( $(#[$m:meta])* struct $name:ident { $( $(#[$fm:meta])* $kind:ident $f:ident : $t:ty, )* } )*) => {
        $(
            $(#[$m])*
            #[derive(Clone, Copy, Debug)]
            #[repr(C)]
            pub struct $name { $( $(#[$fm])* pub $f: $t, )* }
            impl KernelArgs for $name {
                const NAME: &'static str = stringify!($name);
                #[allow(unused_variables)]
                fn specs(&self, out: &mut Specs) { $( kernel_args!(@specs $kind $name self $f out); )* }
                #[allow(unused_variables)]
                fn views(&self, see: &mut dyn FnMut(Seen)) {
                    let any: &dyn std::any::Any = self;
                    if let Some(field) = any.downcast_ref() { see(Seen::Field(field)); }
                    if let Some(geom) = any.downcast_ref() { see(Seen::Geom(geom)); }
                    $( kernel_args!(@views $kind self $f see); )*
                }
            }
            impl Default for $name {
                fn default() -> Self { $name { $( $f: arg_default(), )* } }
            }
            impl ArgDefault for $name { fn get() -> Self { Self::default() } }
        )*
        /// The structs of the table, as declared in C++.
        #[allow(dead_code)]
        static $table: &[CppStruct] = &[$(CppStruct {
            name: stringify!($name),
            bytes: size_of::<$name>(),
            members: &[$(CppMember {
                kind: kernel_args!(@kind $kind $t),
                name: stringify!($f),
                ty: stringify!($t),
                offset: std::mem::offset_of!($name, $f),
            }),*],
        }),*];
    };
}

/// The declaration in C++ of a kernel's argument struct, for compilers of GPUs.
#[allow(dead_code)]
struct CppStruct {
    name: &'static str,
    bytes: usize,
    members: &'static [CppMember],
}

/// Member of an argument struct: kind, name, type in Rust, and offset in bytes.
#[allow(dead_code)]
struct CppMember {
    kind: CppKind,
    name: &'static str,
    ty: &'static str,
    offset: usize,
}

/// The kind of a member: the words `spec`, `arg` and `sub` of the tables.
#[allow(dead_code)]
enum CppKind {
    Spec,
    /// A plain member, with the function that returns its C++ declaration for a name.
    Arg(fn(&str) -> String),
    Sub,
}

impl CppStruct {
    /// The declaration of the struct in C++, with assertions on its size and on the offset of every member.
    #[allow(dead_code)]
    fn text(&self) -> String {
        let s = self.name;
        let mut h = format!("struct {s} {{\n");
        for CppMember { kind, name: f, ty, .. } in self.members {
            h.push_str(&match kind {
                CppKind::Arg(declare) => format!("  {};\n", declare(f)),
                CppKind::Sub => format!("  {ty} {f};\n"),
                CppKind::Spec => format!("  int {f}_;\n#ifdef PLAQ_SPEC_{s}_{f}\n  PLAQ_FN constexpr int {f}() const {{ return PLAQ_SPEC_{s}_{f}; }}\n#else\n  PLAQ_FN int {f}() const {{ return {f}_; }}\n#endif\n"),
            });
        }
        h.push_str(&format!("}};\nstatic_assert(sizeof({s}) == {}, \"layout\");\n", self.bytes));
        for CppMember { kind, name, offset, .. } in self.members {
            let end = if matches!(kind, CppKind::Spec) { "_" } else { "" };
            h.push_str(&format!(
                "static_assert(PLAQ_AT({s}, {name}{end}) == {offset}, \"layout\");\n"
            ));
        }
        h
    }
}

/// The text of `plaq_args.h`: C++ declarations of those constants and structs for whose names `used` returns true, and
/// of the structs nested in these.
#[allow(dead_code)]
pub fn cpp_args(used: &dyn Fn(&str) -> bool) -> String {
    let mut h = String::from("// Generated from src/backend/args.rs.\n#pragma once\n#include \"plaq_dialect.h\"\nnamespace PLAQ_NS {\n");
    h.push_str("#define PLAQ_AT(S, M) __builtin_offsetof(S, M)\n#ifdef __CUDACC__\n#undef PLAQ_AT\n#define PLAQ_AT(S, M) __INTADDR__(&(((S*)0)->M))\n#endif\n");
    for (name, value) in CONSTANTS.iter().filter(|(name, _)| used(name)) {
        h.push_str(&format!("constexpr int {name} = {value};\n"));
    }
    let structs = FIELD_ARGS.iter().chain(COARSE_ARGS).chain(HADRON_ARGS);
    // Nested structs stand before the structs that contain them, in the tables as in C++.
    let mut wanted: Vec<&str> = Vec::new();
    for CppStruct { name, members, .. } in structs.clone().rev() {
        if used(name) || wanted.contains(name) {
            wanted.push(name);
            wanted.extend(members.iter().map(|member| member.ty));
        }
    }
    for row in structs.filter(|row| wanted.contains(&row.name)) {
        h.push_str(&row.text());
    }
    h.push_str("}  // namespace PLAQ_NS\n");
    h
}

/// The zero value of every type that a member may have.
pub trait ArgDefault {
    fn get() -> Self;
}
macro_rules! arg_default { ($($t:ty),*) => {$( impl ArgDefault for $t { fn get() -> Self { Default::default() } } )*}}
arg_default!(i32, i64, u32, u64, f64, Ptr);
impl<T: ArgDefault + Copy, const N: usize> ArgDefault for [T; N] {
    fn get() -> Self {
        [T::get(); N]
    }
}
fn arg_default<T: ArgDefault>() -> T {
    T::get()
}

macro_rules! constants {
    ($($(#[$m:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$m])* #[allow(dead_code)] pub const $name: i32 = $value;)*
        /// Constants that Rust and the kernels share.
        pub const CONSTANTS: &[(&str, i32)] = &[$((stringify!($name), $value)),*];
    };
}

include!("constants_table.rs");
include!("args_table.rs");
include!("args_coarse_table.rs");
include!("args_hadrons_table.rs");

//! One table of statuses: enum, number, name and help text. The C header, the Fortran
//! constants and docs/errors.md are generated from it.

/// Result of everything fallible in plaq.
pub type Result<T> = std::result::Result<T, Error>;

/// An error. Most errors refuse an argument, with its name (`argument`), what was `expected` and what was `found`;
/// others consist of a `sentence`. The text is made where it is printed: [`Error::message`] is that of the C
/// interface, [`Error::in_words`] that of programs and languages whose values have words.
#[derive(Clone, Debug)]
pub struct Error(Box<Parts>);

/// The parts of an [`Error`]; those that it does not have are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    pub status: Status,
    /// File, line of an input or rank to which it refers, the outermost first.
    pub place: String,
    /// Name of the argument that is refused, e.g. `params.tol`.
    pub argument: String,
    pub expected: String,
    pub found: String,
    /// Sentence that says what happened, if no argument is refused.
    pub sentence: String,
    /// Sentence that says what the user can do; empty if there is nothing.
    pub hint: String,
}

impl Error {
    /// An error that a sentence describes.
    pub fn new(status: Status, sentence: impl Into<String>) -> Self {
        let [place, argument, expected, found, hint] = Default::default();
        let sentence = shortened(sentence.into());
        Error(Box::new(Parts { status, place, argument, expected, found, sentence, hint }))
    }

    /// An error that refuses an argument.
    pub fn refused(
        status: Status,
        argument: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let mut error = Error::new(status, "");
        error.0.argument = argument.into();
        error.0.expected = shortened(expected.into());
        error.0.found = shortened(found.into());
        error
    }

    /// Adds a hint of what the user can do to the error.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = hint.into();
        self
    }

    /// Adds a place (a file, line or rank) to the error, before those that it has.
    pub fn at(mut self, place: impl std::fmt::Display) -> Self {
        self.0.place = match &*self.0.place {
            "" => place.to_string(),
            inner => format!("{place}: {inner}"),
        };
        self
    }

    /// Replaces the status of the error.
    pub fn with_status(mut self, status: Status) -> Self {
        self.0.status = status;
        self
    }

    /// Replaces the argument's name in the error by the one that its caller uses, which `argument` returns for the
    /// present name.
    pub fn renamed(mut self, argument: impl FnOnce(&str) -> String) -> Self {
        self.0.argument = argument(&self.0.argument);
        self
    }

    /// Adds `more`, another value that would have been accepted, to the error's text of what was expected.
    pub fn or_expected(mut self, more: &str) -> Self {
        self.0.expected.push_str(more);
        self
    }

    /// The status and the texts of the error's parts, to be sent to other ranks.
    pub(crate) fn parts(&self) -> (Status, [&str; 6]) {
        let Parts { status, place, argument, expected, found, sentence, hint } = &*self.0;
        (*status, [place, argument, expected, found, sentence, hint])
    }

    /// Makes an error from its status and the texts that [`Error::parts`] returns.
    pub(crate) fn from_parts(status: Status, parts: [String; 6]) -> Self {
        let [place, argument, expected, found, sentence, hint] = parts;
        Error(Box::new(Parts { status, place, argument, expected, found, sentence, hint }))
    }

    /// The text of the error: argument, expected and found, or its sentence, without place and hint.
    pub fn what(&self) -> String {
        let Parts { argument, expected, found, sentence, .. } = &**self;
        let name = if argument.is_empty() { String::new() } else { format!("{argument}: ") };
        match (&**sentence, &**expected, &**found) {
            ("", "", "") => argument.clone(),
            ("", "", _) => format!("{name}found {found}"),
            ("", _, "") => format!("{name}expected {expected}"),
            ("", ..) => format!("{name}expected {expected}, found {found}"),
            (sentence, ..) => sentence.to_string(),
        }
    }

    /// The text of the C interface: `place: argument: expected ..., found ...; hint`.
    pub fn message(&self) -> String {
        let Parts { place, hint, .. } = &**self;
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        let hint = if hint.is_empty() { String::new() } else { format!("; {hint}") };
        format!("{place}{}{hint}", self.what())
    }

    /// The text for programs and languages that name values by words, e.g. `full` for `PLAQ_SYSTEM_FULL`, and
    /// parameters without their struct. `words` returns the word for a constant of the C interface.
    pub fn in_words(&self, words: &dyn Fn(&str) -> Option<String>) -> String {
        let mut plain = self.clone();
        let Parts { argument, expected, found, sentence, hint, .. } = &mut *plain.0;
        if let Some(member) = argument.strip_prefix("params.") {
            *argument = member.into();
        }
        for text in [expected, found, sentence, hint] {
            *text = spelled(text, words);
        }
        plain.message()
    }
}

impl std::ops::Deref for Error {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:?}: {}", self.status, self.message())
    }
}

impl std::error::Error for Error {}

/// Replaces constants of the C interface in a text by words; `words` returns the word for a constant.
pub fn spelled(text: &str, words: &dyn Fn(&str) -> Option<String>) -> String {
    let part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let (mut all, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("PLAQ_") {
        let (before, from) = rest.split_at(at);
        let (name, behind) = from.split_at(from.find(|c| !part(c)).unwrap_or(from.len()));
        all.push_str(before);
        all.push_str(words(name).as_deref().unwrap_or(name));
        rest = behind;
    }
    all + rest
}

/// The message with very large and small numbers in exponential form: Rust writes all zeros of 1e300.
fn shortened(message: String) -> String {
    const LONG: usize = 24;
    let digit = |c: char| c.is_ascii_digit() || c == '.';
    let short = |piece: &str| {
        let end = piece.trim_end_matches([' ', ',', ';', ':', ')', ']']).len();
        let start = end - piece[..end].trim_start_matches(['(', '[', '-']).len();
        let number = &piece[start..end];
        let value = Some(number).filter(|n| n.len() > LONG && n.chars().all(digit));
        match value.and_then(|n| n.parse::<f64>().ok()) {
            Some(value) => format!("{}{value:e}{}", &piece[..start], &piece[end..]),
            None => piece.to_string(),
        }
    };
    if message.len() <= LONG {
        return message;
    }
    message.split_inclusive(' ').map(short).collect()
}

/// Returns an error with a sentence: `bail!(Status, "text {}", value)`, or with a hint: `bail!(Status,
/// sentence("text"), hint("text"))`.
#[macro_export]
macro_rules! bail {
    ($status:ident, sentence($($sentence:tt)*), hint($($hint:tt)*) $(,)?) => {
        return Err($crate::error::Error::new(
            $crate::error::Status::$status,
            format!($($sentence)*),
        ).hint(format!($($hint)*)))
    };
    ($status:ident, $($arg:tt)*) => {
        return Err($crate::error::Error::new($crate::error::Status::$status, format!($($arg)*)))
    };
}

/// Returns an error that refuses an argument: `refuse!(Status, "name", expected("0 to 1"), found("{x}"))`; `found`
/// may be left out and `hint("text")` added.
#[macro_export]
macro_rules! refuse {
    ($($refused:tt)*) => {
        return Err($crate::refused!($($refused)*))
    };
}

/// Makes the error that [`refuse!`] returns.
#[macro_export]
macro_rules! refused {
    (
        $status:ident, $argument:literal, expected($($expected:tt)*)
        $(, found($($found:tt)*))? $(, hint($($hint:tt)*))? $(,)?
    ) => {
        $crate::refused!(
            $status, format!($argument), expected($($expected)*)
            $(, found($($found)*))? $(, hint($($hint)*))?
        )
    };
    (
        $status:ident, $argument:expr, expected($($expected:tt)*)
        $(, found($($found:tt)*))? $(, hint($($hint:tt)*))? $(,)?
    ) => {
        $crate::error::Error::refused(
            $crate::error::Status::$status,
            $argument,
            format!($($expected)*),
            String::new() $(+ &format!($($found)*))?,
        )$(.hint(format!($($hint)*)))?
    };
}

/// Defines the texts for an enum's values in messages: the names in the C header if there are any. `Debug` writes the
/// same, so that messages never spell a value as Rust does.
#[macro_export]
macro_rules! words {
    ($type:ident { $($value:ident => $word:expr,)* }) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.pad(match self { $($type::$value => $word,)* })
            }
        }
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
pub use crate::words;

/// A number as text with `digits` significant digits, in exponential form only where that is shorter.
pub fn significant(x: f64, digits: usize) -> String {
    let scientific = format!("{x:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    match exponent.parse::<i32>() {
        Ok(e) if (-3..digits.max(3) as i32).contains(&e) => {
            trim(&format!("{x:.*}", (digits as i32 - 1 - e).max(0) as usize))
        }
        _ => format!("{}e{exponent}", trim(mantissa)),
    }
}

/// Returns an error unless the count `found` is from `least` to `max`; with more than `max` the call would practically
/// never end. `name` is the argument's name.
pub fn within(name: &str, found: usize, least: usize, max: usize) -> Result<()> {
    if !(least..=max).contains(&found) {
        refuse!(BadParameter, "{name}", expected("{least} to {max}"), found("{found}"));
    }
    Ok(())
}

/// Makes an array of `count` copies of `value` on the host; missing memory is an error. It is to be used for all
/// arrays that grow with the lattice: other allocations are small, and Rust ends the process if they fail.
pub fn host_array<T: Clone>(count: usize, value: T, what: &str) -> Result<Vec<T>> {
    let mut array = Vec::new();
    if array.try_reserve_exact(count).is_err() {
        bail!(
            OutOfMemory,
            "{what}: the host has no {} bytes",
            count.saturating_mul(size_of::<T>())
        );
    }
    array.resize(count, value);
    Ok(array)
}

/// Collects an iterator of known length into an array on the host; missing memory is an error.
pub fn host_list<T>(items: impl ExactSizeIterator<Item = T>, what: &str) -> Result<Vec<T>> {
    let (count, mut list) = (items.len(), Vec::new());
    if list.try_reserve_exact(count).is_err() {
        bail!(
            OutOfMemory,
            "{what}: the host has no {} bytes",
            count.saturating_mul(size_of::<T>())
        );
    }
    list.extend(items);
    Ok(list)
}

macro_rules! statuses {
    ($($name:ident = $number:literal, $c_name:literal, $help:literal;)*) => {
        /// Status numbers of the C interface: 0 success; positive: refused, and nothing has changed; negative: the
        /// object or context is lost. Numbers are never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i32)]
        pub enum Status { $(#[doc = $help] $name = $number,)* }

        impl Status {
            /// Every status as (number, C name without prefix, help text).
            pub const TABLE: &'static [(Status, &'static str, &'static str)] =
                &[$((Status::$name, $c_name, $help),)*];
        }
    };
}

impl Status {
    /// Whether this is an error of a machine without usable CUDA.
    pub fn is_missing_device(self) -> bool {
        use Status::*;
        matches!(self, NoDevice | DriverMissing | DriverTooOld | NvrtcMissing)
    }
}

statuses! {
    Success = 0, "SUCCESS", "the call did what it says";
    // 1 to 99: calls from C and their arguments
    InvalidArgument = 1, "INVALID_ARGUMENT", "an argument is out of its range";
    NullPointer = 2, "NULL_POINTER", "a required pointer is NULL";
    InvalidHandle = 3, "INVALID_HANDLE", "a handle is stale, foreign, destroyed or of another kind";
    StructSize = 4, "STRUCT_SIZE", "the struct_size of a parameter struct does not fit this library";
    Unsupported = 5, "UNSUPPORTED", "the combination asked for does not exist";
    WrongContext = 6, "WRONG_CONTEXT", "objects of different contexts or devices were mixed";
    // 7 is retired (was STOPPED): a stop that a callback asked for is in the report.
    Busy = 8, "BUSY", "an object is being changed, or is to be changed, while another call uses it";
    NotInitialised = 9, "NOT_INITIALISED", "a function of QUDA's interface was called outside of qudaInit and qudaFinalize";
    Internal = -1, "INTERNAL", "a defect inside plaq was caught at the boundary";
    // 100 to 199: devices and their memory
    NoDevice = 100, "NO_DEVICE", "no usable accelerator was found";
    DriverMissing = 101, "DRIVER_MISSING", "the CUDA driver library is not installed";
    DriverTooOld = 102, "DRIVER_TOO_OLD", "the CUDA driver is older than plaq needs";
    NvrtcMissing = 103, "NVRTC_MISSING", "the CUDA run-time compiler library is not installed";
    CompileFailed = 104, "COMPILE_FAILED", "a kernel did not compile";
    OutOfMemory = 105, "OUT_OF_MEMORY", "the problem does not fit the memory of the device";
    CufftMissing = 106, "CUFFT_MISSING", "NVIDIA's library for Fourier transforms is not installed";
    NcclMissing = 107, "NCCL_MISSING", "NVIDIA's library for messages between GPUs is not installed";
    DeviceLost = -100, "DEVICE_LOST", "the device failed; the context can only be destroyed";
    // 200 to 299: ranks and messages
    ProcessGrid = 200, "PROCESS_GRID", "the process grid does not fit ranks or lattice";
    MpiMissing = 201, "MPI_MISSING", "plaq's library for MPI is not installed; docs/mpi.md says how to build it";
    MpiState = 202, "MPI_STATE", "MPI does not run, is another MPI, or the communicator is null";
    MpiThread = 203, "MPI_THREAD", "MPI's thread level forbids calls from this thread";
    CommFailed = -200, "COMM_FAILED", "a peer was lost or a message timed out";
    // 300 to 399: fields and lattices
    BadExtents = 300, "BAD_EXTENTS", "lattice extents are odd, zero or do not match";
    NotUnitary = 301, "NOT_UNITARY", "a link is not unitary to the asked tolerance";
    NotFinite = 302, "NOT_FINITE", "a field holds NaN or infinity";
    BadLayout = 303, "BAD_LAYOUT", "an external layout is unknown or inconsistent";
    FieldMismatch = 304, "FIELD_MISMATCH", "fields differ in geometry, precision, parity or count";
    // 400 to 499: files
    FileOpen = 400, "FILE_OPEN", "a file cannot be opened or created";
    FileFormat = 401, "FILE_FORMAT", "a file is not of a known format or its header is wrong";
    FileTruncated = 402, "FILE_TRUNCATED", "a file ends before its data do";
    FileChecksum = 403, "FILE_CHECKSUM", "a checksum in a file does not match its data";
    FilePlaquette = 404, "FILE_PLAQUETTE", "plaquette or link trace in a file's header does not match its links";
    FileExtents = 405, "FILE_EXTENTS", "the lattice size in a file is not the one asked for";
    FileWrite = 406, "FILE_WRITE", "writing a file failed; the target is left as it was";
    // 500..599 operators and solvers
    SingularClover = 500, "SINGULAR_CLOVER", "the clover term cannot be inverted on a site";
    BadParameter = 501, "BAD_PARAMETER", "a parameter is out of its range";
    SolverBreakdown = 502, "SOLVER_BREAKDOWN", "a solver met NaN or infinity";
    NotConverged = 520, "NOT_CONVERGED", "a solve that the call depends on did not reach its tolerance";
    SpectralBounds = 521, "SPECTRAL_BOUNDS", "eigenvalues lie outside of what a rational approximation covers";
    StaleMultigrid = 522, "STALE_MULTIGRID", "an operator has other links than multigrid was last set up or updated for";
    KernelSpectrum = 530, "KERNEL_SPECTRUM", "the spectrum of the overlap kernel does not allow what was asked for; the message says what to change";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_made_of_the_parts() {
        let error =
            refused!(BadParameter, "params.tol", expected("0 to {}", 1), found("{}", 1e300));
        assert_eq!(error.message(), "params.tol: expected 0 to 1, found 1e300");
        let error = error.at("input").at("rank 1").hint("take less than PLAQ_SYSTEM_FULL (1)");
        let words = |name: &str| (name == "PLAQ_SYSTEM_FULL").then(|| "full".to_string());
        assert_eq!(
            error.in_words(&words),
            "rank 1: input: tol: expected 0 to 1, found 1e300; take less than full (1)"
        );
        let open = || -> Result<()> { refuse!(FileOpen, "file", expected("a name")) };
        assert_eq!(open().unwrap_err().to_string(), "FileOpen: file: expected a name");
    }

    #[test]
    fn numbers_in_messages_are_short() {
        let said = |message: String| Error::new(Status::BadParameter, message).message();
        assert_eq!(
            said(format!("tol: expected 0 to 1, found {}", 1e300)),
            "tol: expected 0 to 1, found 1e300"
        );
        assert_eq!(said(format!("found [0, -{}], there", 2.5e-200)), "found [0, -2.5e-200], there");
        for other in
            ["/a/1234567890123456789012345678.ildg: absent", "found 4294967295, 0.1  and 7", ""]
        {
            assert_eq!(said(other.into()), other);
        }
    }
}

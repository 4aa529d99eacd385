//! The choice whether a file that exists already is kept, replaced or extended when it is to be written.

use std::path::Path;

use crate::error::Result;
use crate::params::choices;
use crate::refuse;

choices! {
    /// Action if a file to be written exists already.
    pub enum IfExists: plaq_if_exists {
        /// Writing is refused.
        Refuse = 0, PLAQ_IF_EXISTS_REFUSE, "refuse";
        /// The file is replaced.
        Overwrite = 1, PLAQ_IF_EXISTS_OVERWRITE, "overwrite";
        /// Datasets are added to the file; names that it already has are refused.
        Append = 2, PLAQ_IF_EXISTS_APPEND, "append";
    }
}

impl IfExists {
    /// Refuses a file that exists, if it is to be refused.
    ///
    /// # Errors
    /// `FileWrite`.
    pub(super) fn check(self, path: &Path) -> Result<()> {
        if self == IfExists::Refuse && path.exists() {
            refuse!(
                FileWrite,
                format!("{}", path.display()),
                expected("a new file"),
                found("one that exists")
            );
        }
        Ok(())
    }
}

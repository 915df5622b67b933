//! `hopcheck schema`: the JSON Schema of a file format, for editors and validators.

use super::args::SchemaArgs;
use super::exit::Exit;
use super::output;
use crate::invocation::Failure;

/// Prints one schema.
pub(super) fn schema(args: &SchemaArgs) -> Result<Exit, Failure> {
    output::out(&args.kind.text())?;
    Ok(Exit::Expected)
}

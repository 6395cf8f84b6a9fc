//! The built command, as a user runs it: what it prints, how it ends, what it leaves behind.

mod exit_codes;
mod help;
mod oracle;
mod outputs;
mod pipes;
mod profiles;
mod slices;
mod support;

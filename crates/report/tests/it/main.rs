//! Tests of `tracemill-report` from outside.

mod advice;
mod clang;
#[path = "../../../analysis/tests/common/mod.rs"]
mod common;
mod compare;
mod devices;
mod idle;
mod insights;
mod pages;
mod ranks;
mod report;
mod services;
mod started;
mod tracks;
mod varied_pages;
mod visited_page;
mod why;

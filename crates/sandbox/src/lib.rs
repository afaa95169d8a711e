//! What agents act with: the shell, files, the web, and code they write themselves.
//!
//! In: calls of tools. Out: what came of them, with bounds on time and size.

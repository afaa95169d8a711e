//! The conversation graph.

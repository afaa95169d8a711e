//! Runs on the driver, one by one and inside one another.

mod driver;
mod endless;
mod folder;
mod hands;
mod inbox;
mod leftover;
mod nested;

//! Killed at any moment, as often as you like, agents come to what they come to undisturbed.
//!
//! A real process runs agents with real tools on a SQLite file and is killed with SIGKILL; another goes on from the
//! file, and is killed too, until the run is through. Each test is one act. Start reading at [`check`].

mod account;
mod act;
mod person;
mod player;
mod process;
mod story;
mod tools;

use std::path::Path;

use act::Act;

/// How many processes are killed for each act: with the six acts here more than two hundred.
const KILLS: usize = 52;

fn check(test: &str, act: &Act) {
    if let Some(folder) = std::env::var_os(process::FOLDER) {
        process::play(Path::new(&folder), act);
    }
    let mut chance = story::chance(test);
    let undisturbed = account::undisturbed(act);
    let (mut killed, mut doubts, mut retries) = (0, 0, 0);
    while killed < KILLS {
        let told = story::tell(test, &mut chance, KILLS - killed);
        account::compare(&told, &undisturbed);
        killed += told.killed;
        doubts += told.doubts();
        retries += told.retries();
    }
    eprintln!("{test}: {killed} killed, {doubts} times in doubt, {retries} answers cut off");
    assert!(doubts > 0, "no kill ever met a tool at work");
    assert!(retries > 0, "no kill ever met a model that speaks");
}

#[test]
fn chat() {
    check("chat", &act::chat());
}

#[test]
fn nodes() {
    check("nodes", &act::nodes());
}

#[test]
fn subagents() {
    check("subagents", &act::subagents());
}

#[test]
fn branches() {
    check("branches", &act::branches());
}

#[test]
fn sessions() {
    check("sessions", &act::sessions());
}

#[test]
fn swarm() {
    check("swarm", &act::swarm());
}

//! What a program reads: all of it is there before the program begins.
//!
//! In: bytes. Out: the input to start a program with. A pipe that somebody feeds ends with whoever feeds it, and half an
//! input looks like a whole one. So it is a file without a name, which is gone when the last process lets go of it.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::process::Stdio;

use tokio::task::spawn_blocking;

/// The input of a program that is to read these bytes, and then the end; refused if there is no room for them in the
/// folder for temporary files.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let mut command = tokio::process::Command::new("wc");
/// command.arg("-c").stdin(antiphon_process::input("four".into()).await?);
/// assert_eq!(command.output().await?.stdout.trim_ascii(), b"4");
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub async fn input(bytes: Vec<u8>) -> io::Result<Stdio> {
    if bytes.is_empty() {
        return Ok(Stdio::null());
    }
    let kept = spawn_blocking(move || keep(&bytes)).await.map_err(io::Error::other)?;
    kept.map(Stdio::from).map_err(|error| {
        let folder = std::env::temp_dir();
        io::Error::new(error.kind(), format!("its input cannot be kept in {}: {error}", folder.display()))
    })
}

fn keep(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

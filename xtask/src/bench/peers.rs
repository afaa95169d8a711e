//! The peers: each is installed by its package's name in a folder of its own, measured, and removed.
//!
//! In: the folder with what drives them. Out: their figures; one that is not there, or cannot be installed, is named
//! instead. Start reading at [`measure`]; a new one that runs graphs is a line in [`engine::ENGINES`].

mod agents;
mod client;
mod engine;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::figures::Peers;
use super::process::said;

/// Measures all of them, one after the other.
pub(super) fn measure(folder: &Path, step: &dyn Fn(&str)) -> Peers {
    let mut peers = Peers::default();
    step("measuring @ag-ui/client");
    peers.client = kept(&mut peers.missing, "`@ag-ui/client`", client::measure(folder));
    for engine in engine::ENGINES {
        step(&format!("measuring {}", engine.name));
        let measured = kept(&mut peers.missing, engine.name, engine.measure(folder));
        peers.engines.extend(measured);
    }
    step("measuring the agents of Strands");
    peers.agents = kept(&mut peers.missing, agents::NAME, agents::measure(folder));
    peers
}

/// The figures; if there are none, the whole reason is said here and the short one on the page.
fn kept<T>(missing: &mut Vec<String>, name: &str, measured: anyhow::Result<T>) -> Option<T> {
    let error = match measured {
        Ok(measured) => return Some(measured),
        Err(error) => error,
    };
    eprintln!("{name} is not measured: {error:#}");
    missing.push(format!("{name} ({error})"));
    None
}

/// A folder that is gone when the peer in it has been measured.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> anyhow::Result<Self> {
        let place = std::env::temp_dir().join(format!("antiphon-peer-{name}-{}", std::process::id()));
        fs::create_dir_all(&place).context("there is no place for it")?;
        Ok(Self(place))
    }

    /// Installs packages for node.
    fn npm(&self, packages: &[&str]) -> anyhow::Result<()> {
        let npm = |args: &[&str]| said(Command::new("npm").args(args).current_dir(&self.0));
        npm(&["init", "-y"]).context("npm is not there")?;
        let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
        npm(&[&install, packages].concat()).context("it could not be installed")?;
        Ok(())
    }

    /// Installs packages for Python in an environment of their own.
    fn pip(&self, packages: &[&str]) -> anyhow::Result<()> {
        let python = |program: PathBuf, args: &[&str]| {
            let mut python = Command::new(program);
            said(python.args(["-m"]).args(args).current_dir(&self.0))
        };
        python("python3".into(), &["venv", "venv"]).context("python3 with venv is not there")?;
        let install = ["pip", "install", "--quiet", "--disable-pip-version-check"];
        python(self.python(), &[&install, packages].concat()).context("it could not be installed")?;
        Ok(())
    }

    /// What a package for node calls its version, and that of node.
    fn node_version(&self, package: &str) -> anyhow::Result<String> {
        let code = "const at = `./node_modules/${process.argv[1]}/package.json`; \
            console.log(JSON.parse(fs.readFileSync(at)).version + ', node ' + process.version)";
        let version = said(Command::new("node").args(["-e", code, package]).current_dir(&self.0))?;
        Ok(format!("{package} {}", version.trim()))
    }

    /// The Python of that environment.
    fn python(&self) -> PathBuf {
        self.0.join("venv/bin/python")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("clearing up after a peer: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_that_are_not_there_are_named_and_nothing_else_happens() {
        let peers = measure(Path::new("no such folder"), &|_| ());
        assert!(peers.client.is_none() && peers.engines.is_empty() && peers.agents.is_none());
        assert_eq!(
            peers.missing.first().map(String::as_str),
            Some("`@ag-ui/client` (its folder is not there)")
        );
        assert_eq!(peers.missing.len(), 2 + engine::ENGINES.len());
    }
}

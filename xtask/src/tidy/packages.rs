//! [`Package`]: what cargo says about a package, as far as the rules ask.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

/// A package of the repository.
#[derive(Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its folder, from the root of the repository.
    pub folder: String,
    /// What it depends on directly.
    pub dependencies: Vec<Dependency>,
    /// The files its targets begin with.
    pub roots: Vec<String>,
    /// Every package that ends up in a program with it, tests aside.
    pub reaches: Vec<String>,
}

/// An arrow from a package.
#[derive(Debug)]
pub struct Dependency {
    /// The package it points to.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
}

/// What a dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The package itself.
    Normal,
    /// Its tests.
    Dev,
    /// Its build script.
    Build,
}

/// The packages of the workspace that has this manifest.
pub(super) fn read(root: &Path, manifest: &str) -> anyhow::Result<Vec<Package>> {
    let said = cargo(root, manifest, &["metadata", "--format-version=1", "--no-deps"])?;
    let metadata: Metadata = serde_json::from_str(&said).context("reading cargo metadata")?;
    metadata.packages.iter().map(|found| found.package(root, manifest)).collect()
}

/// What cargo prints.
fn cargo(root: &Path, manifest: &str, args: &[&str]) -> anyhow::Result<String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(args).arg("--locked").arg("--manifest-path").arg(root.join(manifest));
    let output = cargo.output().context("starting cargo")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo {} of {manifest} failed:\n{stderr}", args[0]);
    String::from_utf8(output.stdout).context("reading what cargo said")
}

/// The triple of this machine.
pub(crate) fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("starting rustc")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV does not name its host")?.to_owned())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    name: String,
    manifest_path: String,
    dependencies: Vec<Declared>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Declared {
    name: String,
    kind: Option<Kind>,
}

#[derive(Deserialize)]
struct Target {
    src_path: String,
}

impl Found {
    fn package(&self, root: &Path, manifest: &str) -> anyhow::Result<Package> {
        let within = |path: &str| {
            let path = Path::new(path);
            path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
        };
        let folder = within(&self.manifest_path);
        Ok(Package {
            name: self.name.clone(),
            folder: folder.trim_end_matches("/Cargo.toml").to_owned(),
            dependencies: self.dependencies.iter().map(Declared::dependency).collect(),
            roots: self.targets.iter().map(|target| within(&target.src_path)).collect(),
            reaches: self.reaches(root, manifest)?,
        })
    }

    /// Everything that is linked with the package, as `cargo tree` has it: unlike the metadata, it leaves out
    /// what no feature turns on.
    fn reaches(&self, root: &Path, manifest: &str) -> anyhow::Result<Vec<String>> {
        let format =
            ["--prefix=none", "--format={p}", "--edges=normal,no-proc-macro", "--package", &self.name];
        let said = cargo(root, manifest, &[&["tree"], &format[..]].concat())?;
        let names: BTreeSet<_> = said.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
        Ok(names.into_iter().map(str::to_owned).collect())
    }
}

impl Declared {
    fn dependency(&self) -> Dependency {
        Dependency { name: self.name.clone(), kind: self.kind.unwrap_or(Kind::Normal) }
    }
}

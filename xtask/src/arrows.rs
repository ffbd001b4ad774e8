//! `cargo xtask arrows`: what a crate or a module must not import, as `arrows.toml` says.
//!
//! Crates are judged by their `Cargo.toml`, modules by the paths in their text. Tests are free.

mod paths;
mod rules;

use toml::de::DeTable;

use crate::Outcome;
use crate::checkout::{Checkout, TextFile};
use rules::{CrateRule, ModuleRule, Rules};

const FILE: &str = "arrows.toml";

pub(crate) fn run(checkout: &Checkout) -> Outcome {
    let rules = Rules::parse(&checkout.read(FILE)?)?;
    let crates = checkout.crates()?;
    let mut problems = vec![];
    for name in &crates {
        let Some(rule) = rules.crates.get(name) else {
            problems.push(format!("{FILE}: nothing about the crate '{name}': add [crates.{name}]"));
            continue;
        };
        let manifest = format!("crates/{name}/Cargo.toml");
        let dependencies = dependencies(&manifest, &checkout.read(&manifest)?)?;
        problems.extend(of_crate(&manifest, rule, &dependencies));
        problems.extend(of_libraries(&manifest, name, &rules, &dependencies));
    }
    let gone = rules.crates.keys().filter(|name| !crates.contains(name));
    problems.extend(gone.map(|name| format!("{FILE}: there is no crate '{name}'")));
    problems.extend(of_modules(&rules.modules, &checkout.text_files()?));
    if problems.is_empty() {
        println!("arrows: {} crates, {} module rules", crates.len(), rules.modules.len());
        return Ok(());
    }
    Err(format!("{}\narrows: {} problems", problems.join("\n"), problems.len()))
}

/// The names under `[dependencies]` and `[build-dependencies]`.
fn dependencies(manifest: &str, text: &str) -> Result<Vec<String>, String> {
    let table = DeTable::parse(text).map_err(|e| format!("{manifest}: {e}"))?;
    let sections = ["dependencies", "build-dependencies"].into_iter().filter_map(|s| table.get_ref().get(s));
    let tables = sections.filter_map(|section| section.get_ref().as_table());
    Ok(tables.flat_map(|t| t.keys()).map(|key| key.get_ref().to_string()).collect())
}

fn of_crate(manifest: &str, rule: &CrateRule, dependencies: &[String]) -> Vec<String> {
    let mut problems = vec![];
    for dependency in dependencies {
        let (allowed, name) = match (dependency.strip_prefix("tidemill-"), &rule.libraries) {
            (Some(ours), _) => (rule.uses.iter().any(|u| u == ours), ours),
            (None, Some(libraries)) => (libraries.contains(dependency), dependency.as_str()),
            (None, None) => continue,
        };
        if !allowed {
            problems.push(format!("{manifest}: '{name}' is not among what {FILE} lets this crate use"));
        }
    }
    problems
}

fn of_libraries(manifest: &str, name: &String, rules: &Rules, dependencies: &[String]) -> Vec<String> {
    let kept = dependencies.iter().filter(|d| rules.libraries.get(*d).is_some_and(|users| !users.contains(name)));
    kept.map(|d| format!("{manifest}: {FILE} keeps the library '{d}' to {}", rules.libraries[d].join(", "))).collect()
}

fn of_modules(rules: &[ModuleRule], files: &[TextFile]) -> Vec<String> {
    let mut problems = vec![];
    for rule in rules {
        let mut found = false;
        for file in files.iter().filter(|file| file.is_rust() && rule.covers(&file.path)) {
            found = true;
            if !file.is_test() {
                problems.extend(of_module(rule, file));
            }
        }
        if !found {
            problems.push(format!("{FILE}: no file is under '{}'", rule.under));
        }
    }
    problems
}

fn of_module(rule: &ModuleRule, file: &TextFile) -> Vec<String> {
    let code: Vec<(usize, &str)> = file.code().collect();
    let paths = paths::in_code(&code);
    let broken = paths.iter().filter_map(|(line, path)| rule.broken_by(path).map(|by| (line, by)));
    broken.map(|(line, by)| format!("{}:{line}: imports {by}: {}", file.path, rule.because)).collect()
}

#[cfg(test)]
mod tests;

//! `arrows.toml`, read: who may use what.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

/// All of the file.
pub(super) struct Rules {
    pub(super) crates: BTreeMap<String, CrateRule>,
    /// By library: the crates that alone may use it.
    pub(super) libraries: BTreeMap<String, Vec<String>>,
    pub(super) modules: Vec<ModuleRule>,
}

/// What one crate may depend on.
pub(super) struct CrateRule {
    /// Crates of the workspace, by the names of their folders.
    pub(super) uses: Vec<String>,
    /// The only libraries from elsewhere, where the file says so.
    pub(super) libraries: Option<Vec<String>>,
}

/// What the files of one folder, or one file, must not import.
pub(super) struct ModuleRule {
    pub(super) under: String,
    /// Paths that start with one of these are refused.
    never: Vec<String>,
    /// Paths into the crates of these are refused unless they start with one of them.
    only: Vec<String>,
    pub(super) because: String,
}

impl ModuleRule {
    pub(super) fn covers(&self, path: &str) -> bool {
        path == self.under || path.strip_prefix(&*self.under).is_some_and(|rest| rest.starts_with('/'))
    }

    /// What of an imported path breaks the rule.
    pub(super) fn broken_by(&self, path: &str) -> Option<String> {
        if let Some(never) = self.never.iter().find(|never| starts_with_path(path, never)) {
            return Some(never.clone());
        }
        let root = |path: &str| path.split("::").next().unwrap_or_default().to_owned();
        let concerned = self.only.iter().any(|only| root(only) == root(path));
        let allowed = self.only.iter().any(|only| starts_with_path(path, only));
        (concerned && !allowed).then(|| path.to_owned())
    }
}

/// Whether the segments of `path` start with those of `prefix`.
fn starts_with_path(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

impl Rules {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let document = DeTable::parse(text).map_err(|e| format!("{}: {e}", super::FILE))?;
        let document = document.get_ref();
        let mut crates = BTreeMap::new();
        for (name, value) in table(document, "crates")? {
            let rule = value.get_ref().as_table().ok_or_else(|| wrong(name.get_ref(), "a table"))?;
            known(name.get_ref(), rule, &["uses", "libraries"])?;
            let uses = words(rule, "uses")?.unwrap_or_default();
            crates.insert(name.get_ref().to_string(), CrateRule { uses, libraries: words(rule, "libraries")? });
        }
        let mut libraries = BTreeMap::new();
        let kept = table(document, "libraries")?;
        for name in kept.keys() {
            libraries.insert(name.get_ref().to_string(), words(kept, name.get_ref())?.unwrap_or_default());
        }
        let modules = document.get("modules").and_then(|m| m.get_ref().as_array());
        let modules = modules.ok_or_else(|| wrong("modules", "[[modules]] tables"))?;
        let modules = modules.iter().map(|value| module(value.get_ref())).collect::<Result<_, _>>()?;
        Ok(Self { crates, libraries, modules })
    }
}

fn module(value: &DeValue<'_>) -> Result<ModuleRule, String> {
    let rule = value.as_table().ok_or_else(|| wrong("modules", "[[modules]] tables"))?;
    known("modules", rule, &["under", "never", "only", "because"])?;
    let text = |key: &str| {
        let value = rule.get(key).and_then(|v| v.get_ref().as_str());
        value.map(str::to_owned).ok_or_else(|| wrong(key, "a text"))
    };
    Ok(ModuleRule {
        under: text("under")?,
        never: words(rule, "never")?.unwrap_or_default(),
        only: words(rule, "only")?.unwrap_or_default(),
        because: text("because")?,
    })
}

fn table<'a, 'i>(document: &'a DeTable<'i>, key: &str) -> Result<&'a DeTable<'i>, String> {
    document.get(key).and_then(|v| v.get_ref().as_table()).ok_or_else(|| wrong(key, "a table"))
}

fn words(table: &DeTable<'_>, key: &str) -> Result<Option<Vec<String>>, String> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let items = value.get_ref().as_array().ok_or_else(|| wrong(key, "a list of texts"))?;
    let text = |item: &DeValue<'_>| item.as_str().map(str::to_owned).ok_or_else(|| wrong(key, "a list of texts"));
    items.iter().map(|item| text(item.get_ref())).collect::<Result<_, _>>().map(Some)
}

fn known(place: &str, table: &DeTable<'_>, keys: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !keys.contains(&&**key.get_ref())) {
        Some(key) => Err(format!("{}: '{place}' has no key '{}'", super::FILE, key.get_ref())),
        None => Ok(()),
    }
}

fn wrong(key: &str, what: &str) -> String {
    format!("{}: '{key}' must be {what}", super::FILE)
}

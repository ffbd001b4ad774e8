//! The paths that code names: those of `use` items, with their braces multiplied out, and those in
//! expressions and types.

/// Each path with its line, `super::` read as `crate::`: a rule is about folders right under the
/// root of a crate, and only such a folder's neighbours are meant by it.
pub(super) fn in_code(code: &[(usize, &str)]) -> Vec<(usize, String)> {
    let mut paths = vec![];
    let mut lines = code.iter();
    while let Some((number, line)) = lines.next() {
        let Some(start) = use_item(line) else {
            paths.extend(in_expression(line).map(|path| (*number, path)));
            continue;
        };
        let mut item = start.to_owned();
        while !item.contains(';') {
            let Some((_, next)) = lines.next() else { break };
            item.push_str(next.trim());
        }
        let tree: String = item.split(';').next().unwrap_or_default().chars().filter(|c| *c != ' ').collect();
        paths.extend(multiplied_out(&tree).into_iter().map(|path| (*number, from_root(&path))));
    }
    paths
}

/// What stands behind `use`, with or without `pub(...)` before it.
fn use_item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let item = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        Some(rest) => rest,
        None => line,
    };
    item.trim_start().strip_prefix("use ")
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn multiplied_out(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let inside = rest.strip_suffix('}').unwrap_or(rest);
    let branches = at_top_level(inside).into_iter().filter(|branch| !branch.is_empty());
    branches.flat_map(multiplied_out).map(|branch| format!("{prefix}{branch}")).collect()
}

/// The parts between commas that are in no brace.
fn at_top_level(branches: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_u32, 0, vec![]);
    for (at, c) in branches.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&branches[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&branches[start..]);
    parts
}

/// Words with `::` in them.
fn in_expression(line: &str) -> impl Iterator<Item = String> + '_ {
    let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    words.filter(|word| word.contains("::")).map(|word| from_root(word.trim_end_matches(':')))
}

fn from_root(path: &str) -> String {
    let mut rest = path;
    while let Some(inner) = rest.strip_prefix("super::") {
        rest = inner;
    }
    if rest.len() == path.len() { path.to_owned() } else { format!("crate::{rest}") }
}

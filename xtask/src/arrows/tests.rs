use super::*;

const RULES: &str = r#"
[crates.core]
uses = []
libraries = ["arrow"]

[crates.runtime]
uses = ["core"]

[libraries]
datafusion = ["runtime"]

[[modules]]
under = "crates/runtime/src/window"
never = ["crate::connector", "tokio"]
because = "windows are synchronous"

[[modules]]
under = "crates/connectors/src"
only = ["tidemill_runtime::connector"]
because = "connectors know the contracts alone"
"#;

fn rules() -> Rules {
    Rules::parse(RULES).unwrap()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn module(path: &str, text: &str) -> Vec<String> {
    let rules = rules();
    let file = TextFile { path: path.to_owned(), text: text.to_owned() };
    rules.modules.iter().filter(|rule| rule.covers(path)).flat_map(|rule| of_module(rule, &file)).collect()
}

#[test]
fn a_crate_uses_what_it_may() {
    let rules = rules();
    let core = &rules.crates["core"];
    assert_eq!(of_crate("m", core, &names(&["arrow"])), Vec::<String>::new());
    assert_eq!(of_crate("m", core, &names(&["arrow", "tokio", "tidemill-sql"])).len(), 2);
    assert_eq!(of_crate("m", &rules.crates["runtime"], &names(&["tokio", "tidemill-core"])), Vec::<String>::new());
    let kept = of_libraries("m", &"core".to_owned(), &rules, &names(&["datafusion"]));
    assert_eq!(kept, ["m: arrows.toml keeps the library 'datafusion' to runtime"]);
}

#[test]
fn dependencies_of_tests_do_not_count() {
    let manifest = "[dependencies]\narrow.workspace = true\n[dev-dependencies]\nproptest = \"1\"\n";
    assert_eq!(dependencies("m", manifest).unwrap(), ["arrow"]);
}

#[test]
fn imports_are_found_however_they_are_written() {
    let window = "crates/runtime/src/window/table.rs";
    for text in [
        "use crate::connector::Source;",
        "pub(crate) use crate::{metrics, connector::{Sink, Source}};",
        "use crate::{\n    metrics::Metrics,\n    connector,\n};",
        "use super::super::connector::Sink;",
        "fn f(source: &crate::connector::Source) {}",
        "    let task = tokio::spawn(f());",
    ] {
        assert!(!module(window, text).is_empty(), "{text}");
    }
    for text in ["use crate::connectors_of::X;", "// crate::connector", "use super::table::Table;", "let tokio = 1;"] {
        assert_eq!(module(window, text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(module("crates/runtime/src/windowing.rs", "use crate::connector::Source;"), Vec::<String>::new());
}

#[test]
fn of_some_crates_only_the_door_may_be_named() {
    let path = "crates/connectors/src/print/sink.rs";
    assert_eq!(module(path, "use tidemill_runtime::connector::{Sink, Source};"), Vec::<String>::new());
    let found = module(path, "use std::io;\nuse tidemill_runtime::{connector::Sink, operator::Operator};");
    let expected = "2: imports tidemill_runtime::operator::Operator: connectors know the contracts alone";
    assert_eq!(found, [format!("{path}:{expected}")]);
}

#[test]
fn a_misspelt_key_is_refused() {
    assert!(Rules::parse(&RULES.replace("never =", "nevr =")).is_err());
}

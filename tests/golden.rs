//! Golden cases: one test a case and mode. `TIDEMILL_GOLDEN=accept` rewrites what is expected: read
//! the difference before you keep it.

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use tidemill_tests::case::{Case, Mode, Result};

const BATCH_SIZES: [u32; 3] = [1, 3, 8192];
const PARALLELISMS: [u16; 3] = [1, 2, 3];

/// The smallest batches on the most subtasks, and the largest on one.
const ENDS: [(u32, u16); 2] = [(1, 3), (8192, 1)];

/// The live setting whose result is accepted.
const PLAIN: Mode = Mode::Live { batch_size: 8192, parallelism: 1 };

/// What a run without messages has for `expected.stderr`.
const SILENT: &str = "exit 0\n";

fn main() -> ExitCode {
    let cases = Case::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden"));
    let accepts = std::env::var("TIDEMILL_GOLDEN").is_ok_and(|value| value == "accept");
    let trials = cases.iter().flat_map(|case| match accepts {
        true => vec![trial(case, "accept", accept)],
        false => trials(case),
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn trials(case: &Case) -> Vec<Trial> {
    let mut trials = vec![];
    if case.takes("batch") {
        trials.push(trial(case, "batch", batch));
    }
    if case.takes("live") {
        let settings = BATCH_SIZES.into_iter().flat_map(|rows| PARALLELISMS.map(|subtasks| (rows, subtasks)));
        // A message has little to do with how rows are cut: the two ends are enough.
        for (batch_size, parallelism) in settings.filter(|&setting| !case.fails() || ENDS.contains(&setting)) {
            let mode = Mode::Live { batch_size, parallelism };
            trials.push(trial(case, &format!("live_{batch_size}x{parallelism}"), move |case| live(case, mode)));
        }
    }
    if case.takes("reconcile") && !case.fails() {
        trials.push(trial(case, "reconcile", reconcile));
    }
    trials
}

fn trial(
    case: &Case,
    mode: &str,
    test: impl FnOnce(&Case) -> std::result::Result<(), Failed> + Send + 'static,
) -> Trial {
    let name = format!("{}::{mode}", case.name);
    let case = case.clone();
    Trial::test(name, move || test(&case))
}

fn live(case: &Case, mode: Mode) -> std::result::Result<(), Failed> {
    let result = case.run(mode);
    if case.fails() {
        return same("expected.stderr", case.expected("expected.stderr"), &result.stderr);
    }
    same("expected.stderr", case.expected("expected.stderr").or(Some(SILENT.into())), &result.stderr)?;
    same("expected.changelog", case.expected("expected.changelog"), &result.changelog)?;
    same("expected.late", case.expected("expected.late").or(Some(String::new())), &result.late)
}

fn batch(case: &Case) -> std::result::Result<(), Failed> {
    let result = case.run(Mode::Batch);
    if case.fails() {
        return same("expected.stderr", case.expected("expected.stderr"), &result.stderr);
    }
    // Nothing is late in a batch; what can't be decoded is told in both modes.
    let told = case.expected("expected.stderr").unwrap_or_default();
    let told = told.lines().filter(|line| line.contains("could not be decoded"));
    let told = told.fold(SILENT.to_owned(), |text, line| text + line + "\n");
    same("the messages of a batch", Some(told), &result.stderr)?;
    match case.expected("expected.batch") {
        Some(expected) => same("expected.batch", Some(expected), &result.changelog)?,
        None => same("expected.changelog", case.expected("expected.changelog"), &result.changelog)?,
    }
    same("no late rows", Some(String::new()), &result.late)
}

fn reconcile(case: &Case) -> std::result::Result<(), Failed> {
    let finished = case.reconcile();
    match finished.code {
        Some(0) => Ok(()),
        code => Err(format!("exit {code:?}\n{}{}", finished.stdout, finished.stderr).into()),
    }
}

fn same(what: &str, expected: Option<String>, found: &str) -> std::result::Result<(), Failed> {
    match expected {
        Some(expected) if expected == found => Ok(()),
        Some(expected) => Err(format!("not {what}\n--- expected\n{expected}--- found\n{found}").into()),
        None => Err(format!("the case has no {what}\n--- found\n{found}").into()),
    }
}

fn accept(case: &Case) -> std::result::Result<(), Failed> {
    let some = |text: String, nothing: &str| (text != nothing).then_some(text);
    if case.fails() {
        let Result { stderr, .. } = case.run(if case.takes("live") { PLAIN } else { Mode::Batch });
        case.accept("expected.stderr", Some(&stderr));
        return Ok(());
    }
    let batch = case.takes("batch").then(|| case.run(Mode::Batch));
    let live = case.takes("live").then(|| case.run(PLAIN));
    if let Some(failed) = [&live, &batch].into_iter().flatten().find(|run| !run.stderr.starts_with(SILENT)) {
        return Err(format!("only a case called error_... may fail\n{}", failed.stderr).into());
    }
    let Some(plain) = live.as_ref().or(batch.as_ref()) else { return Err("the case has no mode".into()) };
    case.accept("expected.changelog", Some(&plain.changelog));
    case.accept("expected.late", some(plain.late.clone(), "").as_deref());
    case.accept("expected.stderr", some(plain.stderr.clone(), SILENT).as_deref());
    let other = batch.as_ref().filter(|batch| batch.changelog != plain.changelog);
    case.accept("expected.batch", other.map(|batch| batch.changelog.as_str()));
    Ok(())
}

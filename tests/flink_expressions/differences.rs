//! The differences that are known, each with what Tidemill answers and why.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::answer::Answer;

/// What stands where a reason is missing.
const NO_REASON: &str = "?";

/// By reason, in the order of the file: the expressions and our answers.
pub struct Differences(Vec<(String, Vec<(String, Answer)>)>);

/// An expression, our answer, and Flink's.
pub type Found<'a> = (&'a str, Answer, Answer);

impl Differences {
    /// None where there is no such file.
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut reasons: Vec<(String, Vec<(String, Answer)>)> = vec![];
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix("# ") {
                Some(reason) => reasons.push((reason.to_owned(), vec![])),
                None => {
                    let (expression, answer) = Answer::recorded(line);
                    let (_, answers) = reasons.last_mut().expect("a reason stands above its expressions");
                    answers.push((expression.to_owned(), answer));
                }
            }
        }
        Self(reasons)
    }

    /// The found ones, each under the reason that it has here.
    pub fn rewritten(&self, found: &[Found<'_>]) -> Self {
        let reasons = self.reasons();
        let mut all: Vec<(String, Vec<(String, Answer)>)> =
            self.0.iter().map(|(reason, _)| (reason.clone(), vec![])).collect();
        for (expression, ours, _) in found {
            let reason = reasons.get(expression).copied().unwrap_or(NO_REASON);
            let answer = ((*expression).to_owned(), ours.clone());
            match all.iter_mut().find(|(known, _)| known == reason) {
                Some((_, answers)) => answers.push(answer),
                None => all.push((reason.to_owned(), vec![answer])),
            }
        }
        all.retain(|(_, answers)| !answers.is_empty());
        Self(all)
    }

    pub fn write(&self, path: &Path) {
        let mut text = String::new();
        for (reason, answers) in &self.0 {
            let head = if text.is_empty() { "" } else { "\n" };
            text += &format!("{head}# {reason}\n");
            for (expression, Answer { sql_type, value }) in answers {
                text += &format!("{expression}\t{sql_type}\t{value}\n");
            }
        }
        if text.is_empty() {
            // That there was none is as good.
            let _ = fs::remove_file(path);
        } else {
            fs::write(path, text).unwrap();
        }
    }

    /// What is found and not known, and the other way round.
    pub fn compare(&self, found: &[Found<'_>]) -> Vec<String> {
        let mut known: BTreeMap<&str, &Answer> = BTreeMap::new();
        let mut problems = vec![];
        for (reason, answers) in &self.0 {
            known.extend(answers.iter().map(|(expression, answer)| (expression.as_str(), answer)));
            if reason == NO_REASON {
                problems.push(format!("{} differences have no reason", answers.len()));
            }
        }
        for (expression, ours, flink) in found {
            if known.remove(expression) != Some(ours) {
                let (theirs, our_type) = (&flink.value, &ours.sql_type);
                problems.push(format!(
                    "{expression}\n  Flink    {} {theirs}\n  Tidemill {our_type} {}",
                    flink.sql_type, ours.value
                ));
            }
        }
        problems.extend(known.keys().map(|expression| format!("{expression}\n  is Flink's answer now: accept")));
        problems
    }

    fn reasons(&self) -> BTreeMap<&str, &str> {
        let pairs = self.0.iter().flat_map(|(reason, answers)| answers.iter().map(|(e, _)| (e.as_str(), &**reason)));
        pairs.collect()
    }
}

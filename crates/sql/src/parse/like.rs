//! The `LIKE` clause of `CREATE TABLE`: which parts of another table are taken over, and how.

use datafusion::sql::sqlparser::{ast::Ident, tokenizer::Token};
use tidemill_core::Result;

use super::cursor::Cursor;

/// `LIKE base [(INCLUDING | EXCLUDING | OVERWRITING feature ...)]`
#[derive(Debug, Clone)]
pub struct Like {
    /// The table that is taken over.
    pub base: Ident,
    options: Vec<(Strategy, Option<Feature>)>,
}

/// What becomes of a part of the base table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// It is taken over, and may not be given again.
    Including,
    /// It is left out.
    Excluding,
    /// It is taken over where it is not given again.
    Overwriting,
}

/// A part of a table that is taken over or not; stored columns always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// The primary key.
    Constraints,
    /// Computed columns.
    Generated,
    /// Metadata columns.
    Metadata,
    /// What stands in `WITH`.
    Options,
    /// `PARTITIONED BY`
    Partitions,
    /// `WATERMARK FOR`
    Watermarks,
}

const STRATEGIES: [(&str, Strategy); 3] =
    [("INCLUDING", Strategy::Including), ("EXCLUDING", Strategy::Excluding), ("OVERWRITING", Strategy::Overwriting)];

const FEATURES: [(&str, Option<Feature>); 7] = [
    ("ALL", None),
    ("CONSTRAINTS", Some(Feature::Constraints)),
    ("GENERATED", Some(Feature::Generated)),
    ("METADATA", Some(Feature::Metadata)),
    ("OPTIONS", Some(Feature::Options)),
    ("PARTITIONS", Some(Feature::Partitions)),
    ("WATERMARKS", Some(Feature::Watermarks)),
];

impl Like {
    /// What becomes of a part: what is said of it, else what is said of all, else Flink's default.
    #[must_use]
    pub fn strategy(&self, feature: Feature) -> Strategy {
        let said =
            |of: Option<Feature>| self.options.iter().find(|(_, about)| *about == of).map(|(strategy, _)| *strategy);
        said(Some(feature)).or_else(|| said(None)).unwrap_or(match feature {
            Feature::Options => Strategy::Overwriting,
            _ => Strategy::Including,
        })
    }
}

/// Reads the clause, if it comes next.
pub(super) fn like(cursor: &mut Cursor<'_>) -> Result<Option<Like>> {
    if !cursor.eat_words("LIKE") {
        return Ok(None);
    }
    let base = cursor.name("the name of a table")?;
    let mut options = vec![];
    if cursor.eat(&Token::LParen) {
        while !cursor.eat(&Token::RParen) {
            let option = option(cursor)?;
            if options.iter().any(|(_, about)| *about == option.1) {
                return Err(cursor.unexpected(", another feature or )").hint("each feature is named once"));
            }
            options.push(option);
        }
    }
    Ok(Some(Like { base, options }))
}

fn option(cursor: &mut Cursor<'_>) -> Result<(Strategy, Option<Feature>)> {
    let Some((word, strategy)) = STRATEGIES.into_iter().find(|(word, _)| cursor.at_words(word)) else {
        return Err(cursor.unexpected("INCLUDING, EXCLUDING or OVERWRITING"));
    };
    cursor.advance();
    let Some((name, feature)) = FEATURES.into_iter().find(|(name, _)| cursor.at_words(name)) else {
        let names = FEATURES.map(|(name, _)| name).join(", ");
        return Err(cursor.unexpected("a feature").hint(format!("features are {names}")));
    };
    // A key or partitions stand for themselves: nothing of theirs could be overwritten.
    let whole = matches!(feature, None | Some(Feature::Constraints | Feature::Partitions));
    if strategy == Strategy::Overwriting && whole {
        return Err(cursor
            .refuse_next(1, format!("{word} {name} is not Flink SQL"))
            .hint(format!("write INCLUDING {name} or EXCLUDING {name}")));
    }
    cursor.advance();
    Ok((strategy, feature))
}

//! The functions of JSON that have clauses, and `IS JSON`, as plain calls: each clause becomes an argument, a text that
//! is its first words. `function/json` reads them.

use datafusion::sql::sqlparser::{
    ast::{
        ArrayElemTypeDef, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Spanned,
        UnaryOperator, Value,
    },
    parser::{Parser, ParserError},
    tokenizer::Token,
};

use super::{dialect::call, interval::place, refusal::Refusal};
use crate::function::{IS_JSON, JSON_RAW, JsonPath};

type Parsed<T> = Result<T, ParserError>;

/// Reads a call from its name on.
type Reader = fn(&mut Parser<'_>) -> Parsed<Expr>;

/// What a clause can answer with, by its words.
const ANSWERS: [&[&str]; 8] = [
    &["NULL"],
    &["ERROR"],
    &["DEFAULT"],
    &["TRUE"],
    &["FALSE"],
    &["UNKNOWN"],
    &["EMPTY", "ARRAY"],
    &["EMPTY", "OBJECT"],
];

/// The reader of a function that has clauses.
pub(super) fn reader(name: &str) -> Option<Reader> {
    let readers: [(&str, Reader); 7] = [
        ("JSON_EXISTS", json_exists),
        ("JSON_VALUE", json_value),
        ("JSON_QUERY", json_query),
        ("JSON_OBJECT", json_object),
        ("JSON_ARRAY", json_array),
        ("JSON_OBJECTAGG", not_yet),
        ("JSON_ARRAYAGG", not_yet),
    ];
    readers.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, reader)| reader)
}

/// `JSON_EXISTS(text, path [answer ON ERROR])`
fn json_exists(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let (name, mut args) = head(parser)?;
    let [on_error] = clauses(parser, "FALSE", &["TRUE", "FALSE", "UNKNOWN", "ERROR"], ["ERROR"])?;
    parser.expect_token(&Token::RParen)?;
    args.push(on_error.answer);
    Ok(call(name, args))
}

/// `JSON_VALUE(text, path [RETURNING type] [answer ON EMPTY] [answer ON ERROR])`
fn json_value(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let (mut name, mut args) = head(parser)?;
    name.value += &returning(parser)?;
    let clauses = clauses(parser, "NULL", &["NULL", "ERROR", "DEFAULT"], ["EMPTY", "ERROR"])?;
    args.extend(clauses.into_iter().flat_map(|clause| [clause.answer, clause.default]));
    parser.expect_token(&Token::RParen)?;
    Ok(call(name, args))
}

/// `JSON_QUERY(text, path [RETURNING type] [wrapper] [answer ON EMPTY] [answer ON ERROR])`
fn json_query(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let (mut name, mut args) = head(parser)?;
    name.value += &returning(parser)?;
    args.push(text(wrapper(parser)?));
    let clauses = clauses(parser, "NULL", &["NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT"], ["EMPTY", "ERROR"])?;
    args.extend(clauses.into_iter().map(|clause| clause.answer));
    parser.expect_token(&Token::RParen)?;
    Ok(call(name, args))
}

/// Aggregates have clauses too: without this their words would be found wrong, and not they.
fn not_yet(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let name = parser.peek_token_ref().token.to_string().to_uppercase();
    Err(ParserError::ParserError(format!("{name} is not supported yet")))
}

/// The name, the text and the path.
fn head(parser: &mut Parser<'_>) -> Parsed<(Ident, Vec<Expr>)> {
    let name = parser.parse_identifier()?;
    parser.expect_token(&Token::LParen)?;
    let input = parser.parse_expr()?;
    parser.expect_token(&Token::Comma)?;
    let path = parser.parse_expr()?;
    Ok((name, vec![input, path]))
}

/// What the name has behind it: ` RETURNING type`, but for a STRING, which is the default.
fn returning(parser: &mut Parser<'_>) -> Parsed<String> {
    if !take_words(parser, &["RETURNING"]) {
        return Ok(String::new());
    }
    let data_type = parser.parse_data_type()?;
    Ok(match type_name(&data_type).as_str() {
        "STRING" => String::new(),
        other => format!(" RETURNING {other}"),
    })
}

fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::String(None) | DataType::Varchar(None) | DataType::Char(None) => "STRING".to_owned(),
        DataType::Integer(None) => "INT".to_owned(),
        DataType::Array(ArrayElemTypeDef::AngleBracket(element)) => format!("ARRAY<{}>", type_name(element)),
        other => other.to_string(),
    }
}

fn wrapper(parser: &mut Parser<'_>) -> Parsed<&'static str> {
    let kind = if take_words(parser, &["WITHOUT"]) {
        "WITHOUT"
    } else if take_words(parser, &["WITH"]) {
        match take_words(parser, &["CONDITIONAL"]) {
            true => "CONDITIONAL",
            false => {
                take_words(parser, &["UNCONDITIONAL"]);
                "WITH"
            }
        }
    } else {
        return Ok("WITHOUT");
    };
    take_words(parser, &["ARRAY"]);
    expect_words(parser, &["WRAPPER"])?;
    Ok(kind)
}

/// A clause as arguments.
struct Clause {
    answer: Expr,
    /// NULL where there is none.
    default: Expr,
}

/// `answer ON EMPTY` and `answer ON ERROR`, those of `ends`, each once; what is not said is `unsaid`.
fn clauses<const N: usize>(
    parser: &mut Parser<'_>,
    unsaid: &str,
    answers: &[&str],
    ends: [&str; N],
) -> Parsed<[Clause; N]> {
    let none = || Expr::Value(Value::Null.into());
    let mut said = ends.map(|_| None);
    while let Some(words) = ANSWERS.iter().find(|words| is_next(parser, words)) {
        let start = parser.peek_token_ref().clone();
        let answer = words.join(" ");
        if !answers.contains(&answer.as_str()) {
            return parser.expected(&answers.join(", "), start);
        }
        take_words(parser, words);
        let default = if answer == "DEFAULT" { parser.parse_expr()? } else { none() };
        expect_words(parser, &["ON"])?;
        match ends.iter().zip(&mut said).find(|(end, said)| said.is_none() && is_next(parser, &[end])) {
            Some((end, said)) => {
                take_words(parser, &[end]);
                *said = Some(Clause { answer: text(&answer), default });
            }
            None => return parser.expected_ref(ends[N - 1], parser.peek_token_ref()),
        }
    }
    Ok(said.map(|clause| clause.unwrap_or_else(|| Clause { answer: text(unsaid), default: none() })))
}

/// `JSON_OBJECT([[KEY] name VALUE value, ...] [NULL | ABSENT ON NULL])`
fn json_object(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let name = parser.parse_identifier()?;
    parser.expect_token(&Token::LParen)?;
    let mut members = vec![];
    while let Token::SingleQuotedString(_) | Token::Word(_) = parser.peek_token_ref().token
        && !nulls_next(parser)
    {
        take_words(parser, &["KEY"]);
        members.push(member_name(parser)?);
        if !parser.consume_token(&Token::Colon) {
            expect_words(parser, &["VALUE"])?;
        }
        members.extend(value(parser)?);
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    built(parser, name, "NULL", members)
}

/// Names are constants, as Flink has them.
fn member_name(parser: &mut Parser<'_>) -> Parsed<Expr> {
    match &parser.peek_token_ref().token {
        Token::SingleQuotedString(_) => Ok(Expr::Value(parser.parse_value()?)),
        _ => parser.expected_ref("the name of a member in single quotes", parser.peek_token_ref()),
    }
}

/// `JSON_ARRAY([value, ...] [NULL | ABSENT ON NULL])`
fn json_array(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let name = parser.parse_identifier()?;
    parser.expect_token(&Token::LParen)?;
    let mut elements = vec![];
    while parser.peek_token_ref().token != Token::RParen && !nulls_next(parser) {
        elements.extend(value(parser)?);
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    built(parser, name, "ABSENT", elements)
}

/// The call, behind whose last value the parser stands.
fn built(parser: &mut Parser<'_>, name: Ident, unsaid: &str, values: Vec<Expr>) -> Parsed<Expr> {
    let mut nulls = unsaid;
    for word in ["NULL", "ABSENT"] {
        if take_words(parser, &[word, "ON", "NULL"]) {
            nulls = word;
        }
    }
    parser.expect_token(&Token::RParen)?;
    Ok(call(name, [vec![text(nulls)], values].concat()))
}

fn nulls_next(parser: &Parser<'_>) -> bool {
    is_next(parser, &["NULL", "ON", "NULL"]) || is_next(parser, &["ABSENT", "ON", "NULL"])
}

/// A value, and whether it is JSON already: what another call of these makes, or `JSON(text)`.
fn value(parser: &mut Parser<'_>) -> Parsed<[Expr; 2]> {
    let mut value = parser.parse_expr()?;
    let mut raw = false;
    if let Expr::Function(function) = &mut value {
        let name = function.name.to_string();
        raw = ["JSON_OBJECT", "JSON_ARRAY", "JSON"].iter().any(|known| known.eq_ignore_ascii_case(&name));
        if name.eq_ignore_ascii_case("JSON") {
            function.name = vec![Ident::with_span(function.name.span(), JSON_RAW)].into();
        }
    }
    Ok([value, Expr::Value(Value::Boolean(raw).into())])
}

/// Reads `IS [NOT] JSON [VALUE | SCALAR | ARRAY | OBJECT]` behind its operand, if that is what comes.
pub(super) fn is_json(parser: &mut Parser<'_>, operand: &Expr) -> Option<Expr> {
    let negated = is_next(parser, &["IS", "NOT", "JSON"]);
    if !negated && !is_next(parser, &["IS", "JSON"]) {
        return None;
    }
    let span = parser.peek_token_ref().span;
    take_words(parser, if negated { &["IS", "NOT", "JSON"] } else { &["IS", "JSON"] });
    let kinds = ["VALUE", "SCALAR", "ARRAY", "OBJECT"];
    let kind = kinds.into_iter().find(|kind| take_words(parser, &[kind])).unwrap_or("VALUE");
    let is = call(Ident::with_span(span, IS_JSON), vec![operand.clone(), text(kind)]);
    Some(match negated {
        true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(is) },
        false => is,
    })
}

/// The operand of `IS JSON`, if the expression is one.
pub(super) fn operand_of_is_json(expr: &Expr) -> Option<&Expr> {
    let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = expr else { return None };
    let is_json = name.0.first().and_then(|part| part.as_ident()).is_some_and(|ident| ident.value == IS_JSON);
    match list.args.first() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(operand))) if is_json => Some(operand),
        _ => None,
    }
}

fn text(text: &str) -> Expr {
    Expr::Value(Value::SingleQuotedString(text.to_owned()).into())
}

fn is_word(parser: &Parser<'_>, index: usize, word: &str) -> bool {
    matches!(&parser.peek_nth_token_ref(index).token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

fn is_next(parser: &Parser<'_>, words: &[&str]) -> bool {
    words.iter().enumerate().all(|(index, word)| is_word(parser, index, word))
}

/// Takes the words, if all of them come next.
fn take_words(parser: &mut Parser<'_>, words: &[&str]) -> bool {
    let found = is_next(parser, words);
    if found {
        words.iter().for_each(|_| parser.advance_token());
    }
    found
}

fn expect_words(parser: &mut Parser<'_>, words: &[&str]) -> Parsed<()> {
    if take_words(parser, words) { Ok(()) } else { parser.expected_ref(&words.join(" "), parser.peek_token_ref()) }
}

/// Refuses a path that is none, and a type that is not returned.
///
/// # Errors
/// As said, at the place of the path or of the call.
pub(super) fn check(function: &Function) -> Result<(), Refusal> {
    let name = function.name.to_string().to_uppercase();
    let (name, returned) = name.split_once(" RETURNING ").unwrap_or((&name, "STRING"));
    let types: &[&str] = match name {
        "JSON_EXISTS" => &["STRING"],
        "JSON_VALUE" => &["STRING", "BOOLEAN", "INT", "DOUBLE"],
        "JSON_QUERY" => &["STRING", "ARRAY<STRING>"],
        _ => return Ok(()),
    };
    if !types.contains(&returned) {
        return Err(Refusal::new(format!("{name} does not return {returned}"), function.name.span())
            .hint(format!("it returns {}: CAST that to other types", types.join(", "))));
    }
    let FunctionArguments::List(list) = &function.args else { return Ok(()) };
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(path))) = list.args.get(1) else { return Ok(()) };
    let Expr::Value(value) = path else { return Err(no_constant(name, path)) };
    let Value::SingleQuotedString(text) = &value.value else { return Err(no_constant(name, path)) };
    match JsonPath::parse(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::new(error.message(), value.span).hint(error.hint_text().unwrap_or_default())),
    }
}

fn no_constant(name: &str, path: &Expr) -> Refusal {
    Refusal::new(format!("the path of {name} is no constant text"), place(path)).hint("write it as '$.name'")
}

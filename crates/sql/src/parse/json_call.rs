//! The functions of JSON that have clauses, as plain calls: each clause becomes an argument, a text that
//! is its first words. `function/json` reads them.

use datafusion::sql::sqlparser::{
    ast::{
        ArrayElemTypeDef, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
        NullTreatment, Spanned, Value,
    },
    keywords::Keyword,
    parser::{Parser, ParserError},
    tokenizer::{Span, Token},
};

use super::{
    dialect::call,
    interval::place,
    refusal::Refusal,
    words::{expect_words, is_next, take_words, text},
};
use crate::function::{JSON_ELEMENT, JSON_LIST, JSON_MEMBER, JSON_MEMBERS, JSON_RAW, JsonPath};

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
        ("JSON_OBJECTAGG", json_objectagg),
        ("JSON_ARRAYAGG", json_arrayagg),
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
    let mut more = has_values(parser);
    while more {
        take_words(parser, &["KEY"]);
        members.push(member_name(parser)?);
        if !parser.consume_token(&Token::Colon) {
            expect_words(parser, &["VALUE"])?;
        }
        members.extend(value(parser)?);
        more = parser.consume_token(&Token::Comma);
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
    let mut more = has_values(parser);
    while more {
        elements.extend(value(parser)?);
        more = parser.consume_token(&Token::Comma);
    }
    built(parser, name, "ABSENT", elements)
}

/// The call, behind whose last value the parser stands.
fn built(parser: &mut Parser<'_>, name: Ident, unsaid: &str, values: Vec<Expr>) -> Parsed<Expr> {
    let nulls = nulls(parser, unsaid);
    parser.expect_token(&Token::RParen)?;
    Ok(call(name, [vec![nulls], values].concat()))
}

/// `NULL | ABSENT ON NULL`, where it stands.
fn nulls(parser: &mut Parser<'_>, unsaid: &str) -> Expr {
    let said = ["NULL", "ABSENT"].into_iter().find(|word| take_words(parser, &[word, "ON", "NULL"]));
    text(said.unwrap_or(unsaid))
}

/// `JSON_ARRAYAGG(value [NULL | ABSENT ON NULL]) [FILTER (WHERE condition)]`: a list of texts, which are put together.
fn json_arrayagg(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let name = parser.parse_identifier()?;
    parser.expect_token(&Token::LParen)?;
    let [value, raw] = value(parser)?;
    let element = vec![nulls(parser, "ABSENT"), value, raw];
    collected(parser, name.span, element, [JSON_ELEMENT, JSON_LIST])
}

/// `JSON_OBJECTAGG([KEY] name VALUE value [NULL | ABSENT ON NULL]) [FILTER (WHERE condition)]`
fn json_objectagg(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let function = parser.parse_identifier()?;
    parser.expect_token(&Token::LParen)?;
    take_words(parser, &["KEY"]);
    let name = parser.parse_expr()?;
    if !parser.consume_token(&Token::Colon) {
        expect_words(parser, &["VALUE"])?;
    }
    let [value, raw] = value(parser)?;
    let member = vec![nulls(parser, "NULL"), name, value, raw];
    collected(parser, function.span, member, [JSON_MEMBER, JSON_MEMBERS])
}

/// `whole(ARRAY_AGG(part(...)) IGNORE NULLS)`
fn collected(parser: &mut Parser<'_>, span: Span, part: Vec<Expr>, [name, whole]: [&str; 2]) -> Parsed<Expr> {
    parser.expect_token(&Token::RParen)?;
    let mut list = call(Ident::with_span(span, "array_agg"), vec![call(Ident::with_span(span, name), part)]);
    if let Expr::Function(function) = &mut list {
        function.null_treatment = Some(NullTreatment::IgnoreNulls);
        if parser.parse_keyword(Keyword::FILTER) {
            parser.expect_token(&Token::LParen)?;
            parser.expect_keyword(Keyword::WHERE)?;
            function.filter = Some(Box::new(parser.parse_expr()?));
            parser.expect_token(&Token::RParen)?;
        }
    }
    Ok(call(Ident::with_span(span, whole), vec![list]))
}

/// Whether a value comes, and neither the end nor the clause.
fn has_values(parser: &Parser<'_>) -> bool {
    let clause = is_next(parser, &["NULL", "ON", "NULL"]) || is_next(parser, &["ABSENT", "ON", "NULL"]);
    !clause && parser.peek_token_ref().token != Token::RParen
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

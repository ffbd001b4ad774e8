//! Parts of URLs, split as written: nothing is decoded, normalised or checked beyond the scheme.

use super::{Evaluate as E, Function, Parameter as P, Row};

pub(super) static FUNCTIONS: [Function; 3] = [
    Function::new(
        &["parse_url"],
        "PARSE_URL(url, part[, key])",
        "its HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY or USERINFO; of QUERY the value of a key",
        &[P::Text, P::Text, P::Text],
        E::Text(parse_url),
    )
    .required(2)
    .differs("a URL of any scheme has parts; Flink knows http, https, ftp, file, jar and mailto"),
    Function::new(
        &["url_encode"],
        "URL_ENCODE(string)",
        "as application/x-www-form-urlencoded",
        &[P::Text],
        E::Text(|row| row.text(0).map(encoded)),
    ),
    Function::new(
        &["url_decode"],
        "URL_DECODE(string)",
        "from application/x-www-form-urlencoded; NULL where it is none",
        &[P::Text],
        E::Text(|row| decoded(row.text(0)?)),
    ),
];

struct Url<'a> {
    scheme: &'a str,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl<'a> Url<'a> {
    fn split(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(':')?;
        let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(letter) {
            return None;
        }
        let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, f)| (rest, Some(f)));
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, q)| (rest, Some(q)));
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        Some(Self { scheme, authority, path, query, fragment })
    }

    fn host(&self) -> &'a str {
        let authority = self.authority.unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        match host.rsplit_once(':') {
            Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
            _ => host,
        }
    }
}

fn parse_url(row: Row<'_>) -> Option<String> {
    let (url, part) = (Url::split(row.text(0)?)?, row.text(1)?);
    if row.count() > 2 {
        let (key, query) = (row.text(2)?, url.query.filter(|_| part == "QUERY")?);
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        return pairs.find(|(name, _)| *name == key).map(|(_, value)| value.to_owned());
    }
    match part {
        "HOST" => Some(url.host().to_owned()),
        "PATH" => Some(url.path.to_owned()),
        "QUERY" => url.query.map(str::to_owned),
        "REF" => url.fragment.map(str::to_owned),
        "PROTOCOL" => Some(url.scheme.to_owned()),
        "FILE" => Some(url.query.map_or(url.path.to_owned(), |query| format!("{}?{query}", url.path))),
        "AUTHORITY" => url.authority.map(str::to_owned),
        "USERINFO" => url.authority?.rsplit_once('@').map(|(user, _)| user.to_owned()),
        _ => None,
    }
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b' ' => "+".to_owned(),
        b'.' | b'-' | b'*' | b'_' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => break,
            [b'%', digits @ ..] => {
                let (digits, after) = digits.split_at_checked(2)?;
                bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
                after
            }
            [b'+', after @ ..] => {
                bytes.push(b' ');
                after
            }
            [byte, after @ ..] => {
                bytes.push(*byte);
                after
            }
        };
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

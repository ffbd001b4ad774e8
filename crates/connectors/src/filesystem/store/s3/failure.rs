//! What went wrong with a request, in the words of who can mend it.

use std::error::Error as StdError;

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};
use tidemill_core::Error;

/// Where credentials are asked for if the environment has none: an address that only machines of AWS can reach.
const CREDENTIALS_OF_MACHINE: &str = "169.254.169.254";

/// The error of a request. It does not name what was asked for.
pub(super) fn failed(e: StoreError, bucket: &str) -> Error {
    let text = e.to_string();
    let error = match &e {
        _ if text.contains(CREDENTIALS_OF_MACHINE) => {
            Error::unavailable("there are no credentials for S3 in the environment, and this machine has none")
                .hint("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for a public bucket AWS_SKIP_SIGNATURE=true")
        }
        _ if text.contains("NoSuchBucket") => Error::unavailable(format!("there is no bucket '{bucket}'"))
            .hint("check its name, and that AWS_ENDPOINT_URL, if it is set, is the service that has it"),
        StoreError::NotFound { .. } => {
            Error::unavailable("the object is gone").hint("objects must stay while they are read")
        }
        StoreError::Precondition { .. } => Error::unavailable("the object was replaced while it was read")
            .hint("objects must stay as they are while they are read: put new content under a new key"),
        _ if is_denied(&e, &text) => {
            Error::unavailable(format!("access is denied: {}", answer(&text).unwrap_or_else(|| innermost(&e)))).hint(
                "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and that they may list the \
                 bucket (s3:ListBucket) and read its objects (s3:GetObject)",
            )
        }
        _ => other(&e, &text),
    };
    error.because(e)
}

/// Whether it is the credentials; of a listing only the text says the status of the answer.
fn is_denied(e: &StoreError, text: &str) -> bool {
    matches!(e, StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. })
        || ["status code: 403", "status code: 401"].iter().any(|status| text.contains(status))
}

/// A server that is not there, does not answer, or answers what it should not.
fn other(e: &StoreError, text: &str) -> Error {
    let http = causes(e).find_map(|cause| cause.downcast_ref::<HttpError>());
    let reason = answer(text).unwrap_or_else(|| innermost(e));
    match http.map(HttpError::kind) {
        Some(HttpErrorKind::Connect) => Error::unavailable(format!("cannot connect to {}: {reason}", server(text)))
            .hint("check the network, AWS_ENDPOINT_URL and AWS_REGION"),
        Some(HttpErrorKind::Timeout) => Error::unavailable(format!("{} does not answer: {reason}", server(text)))
            .hint("check the network, and try again"),
        _ if ["without LOCATION", "AuthorizationHeaderMalformed", "PermanentRedirect"]
            .iter()
            .any(|s| text.contains(s)) =>
        {
            Error::unavailable(format!("the bucket is in another region: {reason}"))
                .hint("set AWS_REGION to the region of the bucket")
        }
        _ => Error::unavailable(reason),
    }
}

/// The chain of errors, from the outermost in.
fn causes<'e>(e: &'e (dyn StdError + 'static)) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(e), |cause: &&'e (dyn StdError + 'static)| (*cause).source())
}

fn innermost(e: &StoreError) -> String {
    causes(e).last().map_or_else(|| e.to_string(), ToString::to_string)
}

/// What S3 says of a request that it refuses: `The bucket is ... (NoSuchBucket)`.
fn answer(text: &str) -> Option<String> {
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0)
    };
    let code = element("Code")?;
    Some(element("Message").map_or_else(|| code.to_owned(), |message| format!("{message} ({code})")))
}

/// Who was asked: the scheme and the host of the first URL.
fn server(text: &str) -> &str {
    let Some(start) = text.find("https://").or_else(|| text.find("http://")) else { return "the server" };
    let url = text[start..].split([' ', '?', ')', '"']).next().unwrap_or_default();
    match url.match_indices('/').nth(2) {
        Some((end, _)) => &url[..end],
        None => url,
    }
}

#[cfg(test)]
mod tests;

//! Objects of an S3 bucket, or of a service that speaks as S3 does.
//!
//! A `/` in a key is taken as the end of a folder's name. Credentials, the region and the service's address stand in the
//! environment, under the names that AWS's own tools use.

mod budget;
mod failure;
mod named;
mod object;
mod requests;
mod text;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as Key;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig};
use tidemill_core::{Error, Result};

use self::failure::failed;
use self::named::Named;
use self::object::Object;
use super::{Found, MayLack, Store};

/// Requests are repeated for at most about this long: the waits between them double from a tenth of a second on.
const RETRIES: usize = 7;
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

/// What a URL names in a bucket.
pub(super) struct S3Store {
    /// The URL as the user wrote it.
    written: Arc<str>,
    bucket: Arc<Bucket>,
    named: Named,
}

/// A bucket, and how to ask for what is in it.
struct Bucket {
    name: String,
    /// The URL without what stands behind the bucket.
    url: String,
    service: Arc<dyn ObjectStore>,
}

impl S3Store {
    /// What `key` names: an object, all those in a folder, or those that fit a pattern. Does no I/O.
    ///
    /// # Errors
    /// `Invalid` if the key is no path or no pattern, or if a variable of the environment has a wrong value.
    pub(super) fn new(written: &Arc<str>, bucket: &str, key: &str) -> Result<Self> {
        let named = Named::new(written, key)?;
        let scheme = written.split_once("://").map_or("s3", |(scheme, _)| scheme);
        let bucket = Bucket {
            name: bucket.to_owned(),
            url: format!("{scheme}://{bucket}"),
            service: Arc::new(service(bucket)?),
        };
        Ok(Self { written: Arc::clone(written), bucket: Arc::new(bucket), named })
    }
}

/// The service that the environment names.
fn service(bucket: &str) -> Result<AmazonS3> {
    let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
    let endpoints = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let endpoint = endpoints.iter().find_map(|key| builder.get_config_value(key));
    // Who names an address without TLS wants none.
    if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
        builder = builder.with_allow_http(true);
    }
    builder.build().map_err(|e| {
        Error::invalid(format!("the settings of S3 in the environment are wrong: {e}"))
            .because(e)
            .hint("they are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL")
    })
}

impl Store for S3Store {
    fn files(&self, may_lack: MayLack) -> Result<Vec<Found>> {
        let bucket = Arc::clone(&self.bucket);
        let named = self.named.clone();
        let listed = requests::ask(async move { bucket.named(&named).await });
        let objects = listed.map_err(|e| e.context(format!("cannot list '{}'", self.written)))?;
        if objects.is_empty() && may_lack == MayLack::Nothing {
            return Err(Error::unavailable(format!("there is no object '{}'", self.written)).hint(format!(
                "list what is there: aws s3 ls {}/; names that begin with '.' or '_' are hidden",
                self.bucket.url
            )));
        }
        Ok(objects.into_iter().map(|object| self.found(object)).collect())
    }
}

impl S3Store {
    fn found(&self, meta: ObjectMeta) -> Found {
        let url = format!("{}/{}", self.bucket.url, meta.location);
        let object = Object::new(Arc::clone(&self.bucket), meta);
        Found { path: PathBuf::from(&url), name: url.into(), file: Arc::new(object) }
    }
}

impl Bucket {
    /// The objects that are named, in order. One without bytes stands for an empty folder, as S3's console and Hadoop
    /// make them, and is left out.
    async fn named(&self, named: &Named) -> Result<Vec<ObjectMeta>> {
        // An object may have a key that looks like a pattern, so what is there comes first.
        if let Some(object) = self.object(named).await? {
            return Ok(vec![object]);
        }
        let listed = self.service.list(named.folder());
        let listed: Vec<_> = listed.try_collect().await.map_err(|e| failed(e, &self.name))?;
        let mut objects: Vec<_> =
            listed.into_iter().filter(|object| object.size > 0 && named.names(&object.location)).collect();
        objects.sort_by(|one, other| one.location.parts().cmp(other.location.parts()));
        Ok(objects)
    }

    /// The object that has the key, if there is one.
    async fn object(&self, named: &Named) -> Result<Option<ObjectMeta>> {
        let Some(key) = named.key() else { return Ok(None) };
        match self.service.head(key).await {
            Ok(object) => Ok(Some(object)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(e) => Err(failed(e, &self.name)),
        }
    }

    /// So many bytes of an object, if it is still that which was listed.
    async fn bytes(&self, key: &Key, e_tag: Option<String>, range: Range<u64>) -> Result<Bytes> {
        let options = GetOptions::new().with_range(Some(range.clone())).with_if_match(e_tag);
        let asked = async { self.service.get_opts(key, options).await?.bytes().await };
        let bytes = asked.await.map_err(|e| failed(e, &self.name))?;
        if bytes.len() as u64 != range.end - range.start {
            let what = format!("of the bytes {} to {} only {} came", range.start, range.end, bytes.len());
            return Err(Error::unavailable(what).hint("objects must stay as they are while they are read"));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;

//! Where checkpoints are kept: a folder, or a prefix of an object store.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, WriteMultipart};
use tidemill_core::{Error, Result};
use tokio::task::spawn_blocking;
use url::Url;

use super::pulse::Pulse;

/// How the name ends of a file that is not whole yet.
pub(super) const UNFINISHED: &str = ".unfinished";

/// Files by name. What [`Place::put`] and [`Growing::finish`] have done survives a crash of the machine.
#[derive(Clone)]
pub enum Place {
    /// A folder of this machine.
    Folder(PathBuf),
    /// Objects under a prefix.
    Objects {
        /// The service.
        store: Arc<dyn ObjectStore>,
        /// What stands before the names.
        prefix: Key,
        /// As the user would write it.
        shown: Arc<str>,
    },
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "{}", path.display()),
            Self::Objects { shown, .. } => f.write_str(shown),
        }
    }
}

impl Place {
    /// A folder, or what a URL names: `file:///...`, `s3://bucket/prefix` where the program was built for it. An
    /// object store's credentials are taken from the environment, as its own tools take them.
    ///
    /// # Errors
    /// `Invalid` if the URL is none, or of a kind that this program was not built for.
    pub fn parse(text: &str, folder: &Path) -> Result<Self> {
        if !text.contains("://") {
            return Ok(Self::Folder(folder.join(text)));
        }
        let refused = |why: String| Error::invalid(format!("'{text}' is no place for checkpoints: {why}"));
        let url = Url::parse(text).map_err(|e| refused(e.to_string()))?;
        if url.scheme() == "file" {
            return url
                .to_file_path()
                .map(Self::Folder)
                .map_err(|()| refused("it is no path of this machine".to_owned()));
        }
        let variables = std::env::vars().map(|(key, value)| (key.to_ascii_lowercase(), value));
        let (store, prefix) = object_store::parse_url_opts(&url, variables).map_err(|e| {
            refused(e.to_string())
                .hint("write a folder or file:///..., or an s3:// URL if the program was built with it")
        })?;
        Ok(Self::Objects { store: Arc::from(store), prefix, shown: text.into() })
    }

    /// The names that are there, in order.
    pub(super) async fn names(&self) -> Result<Vec<String>> {
        let mut names = match self {
            Self::Folder(path) => {
                let path = path.clone();
                blocking(move || names_in(&path)).await?
            }
            Self::Objects { store, prefix, .. } => {
                // Not what lies below: that may be another place.
                let listed = store.list_with_delimiter(Some(prefix)).await.map_err(|e| self.failed("list", "", e))?;
                listed.objects.iter().filter_map(|object| object.location.filename().map(str::to_owned)).collect()
            }
        };
        names.sort();
        Ok(names)
    }

    /// Puts a file in place, whole, where there is none of this name: gives whether it did. In a folder it is called
    /// `staged` until it is whole.
    pub(super) async fn put(&self, name: &str, staged: &str, content: Vec<u8>) -> Result<bool> {
        match self {
            Self::Folder(path) => {
                let mut file = begin(path.join(name), path.join(staged)).await?;
                file.write(content, &Pulse::default()).await?;
                file.finish_new().await
            }
            Self::Objects { store, prefix, .. } => {
                let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
                match store.put_opts(&prefix.clone().join(name), content.into(), options).await {
                    Ok(_) => Ok(true),
                    Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
                    Err(e) => Err(self.failed("write", name, e)),
                }
            }
        }
    }

    /// Begins a file that grows, and is there when it is finished; one of this name is replaced.
    pub(super) async fn create(&self, name: &str) -> Result<Growing> {
        match self {
            Self::Folder(path) => begin(path.join(name), path.join(format!("{name}{UNFINISHED}"))).await,
            Self::Objects { store, prefix, .. } => {
                let upload = store.put_multipart(&prefix.clone().join(name)).await;
                let upload = upload.map_err(|e| self.failed("write", name, e))?;
                let upload = WriteMultipart::new_with_chunk_size(upload, UPLOAD_BYTES);
                Ok(Growing::Object { upload, place: self.clone(), name: name.to_owned() })
            }
        }
    }

    /// The whole of a file.
    pub(super) async fn get(&self, name: &str) -> Result<Bytes> {
        match self {
            Self::Folder(path) => {
                let path = path.join(name);
                blocking(move || fs::read(&path).map(Bytes::from).map_err(|e| io_failed("read", &path, e))).await
            }
            Self::Objects { store, prefix, .. } => {
                let read = async { store.get(&prefix.clone().join(name)).await?.bytes().await };
                read.await.map_err(|e| self.failed("read", name, e))
            }
        }
    }

    /// So many bytes of a file, from `offset` on.
    pub(super) async fn get_range(&self, name: &str, offset: u64, bytes: u64) -> Result<Bytes> {
        match self {
            Self::Folder(path) => {
                let path = path.join(name);
                blocking(move || {
                    let mut content = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
                    let read = File::open(&path).and_then(|mut file| {
                        file.seek(SeekFrom::Start(offset))?;
                        file.read_exact(&mut content)
                    });
                    read.map_err(|e| io_failed("read", &path, e))?;
                    Ok(content.into())
                })
                .await
            }
            Self::Objects { store, prefix, .. } => {
                let read = store.get_range(&prefix.clone().join(name), offset..offset + bytes).await;
                read.map_err(|e| self.failed("read", name, e))
            }
        }
    }

    /// Deletes a file; nothing happens if it is not there.
    pub(super) async fn delete(&self, name: &str) -> Result<()> {
        match self {
            Self::Folder(path) => {
                let path = path.join(name);
                blocking(move || match fs::remove_file(&path) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => Err(io_failed("delete", &path, e)),
                    _ => Ok(()),
                })
                .await
            }
            Self::Objects { store, prefix, .. } => match store.delete(&prefix.clone().join(name)).await {
                Err(object_store::Error::NotFound { .. }) | Ok(()) => Ok(()),
                Err(e) => Err(self.failed("delete", name, e)),
            },
        }
    }

    fn failed(&self, what: &str, name: &str, e: object_store::Error) -> Error {
        let message = format!("cannot {what} '{self}/{name}': {e}");
        let error = match e {
            object_store::Error::NotFound { .. } => Error::data(message),
            _ => Error::unavailable(message),
        };
        let error = match e {
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                error.hint("check the credentials in the environment, and what they allow")
            }
            _ => error,
        };
        error.because(e)
    }
}

/// Begins a file of a folder that is called `staged` until it is finished.
async fn begin(path: PathBuf, staged: PathBuf) -> Result<Growing> {
    blocking(move || {
        let parent = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(|e| io_failed("create the folder", parent, e))?;
        let file = File::create(&staged).map_err(|e| io_failed("create", &staged, e))?;
        Ok(Growing::File { file, staged, path })
    })
    .await
}

/// A file that grows.
pub(super) enum Growing {
    File { file: File, staged: PathBuf, path: PathBuf },
    Object { upload: WriteMultipart, place: Place, name: String },
}

/// How many parts of an upload are under way at once.
const UPLOADS: usize = 4;

/// How large they are: S3 takes 10,000 of them, which are 156 GiB.
const UPLOAD_BYTES: usize = 16 << 20;

/// So many bytes are on the disk before more are written to a file: then the end of a large one does not take long.
const SYNCED_BYTES: usize = 64 << 20;

impl Growing {
    /// Writes more; `pulse` beats while that goes on.
    pub(super) async fn write(&mut self, content: Vec<u8>, pulse: &Pulse) -> Result<()> {
        match self {
            Self::File { file, staged, .. } => {
                let (mut file, staged) = (file.try_clone().map_err(|e| io_failed("write", staged, e))?, staged.clone());
                let pulse = pulse.clone();
                let mut write = move || {
                    for piece in content.chunks(SYNCED_BYTES) {
                        file.write_all(piece)?;
                        if piece.len() == SYNCED_BYTES {
                            file.sync_data()?;
                        }
                        pulse.beat();
                    }
                    Ok(())
                };
                blocking(move || write().map_err(|e| io_failed("write", &staged, e))).await
            }
            Self::Object { upload, place, name } => {
                let mut content = Bytes::from(content);
                while !content.is_empty() {
                    upload.wait_for_capacity(UPLOADS).await.map_err(|e| place.failed("write", name, e))?;
                    upload.put(content.split_to(content.len().min(UPLOAD_BYTES)));
                    pulse.beat();
                }
                Ok(())
            }
        }
    }

    /// Puts it in place; one of this name is replaced.
    pub(super) async fn finish(self, pulse: &Pulse) -> Result<()> {
        match self {
            Self::File { file, staged, path } => {
                blocking(move || {
                    file.sync_all().map_err(|e| io_failed("write", &staged, e))?;
                    fs::rename(&staged, &path).map_err(|e| io_failed("rename", &staged, e))?;
                    sync_parent(&path)
                })
                .await
            }
            Self::Object { mut upload, place, name } => {
                for under_way in (1..=UPLOADS).rev() {
                    upload.wait_for_capacity(under_way).await.map_err(|e| place.failed("write", &name, e))?;
                    pulse.beat();
                }
                upload.finish().await.map(drop).map_err(|e| place.failed("write", &name, e))
            }
        }
    }

    /// Puts a file of a folder in place where there is none of this name: gives whether it did.
    async fn finish_new(self) -> Result<bool> {
        let Self::File { file, staged, path } = self else {
            return self.finish(&Pulse::default()).await.map(|()| true);
        };
        blocking(move || {
            file.sync_all().map_err(|e| io_failed("write", &staged, e))?;
            // Unlike a rename it fails where there is one.
            let put = match fs::hard_link(&staged, &path) {
                Ok(()) => fs::remove_file(&staged).map(|()| true),
                // Not every file system has links.
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists && !path.exists() => {
                    fs::rename(&staged, &path).map(|()| true)
                }
                Err(_) => fs::remove_file(&staged).map(|()| false),
            };
            let put = put.map_err(|e| io_failed("write", &path, e))?;
            sync_parent(&path).map(|()| put)
        })
        .await
    }
}

fn sync_parent(path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    File::open(parent).and_then(|folder| folder.sync_all()).map_err(|e| io_failed("sync", parent, e))
}

fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        other => other.and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(|e| io_failed("list", folder, e))?,
    };
    Ok(entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// What a thread that may wait gives.
pub(super) async fn blocking<T: Send + 'static>(call: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match spawn_blocking(call).await {
        Ok(done) => done,
        Err(e) => Err(Error::internal(format!("a task that reads or writes a checkpoint has failed: {e}"))),
    }
}

fn io_failed(what: &str, path: &Path, e: io::Error) -> Error {
    let message = format!("cannot {what} '{}': {e}", path.display());
    let error = match e.kind() {
        // What is missing stays so, where all else may be another time.
        io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof => Error::data(message),
        _ => Error::unavailable(message),
    };
    let error = match e.kind() {
        io::ErrorKind::StorageFull => error.hint("make room on the disk, then run again: the job goes on where it was"),
        io::ErrorKind::FileTooLarge => {
            error.hint("raise the limit of a file's size (ulimit -f), then run again: the job goes on where it was")
        }
        io::ErrorKind::PermissionDenied => {
            error.hint("give the user who runs tidemill the right to read and write checkpoints there")
        }
        _ => error,
    };
    error.because(e)
}

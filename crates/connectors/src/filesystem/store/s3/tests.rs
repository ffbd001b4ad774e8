//! Objects that are read in pieces, from a store in memory. The whole-program tests ask a server.

use std::io::{self, Read, Seek, SeekFrom};

use object_store::memory::InMemory;
use proptest::prelude::*;

use super::*;
use crate::filesystem::store::{StoredFile, own_error};
use crate::format::parquet::ParquetInput;

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 31 % 251) as u8).collect()
}

fn put(bucket: &Arc<Bucket>, key: &str, content: &[u8]) {
    let (bucket, key, content) = (Arc::clone(bucket), Key::from(key), content.to_vec());
    requests::ask(async move {
        bucket.service.put(&key, content.into()).await.unwrap();
        Ok(())
    })
    .unwrap();
}

fn bucket(objects: &[(&str, &[u8])]) -> Arc<Bucket> {
    let bucket = Bucket { name: "b".to_owned(), url: "s3://b".to_owned(), service: Arc::new(InMemory::new()) };
    let bucket = Arc::new(bucket);
    objects.iter().for_each(|(key, content)| put(&bucket, key, content));
    bucket
}

fn store(bucket: &Arc<Bucket>, key: &str) -> S3Store {
    let written: Arc<str> = format!("s3://b/{key}").into();
    let named = Named::new(&written, key).unwrap();
    S3Store { written, bucket: Arc::clone(bucket), named }
}

fn names(store: &S3Store) -> Vec<String> {
    store.files(MayLack::Files).unwrap().into_iter().map(|found| found.name.to_string()).collect()
}

fn only(bucket: &Arc<Bucket>, key: &str) -> Arc<dyn StoredFile> {
    let found = store(bucket, key).files(MayLack::Nothing).unwrap();
    assert_eq!(found.len(), 1);
    Arc::clone(&found[0].file)
}

#[test]
fn objects_come_in_the_order_of_the_parts_of_their_names() {
    let bucket = bucket(&[("in/a-b/x", b"1"), ("in/a/x", b"1"), ("in/a", b"1"), ("in/marker", b""), ("in-b", b"1")]);
    assert_eq!(names(&store(&bucket, "in/")), ["s3://b/in/a", "s3://b/in/a/x", "s3://b/in/a-b/x"]);
    // An object of this key, and not the folder.
    assert_eq!(names(&store(&bucket, "in/a")), ["s3://b/in/a"]);
    assert_eq!(names(&store(&bucket, "in/a/")), ["s3://b/in/a/x"]);
    assert_eq!(names(&store(&bucket, "in/a*/x")), ["s3://b/in/a/x", "s3://b/in/a-b/x"]);
    assert!(names(&store(&bucket, "no")).is_empty());
    let error = store(&bucket, "no").files(MayLack::Nothing).err().unwrap();
    assert_eq!(error.message(), "there is no object 's3://b/no'");
}

#[test]
fn an_object_that_is_named_may_have_no_bytes() {
    let bucket = bucket(&[("empty", b"")]);
    let mut text = vec![];
    only(&bucket, "empty").bytes().unwrap().read_to_end(&mut text).unwrap();
    assert!(text.is_empty());
}

#[test]
fn a_large_object_is_read_whole_and_in_order() {
    let content = content(19_000_001);
    let bucket = bucket(&[("large", &content)]);
    let mut text = vec![];
    only(&bucket, "large").bytes().unwrap().read_to_end(&mut text).unwrap();
    assert!(text == content);
    let ParquetInput::Remote(remote) = only(&bucket, "large").parquet().unwrap() else { panic!("it is not remote") };
    assert!(remote.read_at(3, 18_000_000).unwrap() == content[3..18_000_003]);
}

#[test]
fn an_object_that_was_replaced_is_not_read() {
    let bucket = bucket(&[("x", b"before")]);
    let file = only(&bucket, "x");
    put(&bucket, "x", b"after!");
    let error = file.bytes().unwrap().read_to_end(&mut vec![]).unwrap_err();
    let error = own_error(error).unwrap();
    assert_eq!(error.message(), "the object was replaced while it was read");
}

#[tokio::test(flavor = "current_thread")]
async fn a_thread_of_a_runtime_may_wait_for_an_answer() {
    let bucket = bucket(&[("x", b"text")]);
    let mut text = String::new();
    only(&bucket, "x").bytes().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
}

#[derive(Debug, Clone)]
enum Step {
    Read(usize),
    Seek(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![4 => (0_usize..900_000).prop_map(Step::Read), 1 => (0_u64..3_100_000).prop_map(Step::Seek)];
    prop::collection::vec(step, 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reads_and_seeks_see_what_a_slice_shows(steps in steps()) {
        let content = content(3_000_000);
        let bucket = bucket(&[("x", &content)]);
        let mut object = only(&bucket, "x").bytes().unwrap();
        let mut slice = io::Cursor::new(&content);
        for step in steps {
            match step {
                Step::Seek(to) => {
                    let to = SeekFrom::Start(to);
                    prop_assert_eq!(object.seek(to).unwrap(), slice.seek(to).unwrap());
                }
                Step::Read(bytes) => {
                    let (mut read, mut expected) = (vec![0; bytes], vec![]);
                    let count = object.read(&mut read).unwrap();
                    (&mut slice).take(count as u64).read_to_end(&mut expected).unwrap();
                    let at_end = slice.position() >= content.len() as u64;
                    prop_assert!(count > 0 || bytes == 0 || at_end, "a read gives nothing before the end");
                    prop_assert!(read[..count] == expected);
                }
            }
        }
    }

    #[test]
    fn ranges_are_those_of_the_object(mut ends in prop::collection::vec(0_u64..12_000_000, 2..12)) {
        ends.sort_unstable();
        let content = content(12_000_000);
        let bucket = bucket(&[("x", &content)]);
        let ParquetInput::Remote(remote) = only(&bucket, "x").parquet().unwrap() else { panic!("it is not remote") };
        let ranges: Vec<_> = ends.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect();
        for fetching in [Some(remote.fetch(ranges.clone())), remote.fetch_ahead(ranges.clone())].into_iter().flatten() {
            let fetched = futures::executor::block_on(fetching).unwrap();
            prop_assert_eq!(fetched.len(), ranges.len());
            for (range, bytes) in ranges.iter().zip(fetched) {
                prop_assert!(bytes == content[range.start as usize..range.end as usize]);
            }
        }
    }
}

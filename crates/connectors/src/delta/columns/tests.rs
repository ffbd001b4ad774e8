use arrow::array::{Array, AsArray, Int64Array, TimestampMillisecondArray};
use arrow::datatypes::TimestampMicrosecondType;
use tidemill_core::ErrorKind;
use tidemill_runtime::connector::Options;

use super::*;

fn table(fields: Vec<Field>, partitioned_by: &[&str]) -> TableSpec {
    TableSpec {
        name: "t".into(),
        partitioned_by: partitioned_by.iter().map(|name| (*name).into()).collect(),
        schema: Arc::new(Schema::new(fields)),
        options: Options::default(),
        folder: std::path::PathBuf::new(),
    }
}

fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

fn millis(zone: Option<&str>) -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, zone.map(Into::into))
}

fn refused(fields: Vec<Field>, partitioned_by: &[&str]) -> String {
    let error = Columns::of(&table(fields, partitioned_by)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    error.message().to_owned()
}

#[test]
fn every_type_has_that_of_delta() {
    let item = |data_type| Arc::new(field("item", data_type));
    let entries =
        DataType::Struct(vec![Field::new("key", DataType::Utf8View, false), field("value", millis(None))].into());
    for (ours, delta) in [
        (DataType::Boolean, "boolean"),
        (DataType::Int8, "byte"),
        (DataType::Int16, "short"),
        (DataType::Int32, "integer"),
        (DataType::Int64, "long"),
        (DataType::Float32, "float"),
        (DataType::Float64, "double"),
        (DataType::Decimal128(38, 6), "decimal(38,6)"),
        (DataType::Utf8View, "string"),
        (DataType::BinaryView, "binary"),
        (DataType::Date32, "date"),
        (millis(None), "timestamp_ntz"),
        (millis(Some("UTC")), "timestamp"),
        (DataType::Timestamp(TimeUnit::Microsecond, None), "timestamp_ntz"),
        (DataType::List(item(millis(None))), "array<timestamp_ntz>"),
        (DataType::Struct(vec![field("x", millis(Some("UTC")))].into()), "struct<x: timestamp>"),
        (DataType::Map(Arc::new(Field::new("entries", entries, false)), false), "map<string, timestamp_ntz>"),
    ] {
        let columns = Columns::of(&table(vec![field("a", ours.clone())], &[])).unwrap();
        assert_eq!(columns.delta.field("a").unwrap().data_type().to_string(), delta, "{ours}");
    }
}

#[test]
fn what_delta_lacks_is_refused_with_the_column() {
    let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
    let time = DataType::Time32(TimeUnit::Millisecond);
    assert_eq!(
        refused(vec![field("a", nanos.clone())], &[]),
        "Delta Lake has no type for the column 'a', which is TIMESTAMP(9)"
    );
    assert_eq!(
        refused(vec![field("t", time.clone())], &[]),
        "Delta Lake has no type for the column 't', which is TIME"
    );
    let row = DataType::Struct(vec![field("x", DataType::List(Arc::new(field("item", time))))].into());
    assert_eq!(refused(vec![field("r", row)], &[]), "Delta Lake has no type for the column 'r.x', which is TIME");
}

#[test]
fn names_that_delta_can_not_have_are_refused() {
    assert_eq!(
        refused(vec![field("a b", DataType::Int64)], &[]),
        "a Delta table can't have the column 'a b': its name has ' '"
    );
    assert_eq!(
        refused(vec![field("a", DataType::Int64), field("A", DataType::Int64)], &[]),
        "a Delta table can't have the column 'A': another has the same name but for upper and lower case"
    );
    let row = DataType::Struct(vec![field("x=y", DataType::Int64)].into());
    assert_eq!(refused(vec![field("r", row)], &[]), "a Delta table can't have the column 'r.x=y': its name has '='");
}

#[test]
fn partitions_have_values_with_one_text() {
    let other = field("b", DataType::Int64);
    assert_eq!(
        refused(vec![field("a", DataType::Float64), other.clone()], &["a"]),
        "PARTITIONED BY does not take the type of the column 'a'"
    );
    assert_eq!(refused(vec![other.clone()], &["b"]), "every column of 't' is in PARTITIONED BY");
    let columns = Columns::of(&table(vec![other, field("a", DataType::Utf8View)], &["a"])).unwrap();
    assert_eq!((columns.in_partition.as_slice(), columns.in_file.as_slice()), (&[1][..], &[0][..]));
}

#[test]
fn times_become_microseconds_and_one_that_is_too_far_off_is_an_error() {
    let columns = Columns::of(&table(vec![field("a", millis(Some("UTC"))), field("b", DataType::Int64)], &[])).unwrap();
    let rows = |time: i64| {
        let times = TimestampMillisecondArray::from(vec![Some(time), None]).with_timezone("UTC");
        let numbers = Int64Array::from(vec![1, 2]);
        RecordBatch::try_from_iter([("x", Arc::new(times) as ArrayRef), ("y", Arc::new(numbers) as ArrayRef)]).unwrap()
    };
    let stored = columns.stored(&rows(-7)).unwrap();
    let times = stored.column(0).as_primitive::<TimestampMicrosecondType>();
    assert_eq!((times.value(0), times.is_null(1)), (-7_000, true));
    assert_eq!(stored.schema().field(0).name(), "a");
    let error = columns.stored(&rows(i64::MAX)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().starts_with("the column 'a' has a value that Delta can't hold"), "{error}");
}

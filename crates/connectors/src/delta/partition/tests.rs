use arrow::array::{BooleanArray, Date32Array, Decimal128Array, Int8Array, StringViewArray, TimestampMicrosecondArray};
use arrow::datatypes::{Field, Schema, TimeUnit};
use tidemill_core::ErrorKind;
use tidemill_runtime::connector::{Options, TableSpec};

use super::*;

fn columns(fields: Vec<Field>, partitioned_by: &[&str]) -> Columns {
    Columns::of(&TableSpec {
        name: "t".into(),
        partitioned_by: partitioned_by.iter().map(|name| (*name).into()).collect(),
        schema: Arc::new(Schema::new(fields)),
        options: Options::default(),
        folder: std::path::PathBuf::new(),
    })
    .unwrap()
}

/// A folder, its value, and the numbers of its rows.
type Part = (String, Option<String>, Vec<i8>);

/// Splits rows that have a number and the value; gives the folder, the value and the numbers of each partition.
fn parts(values: ArrayRef, nullable: bool) -> Result<Vec<Part>> {
    let fields = vec![Field::new("n", DataType::Int8, false), Field::new("p", values.data_type().clone(), nullable)];
    let columns = columns(fields, &["p"]);
    let numbers = Int8Array::from_iter_values(0..i8::try_from(values.len()).unwrap());
    let rows = RecordBatch::try_from_iter([("n", Arc::new(numbers) as ArrayRef), ("p", values)]).unwrap();
    let split = split(&columns, &columns.stored(&rows)?)?;
    let part = |(partition, rows): (Partition, RecordBatch)| {
        assert_eq!(rows.num_columns(), 1);
        let numbers = rows.column(0).as_primitive::<arrow::datatypes::Int8Type>().values().to_vec();
        (partition.folder(&columns), partition.values(&columns)["p"].clone(), numbers)
    };
    Ok(split.into_iter().map(part).collect())
}

fn value_of(values: ArrayRef) -> String {
    parts(values, true).unwrap().remove(0).1.unwrap()
}

#[test]
fn a_value_has_the_text_that_the_protocol_says() {
    let micros = |zone: Option<&str>| -> ArrayRef {
        let times = TimestampMicrosecondArray::from(vec![1_772_355_909_000_070]);
        Arc::new(times.with_timezone_opt(zone))
    };
    assert_eq!(value_of(micros(None)), "2026-03-01 09:05:09.000070");
    assert_eq!(value_of(micros(Some("UTC"))), "2026-03-01T09:05:09.000070Z");
    assert_eq!(value_of(Arc::new(Date32Array::from(vec![-719_162]))), "0001-01-01");
    assert_eq!(value_of(Arc::new(BooleanArray::from(vec![true]))), "true");
    assert_eq!(value_of(Arc::new(Int8Array::from(vec![-128]))), "-128");
    let decimal = Decimal128Array::from(vec![-5]).with_precision_and_scale(10, 2).unwrap();
    assert_eq!(value_of(Arc::new(decimal)), "-0.05");
    assert_eq!(value_of(Arc::new(StringViewArray::from(vec!["a/b=c %\n\"ü"]))), "a/b=c %\n\"ü");
}

#[test]
fn rows_keep_their_order_and_null_is_as_the_empty_text() {
    let values = StringViewArray::from(vec![Some("b"), None, Some("a/=%"), Some(""), Some("b"), None]);
    let found = parts(Arc::new(values), true).unwrap();
    let of = |folder: &str, value: Option<&str>, numbers: &[i8]| {
        (folder.to_owned(), value.map(str::to_owned), numbers.to_vec())
    };
    let expected = [
        of("p=__HIVE_DEFAULT_PARTITION__", None, &[1, 3, 5]),
        of("p=a%2F%3D%25", Some("a/=%"), &[2]),
        of("p=b", Some("b"), &[0, 4]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn null_and_the_empty_text_are_refused_where_the_column_is_not_null() {
    for values in [vec![Some("a"), None], vec![Some("")]] {
        let error = parts(Arc::new(StringViewArray::from(values)), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.message().starts_with("the column 'p'"), "{error}");
    }
}

#[test]
fn a_time_that_has_no_text_is_an_error_with_its_column() {
    let far = [
        Arc::new(Date32Array::from(vec![3_000_000])) as ArrayRef,
        Arc::new(Date32Array::from(vec![i32::MIN])),
        Arc::new(TimestampMicrosecondArray::from(vec![i64::MAX])),
        Arc::new(TimestampMicrosecondArray::from(vec![i64::MIN]).with_timezone("UTC")),
    ];
    for values in far {
        let error = parts(values, true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.message().contains("'p'"), "{error}");
    }
}

#[test]
fn a_table_without_partitions_is_one() {
    let columns = columns(vec![Field::new("t", DataType::Timestamp(TimeUnit::Microsecond, None), true)], &[]);
    let rows = RecordBatch::try_from_iter([("t", Arc::new(TimestampMicrosecondArray::from(vec![1, 2])) as ArrayRef)]);
    let split = split(&columns, &rows.unwrap()).unwrap();
    assert_eq!(split.len(), 1);
    assert_eq!((split[0].0.folder(&columns), split[0].1.num_rows()), (String::new(), 2));
}

use arrow::array::{Int64Array, StringViewArray};
use arrow::buffer::NullBuffer;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;

use super::*;

fn field(name: &str, data_type: DataType) -> FieldRef {
    Arc::new(Field::new(name, data_type, true))
}

fn numbers(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

/// `n BIGINT, r ROW<a BIGINT, b STRING, c BIGINT>`, of two rows; the second `r` is NULL.
fn rows() -> RecordBatch {
    let fields =
        Fields::from(vec![field("a", DataType::Int64), field("b", DataType::Utf8View), field("c", DataType::Int64)]);
    let texts = Arc::new(StringViewArray::from(vec!["x", "y"]));
    let nulls = NullBuffer::from(vec![true, false]);
    let row = StructArray::new(fields.clone(), vec![numbers(&[1, 2]), texts, numbers(&[5, 6])], Some(nulls));
    let schema = Schema::new(vec![field("n", DataType::Int64), field("r", DataType::Struct(fields))]);
    RecordBatch::try_new(Arc::new(schema), vec![numbers(&[8, 9]), Arc::new(row)]).unwrap()
}

#[test]
fn a_statement_gets_the_columns_and_fields_that_it_reads() {
    let fields = Fields::from(vec![field("c", DataType::Int64), field("a", DataType::Int64)]);
    let wanted = Arc::new(Schema::new(vec![field("r", DataType::Struct(fields))]));
    let got = of_them(&rows(), &wanted).unwrap();
    assert_eq!(got.schema(), wanted);
    let row = got.column(0).as_struct();
    assert_eq!((row.column(0), row.column(1)), (&numbers(&[5, 6]), &numbers(&[1, 2])));
    assert!(row.is_valid(0) && row.is_null(1));
    let none = of_them(&rows(), &Arc::new(Schema::empty())).unwrap();
    assert_eq!(none.num_rows(), 2, "also where only rows are counted");
}

/// Deals batches `values` out to three statements, of which the second wants none.
async fn dealt(batches: Vec<Result<RecordBatch>>) -> Vec<Vec<Result<usize, String>>> {
    let (outlets, feeds): (Vec<_>, Vec<_>) = (0..3).map(|_| channel(CAPACITY)).unzip();
    let mut feeds: Vec<Batches> = feeds;
    drop(feeds.remove(1));
    let stream = RecordBatchStreamAdapter::new(rows().schema(), futures::stream::iter(batches));
    let dealing = tokio::spawn(deal(Box::pin(stream), outlets));
    let mut all = vec![];
    let reading: Vec<_> = feeds
        .into_iter()
        .map(|mut feed| {
            tokio::spawn(async move {
                let mut got = vec![];
                while let Some(batch) = feed.recv().await {
                    got.push(batch.map(|batch| batch.num_rows()).map_err(|e| e.to_string()));
                }
                got
            })
        })
        .collect();
    for reader in reading {
        all.push(reader.await.unwrap());
    }
    dealing.await.unwrap();
    all
}

#[tokio::test]
async fn all_that_want_them_get_all_batches() {
    let batches = (0..20).map(|i| Ok(rows().slice(0, i % 3))).collect();
    let sizes: Vec<Result<usize, String>> = (0..20).map(|i| Ok(i % 3)).collect();
    assert_eq!(dealt(batches).await, [sizes.clone(), sizes]);
}

#[tokio::test]
async fn all_get_the_failure_and_nothing_after_it() {
    let failed = || Err(DataFusionError::Execution("no disk".to_owned()));
    let got = dealt(vec![Ok(rows()), failed(), Ok(rows())]).await;
    for got in got {
        assert_eq!(got.len(), 2);
        assert!(got[1].as_ref().is_err_and(|e| e.contains("no disk")), "{got:?}");
    }
}

#[tokio::test]
async fn reading_stops_when_nobody_wants_more() {
    let endless = futures::stream::iter(std::iter::repeat_with(|| Ok(rows())));
    let (outlet, mut feed) = channel(CAPACITY);
    let stream = RecordBatchStreamAdapter::new(rows().schema(), endless);
    let dealing = tokio::spawn(deal(Box::pin(stream), vec![outlet]));
    assert!(feed.recv().await.is_some());
    drop(feed);
    dealing.await.unwrap();
}

//! Random schemas and lines, read by the decoder and by `serde_json`.

use arrow::array::AsArray;
use arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;
use arrow::datatypes::{Decimal128Type, Float64Type, Int16Type, Int64Type, TimestampMillisecondType};
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use serde_json::{Map, Value, json};

use super::*;

/// The types that are tried.
fn data_type() -> impl Strategy<Value = DataType> {
    let scalar = prop_oneof![
        Just(DataType::Boolean),
        Just(DataType::Int16),
        Just(DataType::Int64),
        Just(DataType::Float64),
        Just(DataType::Decimal128(12, 3)),
        Just(DataType::Utf8View),
        Just(MILLISECONDS),
    ];
    scalar.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|types| {
                let fields = types.into_iter().enumerate().map(|(i, t)| Field::new(NAMES[i], t, true));
                DataType::Struct(fields.collect())
            }),
            inner.clone().prop_map(list_type),
            inner.prop_map(map_type),
        ]
    })
}

const NAMES: [&str; 6] = ["id", "name", "a\"b", "ключ", "", "a_rather_long_column_name"];

/// Writes lines for a schema, in all the ways that JSON allows.
struct Scribe {
    rng: TestRng,
    out: String,
}

impl Scribe {
    fn one_in(&mut self, n: u32) -> bool {
        self.rng.random_range(0..n) == 0
    }

    fn space(&mut self) {
        while self.one_in(6) {
            let space = [' ', '\t', '\r'][self.rng.random_range(0..3)];
            self.out.push(space);
        }
    }

    fn punctuation(&mut self, mark: char) {
        self.space();
        self.out.push(mark);
        self.space();
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            if self.one_in(12) || c.is_control() || matches!(c, '"' | '\\') {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    self.out.push_str(&format!("\\u{unit:04X}"));
                }
            } else {
                self.out.push(c);
            }
        }
        self.out.push('"');
    }

    fn text(&mut self) -> String {
        let len = self.rng.random_range(0..30);
        (0..len).map(|_| ['a', 'b', ' ', '"', '\\', '\n', 'é', '漢', '😀', '{'][self.rng.random_range(0..10)]).collect()
    }

    /// Fields of the schema in any order, some left out, some twice, some that it does not have.
    fn object(&mut self, fields: &[(String, Option<DataType>)]) {
        self.punctuation('{');
        let mut first = true;
        let mut order: Vec<usize> = (0..fields.len()).collect();
        if self.one_in(3) {
            order.rotate_left(self.rng.random_range(0..fields.len().max(1)));
        }
        for place in order {
            let times = [0, 1, 1, 1, 1, 1, 1, 2][self.rng.random_range(0..8)];
            for _ in 0..times {
                if !std::mem::take(&mut first) {
                    self.punctuation(',');
                }
                self.string(&fields[place].0.clone());
                self.punctuation(':');
                match &fields[place].1 {
                    Some(data_type) => self.value(data_type),
                    None => self.anything(2),
                }
            }
        }
        self.punctuation('}');
    }

    fn row(&mut self, fields: &arrow::datatypes::Fields) {
        let mut all: Vec<_> = fields.iter().map(|f| (f.name().clone(), Some(f.data_type().clone()))).collect();
        if self.one_in(2) {
            all.insert(self.rng.random_range(0..=all.len()), ("unknown".into(), None));
        }
        self.object(&all);
    }

    fn anything(&mut self, depth: u32) {
        match self.rng.random_range(0..if depth == 0 { 4 } else { 6 }) {
            0 => self.out.push_str("null"),
            1 => self.out.push_str("-0.5e+3"),
            2 => self.out.push_str("true"),
            3 => {
                let text = self.text();
                self.string(&text);
            }
            4 => {
                self.punctuation('[');
                self.anything(depth - 1);
                self.punctuation(',');
                self.anything(depth - 1);
                self.punctuation(']');
            }
            _ => {
                self.punctuation('{');
                self.string("id");
                self.punctuation(':');
                self.anything(depth - 1);
                self.punctuation('}');
            }
        }
    }

    fn value(&mut self, data_type: &DataType) {
        if self.one_in(10) {
            return self.out.push_str("null");
        }
        let number = self.rng.random::<i64>() >> self.rng.random_range(0..64);
        match data_type {
            DataType::Boolean => self.out.push_str(if number % 2 == 0 { "true" } else { "false" }),
            DataType::Int16 => self.out.push_str(&(number as i16).to_string()),
            DataType::Int64 => self.out.push_str(&number.to_string()),
            DataType::Float64 => {
                let text =
                    format!("{}.{}e{}", number, self.rng.random_range(0..10_000u32), self.rng.random_range(-250..250));
                self.out.push_str(&text);
            }
            DataType::Decimal128(..) => {
                let text = format!("{}.{:05}", number % 10_000_000_000, self.rng.random_range(0..100_000u32));
                let quoted = self.one_in(4);
                self.out.push_str(&if quoted { format!("\"{text}\"") } else { text });
            }
            DataType::Utf8View => {
                let text = self.text();
                self.string(&text);
            }
            DataType::Timestamp(..) => {
                let mut part = |low: u32, high: u32| self.rng.random_range(low..=high);
                let date = format!("{:04}-{:02}-{:02}", part(1700, 2200), part(1, 12), part(1, 28));
                let time = format!("{:02}:{:02}:{:02}.{:03}", part(0, 23), part(0, 59), part(0, 59), part(0, 999));
                self.string(&format!("{date} {time}"));
            }
            DataType::Struct(fields) => self.row(fields),
            DataType::List(element) => {
                self.punctuation('[');
                for i in 0..self.rng.random_range(0..4) {
                    if i > 0 {
                        self.punctuation(',');
                    }
                    self.value(element.data_type());
                }
                self.punctuation(']');
            }
            DataType::Map(entries, _) => {
                let DataType::Struct(pair) = entries.data_type() else { unreachable!() };
                let value = pair[1].data_type().clone();
                let keys: Vec<_> =
                    (0..self.rng.random_range(0..4)).map(|i| (NAMES[i].to_owned(), Some(value.clone()))).collect();
                self.object(&keys);
            }
            other => unreachable!("{other}"),
        }
    }
}

/// What a value must become, told as JSON: decimals as their unscaled text, timestamps as milliseconds.
fn expected(data_type: &DataType, value: Option<&Value>) -> Value {
    let Some(value) = value.filter(|v| !v.is_null()) else { return Value::Null };
    match data_type {
        DataType::Boolean | DataType::Int16 | DataType::Int64 | DataType::Utf8View => value.clone(),
        DataType::Float64 => json!(value.to_string().parse::<f64>().unwrap().to_bits()),
        DataType::Decimal128(..) => {
            // Five digits after the point: round the last two away, by their text.
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let digits: i128 = text.replace('.', "").parse().unwrap();
            let magnitude = (digits.abs() + 50) / 100;
            let negative = text.starts_with('-');
            if magnitude > 999_999_999_999 {
                Value::Null
            } else {
                json!((if negative { -magnitude } else { magnitude }).to_string())
            }
        }
        DataType::Timestamp(..) => {
            json!(string_to_timestamp_nanos(value.as_str().unwrap()).unwrap().div_euclid(1_000_000))
        }
        DataType::Struct(fields) => Value::Object(
            fields.iter().map(|f| (f.name().clone(), expected(f.data_type(), value.get(f.name())))).collect(),
        ),
        DataType::List(element) => {
            value.as_array().unwrap().iter().map(|v| expected(element.data_type(), Some(v))).collect()
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(pair) = entries.data_type() else { unreachable!() };
            let entries = value.as_object().unwrap().iter();
            Value::Object(entries.map(|(k, v)| (k.clone(), expected(pair[1].data_type(), Some(v)))).collect())
        }
        other => unreachable!("{other}"),
    }
}

/// What a value has become, told in the same way.
fn found(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => json!(array.as_boolean().value(row)),
        DataType::Int16 => json!(array.as_primitive::<Int16Type>().value(row)),
        DataType::Int64 => json!(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => json!(array.as_primitive::<Float64Type>().value(row).to_bits()),
        DataType::Decimal128(..) => json!(array.as_primitive::<Decimal128Type>().value(row).to_string()),
        DataType::Utf8View => json!(array.as_string_view().value(row)),
        DataType::Timestamp(..) => json!(array.as_primitive::<TimestampMillisecondType>().value(row)),
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(array.as_struct().columns());
            Value::Object(columns.map(|(f, column)| (f.name().clone(), found(column, row))).collect())
        }
        DataType::List(_) => {
            let elements = array.as_list::<i32>().value(row);
            (0..elements.len()).map(|i| found(&elements, i)).collect()
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let pair = |i| {
                let Value::String(key) = found(entries.column(0), i) else { unreachable!() };
                (key, found(entries.column(1), i))
            };
            Value::Object((0..entries.len()).map(pair).collect::<Map<_, _>>())
        }
        other => unreachable!("{other}"),
    }
}

proptest! {
    #[test]
    fn the_decoder_reads_what_serde_json_reads(
        types in prop::collection::vec(data_type(), 1..6),
        seed in any::<[u8; 32]>(),
        line_count in 1..12usize,
    ) {
        let columns: Vec<_> = types.into_iter().enumerate().map(|(i, t)| (NAMES[i], t)).collect();
        let columns = schema(&columns);
        let rng = TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &seed);
        let mut scribe = Scribe { rng, out: String::new() };
        for _ in 0..line_count {
            scribe.row(columns.fields());
            scribe.out.push('\n');
        }
        let decoded = decode(&columns, JsonOptions::default(), scribe.out.as_bytes()).unwrap().rows;
        for (row, line) in scribe.out.split_terminator('\n').enumerate() {
            let oracle: Value = serde_json::from_str(line).unwrap();
            for (field, column) in columns.fields().iter().zip(decoded.columns()) {
                let expected = expected(field.data_type(), oracle.get(field.name()));
                prop_assert_eq!(found(column, row), expected, "{} in {}", field.name(), line);
            }
        }
    }

    #[test]
    fn any_bytes_are_json_to_both_or_to_neither(text in "[\\[\\]{}:,\"0-9eE.+\\-truefalsn\\\\ub]{0,24}") {
        let line = format!("{{\"x\":{text}}}");
        let oracle = serde_json::from_str::<Value>(&line).is_ok();
        prop_assert_eq!(decode(&schema(&[]), JsonOptions::default(), line.as_bytes()).is_ok(), oracle, "{}", line);
    }

    #[test]
    fn damaged_lines_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), ignore in any::<bool>()) {
        let columns = schema(&[("a", DataType::Int64), ("b", map_type(DataType::Utf8View)), ("c", list_type(DataType::BinaryView))]);
        let options = JsonOptions { ignore_parse_errors: ignore, ..JsonOptions::default() };
        let mut lines = br#"{"a":1,"b":{"k":"v"},"c":["AA=="]}"#.to_vec();
        let at = bytes.first().map_or(0, |byte| usize::from(*byte) % lines.len());
        lines.splice(at..at, bytes);
        let _ = decode(&columns, options, &lines);
    }
}

//! Directives against Rust's own formatting, and formats that are noise.

use proptest::prelude::*;

use super::{Value, formatted};

fn of(format: &str, value: Value) -> Option<String> {
    formatted(format, &[value])
}

proptest! {
    #[test]
    fn whole_numbers_are_as_rust_writes_them(number in any::<i32>(), width in 1..20_usize) {
        let whole = || Value::Whole(number.into(), 32);
        prop_assert_eq!(of(&format!("%{width}d"), whole()), Some(format!("{number:>width$}")));
        prop_assert_eq!(of(&format!("%-{width}d|"), whole()), Some(format!("{number:<width$}|")));
        prop_assert_eq!(of(&format!("%0{width}d"), whole()), Some(format!("{number:0width$}")));
        prop_assert_eq!(of("%+d", whole()), Some(format!("{number:+}")));
        prop_assert_eq!(of("%x %1$o", whole()), Some(format!("{number:x} {number:o}")));
        let commas = of("%,d", whole()).unwrap();
        prop_assert_eq!(commas.replace(',', ""), number.to_string());
        prop_assert!(commas.trim_start_matches('-').rsplit(',').skip(1).all(|part| (1..=3).contains(&part.len())));
    }

    #[test]
    fn digits_behind_the_point_are_those_of_the_number(thousandths in any::<i32>()) {
        let number = f64::from(thousandths) / 1_000.0;
        let (whole, rest) = (thousandths.unsigned_abs() / 1_000, thousandths.unsigned_abs() % 1_000);
        let sign = if thousandths < 0 { "-" } else { "" };
        prop_assert_eq!(of("%.3f", Value::Float(number, false)), Some(format!("{sign}{whole}.{rest:03}")));
        let half_up = whole + u32::from(rest >= 500);
        prop_assert_eq!(of("%.0f", Value::Float(number, false)), Some(format!("{sign}{half_up}")));
    }

    #[test]
    fn exponents_are_those_of_the_number(number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        let text = of("%.16e", Value::Float(number, false)).unwrap();
        prop_assert_eq!(text.parse::<f64>().unwrap(), number);
        let general = of("%.17g", Value::Float(number, false)).unwrap();
        prop_assert_eq!(general.parse::<f64>().unwrap(), number);
    }

    #[test]
    fn noise_gives_a_text_or_nothing(format in "[%\\-#+ 0,(1-9$.<a-zA-Zé]{0,12}", number in any::<i64>()) {
        let values = [Value::Whole(number, 64), Value::Null, Value::Float(0.5, true), Value::Text("é".to_owned())];
        formatted(&format, &values);
    }
}

#[test]
fn what_does_not_go_together_gives_nothing() {
    for format in ["%", "%5", "%-d", "%-05d", "%+ d", "%++d", "%.2d", "%#s", "%2$d", "%0$d", "%<d", "%.d", "%99999d"] {
        assert_eq!(of(format, Value::Whole(1, 32)), None, "{format}");
    }
}

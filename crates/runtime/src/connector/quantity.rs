//! Sizes and durations in options, written as Flink has them: `128MB`, `30 min`.

use std::time::Duration;

/// The bytes of a memory size: a whole number, and a unit in any case (bytes without one; 1 kb is 1024 bytes).
#[must_use]
pub fn memory_size(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let bytes: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" | "bytes" => 1,
        "k" | "kb" | "kibibytes" => 1 << 10,
        "m" | "mb" | "mebibytes" => 1 << 20,
        "g" | "gb" | "gibibytes" => 1 << 30,
        "t" | "tb" | "tebibytes" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(bytes)
}

/// A duration: a whole number, and a unit (milliseconds without one).
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let unit_ms = match unit {
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => 1,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
        "m" | "min" | "minute" | "minutes" => 60_000,
        "h" | "hour" | "hours" => 3_600_000,
        "d" | "day" | "days" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(unit_ms).map(Duration::from_millis)
}

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..digits].parse().ok()?, text[digits..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_sizes_are_flinks() {
        for (text, bytes) in
            [("0", 0), ("128MB", 128 << 20), ("1 kb", 1024), (" 3 GibiBytes ", 3 << 30), ("7b", 7), ("2t", 2 << 40)]
        {
            assert_eq!(memory_size(text), Some(bytes), "{text}");
        }
        for text in ["", "mb", "1.5 mb", "-1", "1 mib", "1 kb b", "20000000 tb", "99999999999999999999"] {
            assert_eq!(memory_size(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_flinks() {
        for (text, ms) in
            [("500", 500), ("10 s", 10_000), ("1min", 60_000), ("30 min", 1_800_000), ("2 days", 172_800_000)]
        {
            assert_eq!(duration(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for text in ["1 fortnight", "-1 s", "min", "", "99999999999999999 d"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}

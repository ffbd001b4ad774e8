//! Sums of values and of their squares without rounding, and the variance that they give.

use crate::function::aggregate::exact_sum::{ExactSum, Malformed};

/// The values of one group.
#[derive(Default)]
pub(super) struct Moments {
    pub sum: ExactSum,
    pub squares: ExactSum,
    pub count: i64,
}

impl Moments {
    /// Adds the value that the parts add up to, or takes it back. Answers the bytes allocated.
    pub(super) fn count(&mut self, parts: &[f64], back: bool) -> usize {
        self.count += if back { -1 } else { 1 };
        let mut allocated = 0;
        let mut put = |sum: &mut ExactSum, term: f64| {
            allocated += if back { sum.subtract(term) } else { sum.add(term) };
        };
        for (i, &part) in parts.iter().enumerate() {
            put(&mut self.sum, part);
            // A mixed product stands in the square twice.
            for (factor, others) in [(1.0, &parts[i..=i]), (2.0, &parts[i + 1..])] {
                for other in others {
                    for term in product(factor * part, *other) {
                        put(&mut self.squares, term);
                    }
                }
            }
        }
        allocated
    }

    /// Adds sums that were written. Answers the bytes allocated.
    pub(super) fn merge(&mut self, sum: &[u8], squares: &[u8], count: i64) -> Result<usize, Malformed> {
        self.count = self.count.wrapping_add(count);
        Ok(self.sum.merge(sum)? + self.squares.merge(squares)?)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.sum.heap_bytes() + self.squares.heap_bytes()
    }

    /// The mean squared distance from the mean; `None` where there is too little to divide by.
    pub(super) fn variance(&self, sample: bool) -> Option<f64> {
        let divisor = if sample { self.count - 1 } else { self.count };
        if divisor < 1 {
            return None;
        }
        let count = self.count as f64;
        let mean: f64 = self.sum.mean(self.count.unsigned_abs())?;
        if !mean.is_finite() {
            return Some(f64::NAN);
        }
        // Two floats are nearer to the mean than one. With sum = count * (mean + finer) + rest, the squared distances
        // from mean + finer add up to squares - count * (mean + finer)^2 - 2 * (mean + finer) * rest: all exact.
        let mut rest = self.sum.clone();
        subtract_product(&mut rest, count, mean);
        let finer: f64 = rest.mean(self.count.unsigned_abs())?;
        subtract_product(&mut rest, count, finer);
        let rest: f64 = rest.value();
        let mut distances = self.squares.clone();
        for (a, b) in [(mean, mean), (2.0 * mean, finer), (finer, finer)] {
            product(a, b).into_iter().for_each(|term| subtract_product(&mut distances, count, term));
        }
        subtract_product(&mut distances, 2.0 * mean, rest);
        subtract_product(&mut distances, 2.0 * finer, rest);
        // The true mean is rest / count away from that.
        let squared: f64 = distances.value::<f64>() - rest * (rest / count);
        Some(squared.max(0.0) / divisor as f64)
    }
}

/// The product, as the float nearest to it and what that leaves.
fn product(a: f64, b: f64) -> [f64; 2] {
    let high = a * b;
    if high.is_finite() { [high, a.mul_add(b, -high)] } else { [high, 0.0] }
}

fn subtract_product(sum: &mut ExactSum, a: f64, b: f64) {
    for term in product(a, b) {
        sum.subtract(term);
    }
}

/// Two floats that add up to the integer.
pub(super) fn parts_of_integer(value: i64) -> [f64; 2] {
    let high = value as f64;
    [high, (i128::from(value) - high as i128) as f64]
}

/// Three floats that add up to the unscaled decimal, which has at most 38 digits.
pub(super) fn parts_of_decimal(value: i128) -> [f64; 3] {
    let high = value as f64;
    let rest = value - high as i128;
    let middle = rest as f64;
    [high, middle, (rest - middle as i128) as f64]
}

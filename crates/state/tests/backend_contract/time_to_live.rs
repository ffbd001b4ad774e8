//! What expires, and that by event time it does not depend on how elements come in batches.

use proptest::prelude::*;
use tidemill_core::{EventTime, Watermark};

use crate::backends::{ALL, Backends};
use crate::keyed::Program;
use crate::steps::{By, Lasting, Op};

/// Of each element the key, its event time, and how far ahead of the watermark that its row carries it was promised.
type Element = (u8, i64, Op);

fn elements() -> impl Strategy<Value = Vec<Element>> {
    let op = prop_oneof![
        Just(Op::AddToValue(1)),
        Just(Op::ReadValue),
        Just(Op::AddToList(1)),
        Just(Op::ReadList),
        Just(Op::Put("a".to_owned(), 1)),
        Just(Op::Put("b".to_owned(), 2)),
        Just(Op::Entries),
        Just(Op::Aggregate(1)),
        Just(Op::ReadAggregate),
    ];
    prop::collection::vec((0..3_u8, 0..200_i64, op), 1..60)
}

/// What the elements read. The watermark of each row is the highest time before it; the operator's follows it, sooner or
/// later, and batches end where `ends` says.
fn answers(
    backends: &Backends,
    backend: &str,
    prolonged_by_reading: bool,
    elements: &[Element],
    ends: &[bool],
) -> Vec<String> {
    let lasting = Lasting { by: By::EventTime, prolonged_by_reading };
    let mut program = Program::new(backends.open(backend), lasting, None);
    let mut row_watermark = i64::MIN;
    let mut read = vec![];
    for ((key, time, op), ends) in elements.iter().zip(ends) {
        if *ends {
            program.state.end_batch().unwrap();
            program.state.advance_watermark(Watermark(row_watermark));
            assert_eq!(program.state.next_event_time_timer().unwrap(), None);
            program.state.end_batch().unwrap();
        }
        program.begin((*key, None));
        program.state.set_element_time(Some(EventTime(*time)), Watermark(row_watermark));
        read.push(program.apply(op, 0, 0));
        row_watermark = row_watermark.max(*time - 30);
    }
    read
}

thread_local! {
    static SHARED: Backends = Backends::new();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn by_event_time_answers_are_a_function_of_the_elements(
        elements in elements(),
        prolonged_by_reading in any::<bool>(),
        ends in prop::collection::vec(any::<bool>(), 60),
    ) {
        SHARED.with(|backends| {
            let one_batch = answers(backends, "memory", prolonged_by_reading, &elements, &[false; 60]);
            for backend in ALL {
                let cut = answers(backends, backend, prolonged_by_reading, &elements, &ends);
                assert_eq!(cut, one_batch, "{backend}");
                let singly = answers(backends, backend, prolonged_by_reading, &elements, &[true; 60]);
                assert_eq!(singly, one_batch, "{backend}");
            }
        });
    }
}

use super::*;

fn numbers(values: &[i64]) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
    RecordBatch::try_from_iter([("number", column)]).unwrap()
}

#[test]
fn changes_add_up_to_the_state() {
    let mut state = State::default();
    let mut changes = StateChanges::default();
    changes.append(Section::new("pane", 2), numbers(&[1]));
    changes.append(Section::new("pane", 1), numbers(&[2]));
    changes.append(Section::new("pane", 2), numbers(&[3]));
    changes.append(Section::new("pane", 3), numbers(&[]));
    changes.replace_numbers("fired", [7, 8]).unwrap();
    state.apply(changes);

    let mut changes = StateChanges::default();
    changes.remove(Section::new("pane", 1));
    changes.replace_numbers("fired", [9]).unwrap();
    state.apply(changes);

    assert_eq!(state.take_numbers("fired").unwrap(), [9]);
    assert_eq!(state.take_all("pane").unwrap(), [(2, vec![numbers(&[1]), numbers(&[3])])]);
    assert!(state.finish().is_ok());
}

#[test]
fn sections_of_a_name_are_taken_out_one_by_one() {
    let mut state = State::default();
    let mut changes = StateChanges::default();
    for number in [3, 1, 2] {
        changes.append(Section::new("pane", number), numbers(&[number]));
    }
    changes.append("other", numbers(&[7]));
    state.apply(changes);
    assert_eq!(state.take_all_rows("pane").next(), Some((1, vec![Rows::Here(numbers(&[1]))])));
    // Those that were not asked for are still there.
    assert_eq!(state.take_all_rows("pane").map(|(number, _)| number).collect::<Vec<_>>(), [2, 3]);
    assert!(state.has("other"));
}

#[test]
fn what_nobody_takes_is_named() {
    let mut state = State::default();
    let mut changes = StateChanges::default();
    changes.append(Section::new("told", 60_000), numbers(&[1]));
    state.apply(changes);
    let error = state.finish().unwrap_err();
    assert_eq!(error.message(), "the section 'told 60000' of the state is not known here");
}

//! Pages against a log of all that was appended.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn what_is_saved_is_the_table_and_stays_below_twice_its_size(
        steps in prop::collection::vec(prop::collection::vec((0usize..100, any::<bool>()), 0..40), 1..60),
    ) {
        let mut pages = Pages::default();
        // The table: by slot, when it was set. Saved: by page, the rows in order.
        let mut table: Vec<Option<usize>> = vec![None; 100];
        let mut saved: BTreeMap<usize, Vec<(usize, Option<usize>)>> = BTreeMap::new();
        for (time, step) in steps.iter().enumerate() {
            for &(slot, set) in step {
                table[slot] = set.then_some(time);
                pages.touch(slot);
            }
            let live = |slots: Range<usize>| table[slots].iter().flatten().count();
            let mut written = 0;
            for (page, change) in pages.take(table.len(), live) {
                let row = |slot: usize| (slot, table[slot]);
                let rows = saved.entry(page).or_default();
                match change {
                    PageChange::Append(slots) => {
                        written += slots.len();
                        rows.extend(slots.into_iter().map(row));
                    }
                    PageChange::Anew => {
                        *rows = Pages::slots(page, table.len()).map(row).filter(|row| row.1.is_some()).collect();
                        written += rows.len();
                    }
                }
            }
            let mut read = vec![None; 100];
            saved.values().flatten().for_each(|&(slot, row)| read[slot] = row);
            prop_assert_eq!(&read, &table);
            let changed = if time == 0 { 100 } else { step.len() };
            prop_assert!(written <= 2 * changed + PAGE_SLOTS, "{} rows are written for {}", written, changed);
            let rows: usize = saved.values().map(Vec::len).sum();
            let (live, page_count) = (table.iter().flatten().count(), 100 / PAGE_SLOTS + 1);
            prop_assert!(rows <= 3 * live + page_count * SLACK_ROWS + 100, "{} rows for {}", rows, live);
        }
    }
}

#[test]
fn only_what_has_changed_is_told() {
    let mut pages = Pages::default();
    let all = |slots: Range<usize>| slots.len();
    let first = pages.take(20, all);
    assert_eq!(first[&0], PageChange::Append((0..16).collect()));
    assert_eq!(first[&1], PageChange::Append((16..20).collect()));
    [3, 17, 3].into_iter().for_each(|slot| pages.touch(slot));
    let second = pages.take(20, all);
    assert_eq!(second.into_values().collect::<Vec<_>>(), [PageChange::Append(vec![3]), PageChange::Append(vec![17])]);
    assert_eq!(pages.take(20, all), BTreeMap::new());
}

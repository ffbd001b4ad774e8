use std::collections::HashSet;

use super::*;

#[test]
fn run_ids_differ_and_sort_by_time() {
    let ids: Vec<String> = (0..1000).map(|_| run_id()).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    std::thread::sleep(std::time::Duration::from_millis(1));
    assert!(run_id() > ids[999]);
    assert!(ids[0].len() <= 20, "{}", ids[0]);
}

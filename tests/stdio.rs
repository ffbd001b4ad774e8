//! Pipes and signals: rows appear while input is still open, and every way to end is clean.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead, BufReader};

use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::Program;
use tidemill_tests::rows::written_rows;
use tidemill_tests::running::Running;

const ORDERS: &str = "CREATE TABLE orders (
  category STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'stdio', 'format' = 'json');
";

const BY_MINUTE: &str = "SELECT window_start, category, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
";

fn order(category: &str, time: &str) -> String {
    format!("{{\"category\": \"{category}\", \"ts\": \"2026-11-29 {time}\"}}\n")
}

fn count(category: &str, minute: &str, orders: u32) -> String {
    format!(r#"{{"op":"+I","window_start":"2026-11-29T{minute}:00.000","category":"{category}","orders":{orders}}}"#)
}

#[test]
fn an_interrupt_ends_the_firing_of_a_million_windows() {
    let folder = fresh();
    let windows = "SELECT window_start, category, COUNT(*) AS orders
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '10' DAY))
GROUP BY window_start, window_end, category;
";
    let mut running = Running::start(folder.path(), &[ORDERS, windows].concat(), &[]);
    running.write(&order("toys", "10:00:10"));
    running.close_input();
    running.wait_for(1);
    running.interrupt();
    let (code, lines, messages) = running.end_by_itself();
    assert_eq!(code, Some(130), "{messages}");
    assert!(lines.len() < 864_000, "all windows fired");
}

#[test]
fn late_firing_waits_for_its_delay_or_for_the_last_row() {
    let folder = fresh();
    let settings = "SET 'table.exec.emit.allow-lateness' = '1 min';
SET 'table.exec.emit.late-fire.enabled' = 'true'; SET 'table.exec.emit.late-fire.delay' = '1 min';
";
    let mut running = Running::start(folder.path(), &[settings, ORDERS, BY_MINUTE].concat(), &[]);
    running.write(&(order("toys", "10:00:10") + &order("toys", "10:01:10")));
    assert_eq!(running.wait_for(1), ["+I[2026-11-29T10:00, toys, 1]"]);
    running.write(&order("toys", "10:00:20"));
    running.write(&order("toys", "10:01:20"));
    running.assert_silent();
    // The watermark is 10:02:05: a minute after its end the first window takes no more.
    running.write(&order("toys", "10:02:10"));
    let told = ["+I[2026-11-29T10:01, toys, 2]", "+U[2026-11-29T10:00, toys, 2]", "-U[2026-11-29T10:00, toys, 1]"];
    assert_eq!(running.wait_for(3), told);
    assert_eq!(running.end(), (Some(0), vec!["+I[2026-11-29T10:02, toys, 1]".to_owned()], String::new()));
}

#[test]
fn an_open_window_tells_provisional_results() {
    let folder = fresh();
    let early = "SET 'table.exec.emit.early-fire.enabled' = 'true'; SET 'table.exec.emit.early-fire.delay' = '10 ms';";
    let mut running = Running::start(folder.path(), &[early, ORDERS, BY_MINUTE].concat(), &[]);
    running.write(&order("toys", "10:00:10"));
    assert_eq!(running.wait_for(1), ["+I[2026-11-29T10:00, toys, 1]"]);
    running.assert_silent();
    running.write(&order("toys", "10:00:20"));
    assert_eq!(running.wait_for(2), ["+U[2026-11-29T10:00, toys, 2]", "-U[2026-11-29T10:00, toys, 1]"]);
    // The first window closes as it is: it has nothing left to tell.
    running.write(&order("books", "10:01:10"));
    assert_eq!(running.wait_for(1), ["+I[2026-11-29T10:01, books, 1]"]);
    assert_eq!(running.end(), (Some(0), vec![], String::new()));
}

#[test]
fn finished_windows_are_printed_before_the_rest_of_the_input_arrives() {
    let folder = fresh();
    let mut running = Running::start(folder.path(), &[ORDERS, BY_MINUTE].concat(), &["--output", "json"]);
    running.write(&order("toys", "10:00:10"));
    running.write(&order("books", "10:00:20"));
    running.write(&order("toys", "10:00:59.999"));
    // The watermark is 10:00:59.998: one millisecond is missing.
    running.write(&order("toys", "10:01:04.998"));
    running.assert_silent();
    running.write(&order("toys", "10:01:04.999"));
    assert_eq!(running.wait_for(2), [count("books", "10:00", 1), count("toys", "10:00", 2)]);
    running.assert_silent();
    running.write(&order("books", "10:02:00"));
    let (code, mut rest, messages) = running.end();
    rest.sort();
    assert_eq!(rest, [count("toys", "10:01", 2), count("books", "10:02", 1)]);
    assert_eq!((code, messages.as_str()), (Some(0), ""));
}

#[test]
fn rows_without_a_window_pass_one_by_one() {
    let folder = fresh();
    let sql = [ORDERS, "SELECT category FROM orders;"].concat();
    let mut running = Running::start(folder.path(), &sql, &["--output", "json"]);
    for category in ["toys", "books", "games"] {
        running.write(&order(category, "10:00:00"));
        assert_eq!(running.wait_for(1), [format!(r#"{{"op":"+I","category":"{category}"}}"#)]);
    }
    assert_eq!(running.end(), (Some(0), vec![], String::new()));
}

#[test]
fn a_line_without_an_end_is_a_row_once_the_input_ends() {
    let folder = fresh();
    let sql = [ORDERS, "SELECT category FROM orders;"].concat();
    let mut running = Running::start(folder.path(), &sql, &[]);
    running.write(order("toys", "10:00:00").trim_end());
    running.assert_silent();
    assert_eq!(running.end(), (Some(0), vec!["+I[toys]".to_owned()], String::new()));
}

#[test]
fn a_csv_record_leaves_when_its_last_line_has_arrived() {
    const COLUMNS: &str = "(id BIGINT, note STRING) WITH ('connector' = 'stdio', 'format' = 'csv'";
    let folder = fresh();
    let tables =
        format!("CREATE TABLE notes {COLUMNS}, 'csv.ignore-first-line' = 'true'); CREATE TABLE copy {COLUMNS});");
    let sql = format!("{tables} INSERT INTO copy SELECT id, note FROM notes WHERE id > 0;");
    let mut running = Running::start(folder.path(), &sql, &[]);
    running.write("id,note\n1,\"two\n");
    running.assert_silent();
    running.write("lines\"\n-1,no\n2,\"o");
    assert_eq!(running.wait_for(2), ["1,\"two", "lines\""]);
    running.write("ne\"");
    assert_eq!(running.end(), (Some(0), vec!["2,one".to_owned()], String::new()));
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    for mode in [&[][..], &["--batch"], &["--output", "json"]] {
        let folder = fresh();
        let rows: String = (0..200_000).map(|_| order("toys", "10:00:00")).collect();
        std::fs::write(folder.path().join("orders.jsonl"), rows).unwrap();
        let table = ORDERS.replace("'stdio'", "'filesystem', 'path' = 'orders.jsonl'");
        std::fs::write(folder.path().join("query.sql"), [&table, "SELECT category, ts FROM orders;"].concat()).unwrap();
        let mut child =
            Program::in_folder(folder.path()).command(&[&["run", "query.sql"], mode].concat()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.contains("toys"), "{first}");
        // The reader is gone now, as head is after its lines.
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{mode:?}");
    }
}

#[test]
fn an_interrupt_ends_the_run_and_prints_no_open_window() {
    let folder = fresh();
    let mut running = Running::start(folder.path(), &[ORDERS, BY_MINUTE].concat(), &["--output", "json"]);
    running.write(&order("toys", "10:00:10"));
    running.write(&order("toys", "10:02:00"));
    assert_eq!(running.wait_for(1), [count("toys", "10:00", 1)]);
    running.interrupt();
    let (code, rest, messages) = running.end_by_itself();
    assert_eq!((code, rest, messages.as_str()), (Some(130), vec![], ""));
}

#[test]
fn an_interrupted_run_keeps_the_windows_that_were_final_and_no_other_file() {
    let folder = fresh();
    let sink = "CREATE TABLE counts (window_start TIMESTAMP(3), orders BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'json');
CREATE TABLE seen (category STRING) WITH ('connector' = 'stdio', 'format' = 'json');
INSERT INTO seen SELECT category FROM orders;
INSERT INTO counts SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;";
    let mut running = Running::start(folder.path(), &[ORDERS, sink].concat(), &[]);
    running.write(&order("toys", "10:00:10"));
    running.write(&order("toys", "10:02:00"));
    assert_eq!(running.wait_for(2), [r#"{"category":"toys"}"#; 2]);
    running.interrupt();
    assert_eq!(running.end_by_itself().0, Some(130));
    let written = written_rows(&folder.path().join("out"), |_| true);
    assert_eq!(written, "-- out/counts\n{\"window_start\":\"2026-11-29 10:00:00.000\",\"orders\":1}\n");
}

#[test]
fn a_failed_run_leaves_no_file() {
    for mode in [&[][..], &["--batch"], &["--batch-size", "1", "--parallelism", "3"]] {
        let folder = fresh();
        let sink = "CREATE TABLE counts (window_start TIMESTAMP(3), orders BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'json');
INSERT INTO counts SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;";
        let mut running = Running::start(folder.path(), &[ORDERS, sink].concat(), mode);
        running.write(&order("toys", "10:00:10"));
        running.write(&order("toys", "10:02:00"));
        running.write("{\"category\": \n");
        let (code, rows, messages) = running.end();
        assert_eq!((code, rows), (Some(1), vec![]), "{mode:?}");
        assert!(messages.starts_with("error: stdin, line 3: "), "{messages}");
        assert_eq!(names(&folder.path().join("out")), Vec::<String>::new(), "{mode:?}");
    }
}

#[test]
fn a_watermark_that_stands_still_is_told_beside_the_rows() {
    let folder = fresh();
    let often = "SET 'tidemill.watermark.stall-hint' = '20 ms';\n";
    let mut running = Running::start(folder.path(), &[often, ORDERS, BY_MINUTE].concat(), &["--output", "json"]);
    let wait_for = |running: &Running, part: &str| while !running.wait_for_message().contains(part) {};
    wait_for(&running, "orders: there has been no watermark for ");
    wait_for(&running, "WATERMARK FOR completes them sooner");
    running.write(&order("toys", "10:00:10"));
    wait_for(&running, "orders: the watermark has stood at 2026-11-29T10:00:05 for ");
    running.write(&order("toys", "10:00:09"));
    wait_for(&running, " from 'stdin' none has a later time; windows that end later wait");
    running.write(&order("toys", "10:01:10"));
    assert_eq!(running.wait_for(1), [count("toys", "10:00", 2)]);
    let (code, lines, _) = running.end();
    assert_eq!((code, lines), (Some(0), vec![count("toys", "10:01", 1)]));
}

#[test]
fn nothing_is_said_of_a_watermark_for_which_nothing_waits() {
    let folder = fresh();
    let often = "SET 'tidemill.watermark.stall-hint' = '1 ms';\n";
    let mut running = Running::start(folder.path(), &[often, ORDERS, "SELECT category FROM orders;"].concat(), &[]);
    running.write(&order("toys", "10:00:10"));
    running.wait_for(1);
    running.assert_silent();
    assert_eq!(running.end(), (Some(0), vec![], String::new()));
    let off = "SET 'tidemill.watermark.stall-hint' = '0';\n";
    let mut running = Running::start(folder.path(), &[off, ORDERS, BY_MINUTE].concat(), &[]);
    running.write(&order("toys", "10:00:10"));
    running.assert_silent();
    assert_eq!(running.end().2, "");
}

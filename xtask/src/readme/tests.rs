use super::*;

const TEXT: &str =
    "# T\n<!-- run: exit 3 -->\n```console\n$ a b\none\ntwo\n$ c\n```\nend\n```console\n$ not run\n```\n";

#[test]
fn commands_of_marked_blocks_are_found() {
    let document = Document::parse(TEXT).unwrap();
    let example = |line, command: &str, printed: &str| Example {
        line,
        command: command.to_owned(),
        printed: printed.to_owned(),
        exit: 3,
    };
    assert_eq!(document.examples, [example(4, "a b", "one\ntwo\n"), example(7, "c", "")]);
    assert_eq!(document.text(), TEXT);
}

#[test]
fn what_is_accepted_stands_in_the_text() {
    let mut document = Document::parse(TEXT).unwrap();
    document.examples[0].printed = "three\n".to_owned();
    assert_eq!(document.text(), TEXT.replace("one\ntwo\n", "three\n"));
}

#[test]
fn a_mark_without_a_block_or_with_an_unknown_word_is_refused() {
    assert!(Document::parse("<!-- run -->\ntext\n").is_err());
    assert!(Document::parse("<!-- run: twice -->\n```console\n$ a\n```\n").is_err());
    assert!(Document::parse("<!-- run -->\n```console\n$ a\n").is_err());
    assert!(Document::parse("<!-- run -->\n```console\na\n```\n").is_err());
}

#[test]
fn both_outputs_and_the_code_are_taken() {
    let (printed, code) = execute(Path::new("."), "echo out; echo err >&2; exit 4").unwrap();
    assert_eq!((&*printed, code), ("out\nerr\n", 4));
}

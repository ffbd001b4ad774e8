use super::*;

#[test]
fn of_an_answer_the_message_and_the_code_are_shown() {
    let text = "Server returned non-2xx status code: 403 Forbidden: <?xml version=\"1.0\"?><Error>\
                <Code>InvalidAccessKeyId</Code><Message>The key does not exist</Message></Error>";
    assert_eq!(answer(text).unwrap(), "The key does not exist (InvalidAccessKeyId)");
    assert_eq!(answer("<Code>SlowDown</Code>").unwrap(), "SlowDown");
    assert!(answer("403 Forbidden").is_none());
}

#[test]
fn a_server_is_the_beginning_of_its_url() {
    assert_eq!(server("Error performing GET http://127.0.0.1:1/b?list-type=2 in 3s"), "http://127.0.0.1:1");
    assert_eq!(server("GET https://s3.eu-west-1.amazonaws.com/b/k in 3s"), "https://s3.eu-west-1.amazonaws.com");
    assert_eq!(server("error (http://host)"), "http://host");
    assert_eq!(server("nothing"), "the server");
}

#[test]
fn where_there_are_no_credentials_that_is_said() {
    let source = "Error performing PUT http://169.254.169.254/latest/api/token in 10s, after 7 retries".into();
    let error = failed(StoreError::Generic { store: "S3", source }, "b");
    assert!(error.message().starts_with("there are no credentials for S3"), "{error}");
    assert!(error.hint_text().unwrap().contains("AWS_ACCESS_KEY_ID"));
}

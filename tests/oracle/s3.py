"""A service that speaks as S3 does, with one empty bucket: prints its port, and runs until standard input is closed.

With the argument `refuse` it knows no credentials, and refuses whatever is asked of it. A line `hang WORD...` or
`refuse WORD...` on standard input lets requests go wrong that have all the words in their method, path, query or body;
`mend` ends that. Each line is answered with `ok`.
"""

import io
import logging
import os
import sys
import threading

refuse = sys.argv[1:] == ["refuse"]
if refuse:
    # Nobody can make a bucket then: whether there is one is not what is refused.
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "0"

import boto3
from moto.server import ThreadedMotoServer

REFUSED = b"<Error><Code>AccessDenied</Code><Message>refused by the test</Message></Error>"

# A body that is longer holds rows, and no words that a rule has.
LONGEST_BODY = 100_000


class Faults:
    """Passes requests on that no rule is about."""

    def __init__(self, app):
        self.app = app
        self.rules = []

    def __call__(self, environ, start_response):
        request = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ['QUERY_STRING']} {body(environ)}"
        for fault, words in self.rules:
            if all(word in request for word in words):
                if fault == "hang":
                    threading.Event().wait()
                start_response("403 Forbidden", [("Content-Type", "application/xml")])
                return [REFUSED]
        return self.app(environ, start_response)


def body(environ):
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if not 0 < length < LONGEST_BODY:
        return ""
    content = environ["wsgi.input"].read(length)
    environ["wsgi.input"] = io.BytesIO(content)
    return content.decode(errors="replace")


logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
if not refuse:
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=f"http://{host}:{port}", **keys).create_bucket(Bucket="shop")
faults = Faults(server._server.app)
server._server.app = faults
print(port, flush=True)
for line in sys.stdin:
    fault, *words = line.split()
    faults.rules = [] if fault == "mend" else faults.rules + [(fault, words)]
    print("ok", flush=True)

"""A service that speaks as S3 does, with one empty bucket: prints its port, and runs until standard input is closed.

With the argument `refuse` it knows no credentials, and refuses whatever is asked of it.
"""

import logging
import os
import sys

refuse = sys.argv[1:] == ["refuse"]
if refuse:
    # Nobody can make a bucket then: whether there is one is not what is refused.
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "0"

import boto3
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
if not refuse:
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=f"http://{host}:{port}", **keys).create_bucket(Bucket="shop")
print(port, flush=True)
sys.stdin.read()

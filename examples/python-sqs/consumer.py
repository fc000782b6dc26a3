# SPDX-License-Identifier: Apache-2.0
"""An order-payment consumer on SQS, with boto3 and SQLite.

`consumer.py naive` pays first and deletes the message afterwards. Whatever comes between
(a crash, a lease that ran out, the same order stored twice) pays once more.

`consumer.py mended` writes the payment and the id of its event in one transaction, under a
unique key: the second delivery finds the id and changes nothing.
"""

import json
import os
import signal
import sqlite3
import sys
import time

import boto3

SCHEMA = """
CREATE TABLE IF NOT EXISTS payments (event_id TEXT NOT NULL, customer TEXT NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS processed (event_id TEXT PRIMARY KEY);
"""


def pay(db, order):
    time.sleep(0.03)  # the payment provider
    db.execute(
        "INSERT INTO payments (event_id, customer, amount) VALUES (?, ?, ?)",
        (order["event_id"], order["customer"], order["amount"]),
    )


def naive(db, order):
    with db:
        pay(db, order)


def mended(db, order):
    with db:
        db.execute("BEGIN IMMEDIATE")
        new = db.execute("INSERT OR IGNORE INTO processed (event_id) VALUES (?)", (order["event_id"],))
        if new.rowcount == 1:
            pay(db, order)


def main():
    handle = {"naive": naive, "mended": mended}[sys.argv[1]]
    db = sqlite3.connect(os.path.join(os.environ["HARNESS_DIR"], "payments.db"), timeout=30, isolation_level=None)
    db.executescript(SCHEMA)
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    sqs = boto3.client("sqs")  # the endpoint and the region are in the environment
    queue = os.environ["HARNESS_QUEUE_URL"]
    while not stopping:
        answer = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        for message in answer.get("Messages", []):
            handle(db, json.loads(message["Body"]))
            sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""An order-payment consumer on RabbitMQ, with pika and PostgreSQL.

`consumer.py naive` notes the event first, in a transaction of its own, and pays afterwards
(claim before work). A crash in between leaves a note without a payment: the redelivery
finds the note and acks, and the order is never paid.

`consumer.py mended` notes the event and pays in one transaction. After a crash neither is
there, and the redelivery does both.
"""

import json
import os
import signal
import sys
import time

import pika
import psycopg

SCHEMA = """
CREATE TABLE IF NOT EXISTS payments (event_id TEXT NOT NULL, customer TEXT NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS processed (event_id TEXT PRIMARY KEY);
"""
NOTE = "INSERT INTO processed (event_id) VALUES (%s) ON CONFLICT DO NOTHING"
PAY = "INSERT INTO payments (event_id, customer, amount) VALUES (%s, %s, %s)"


def pay(db, order):
    time.sleep(0.25)  # the payment provider
    db.execute(PAY, (order["event_id"], order["customer"], order["amount"]))


def naive(db, order):
    with db.transaction():
        new = db.execute(NOTE, (order["event_id"],)).rowcount == 1
    if new:
        with db.transaction():
            pay(db, order)


def mended(db, order):
    with db.transaction():
        if db.execute(NOTE, (order["event_id"],)).rowcount == 1:
            pay(db, order)


def tables(db):
    # Two workers that make the same table at once would trip over each other.
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(1)")
        db.execute(SCHEMA)


def main():
    handle = {"naive": naive, "mended": mended}[sys.argv[1]]
    db = psycopg.connect(os.environ["HARNESS_POSTGRES"], autocommit=True)
    tables(db)
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    channel = pika.BlockingConnection(pika.URLParameters(os.environ["AMQP_URL"])).channel()
    channel.basic_qos(prefetch_count=1)
    for method, _, body in channel.consume(os.environ["HARNESS_QUEUE"], inactivity_timeout=0.2):
        if method is not None:
            handle(db, json.loads(body))
            channel.basic_ack(method.delivery_tag)
        if stopping:
            break
    channel.connection.close()


if __name__ == "__main__":
    main()

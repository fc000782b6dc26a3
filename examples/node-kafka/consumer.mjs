// SPDX-License-Identifier: Apache-2.0

// An order-payment consumer on Kafka, with @platformatic/kafka and PostgreSQL.
//
// `consumer.mjs naive` takes the broker's own id of a record, partition and offset, as the
// key of a payment. A redelivery has the same, and is kept out. An order that its producer
// sent twice has two, and is paid twice.
//
// `consumer.mjs mended` takes the id of the event.

import { setTimeout as sleep } from 'node:timers/promises'
import { Consumer, stringDeserializers } from '@platformatic/kafka'
import pg from 'pg'

const SCHEMA = `
CREATE TABLE IF NOT EXISTS payments (key TEXT PRIMARY KEY, event_id TEXT NOT NULL, customer TEXT NOT NULL, amount INTEGER NOT NULL)`
const PAY = `
INSERT INTO payments (key, event_id, customer, amount) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`

const keys = {
  naive: record => `${record.partition}/${record.offset}`,
  mended: (record, order) => order.event_id
}

async function tables (db) {
  await db.query('BEGIN')
  await db.query('SELECT pg_advisory_xact_lock(1)')
  await db.query(SCHEMA)
  await db.query('COMMIT')
}

const key = keys[process.argv[2]]
const db = new pg.Client({ connectionString: process.env.HARNESS_POSTGRES })
await db.connect()
await tables(db)

const consumer = new Consumer({
  clientId: `worker-${process.env.HARNESS_WORKER}`,
  groupId: process.env.KAFKA_GROUP_ID,
  bootstrapBrokers: process.env.KAFKA_BROKERS.split(','),
  deserializers: stringDeserializers,
  autocommit: false,
  sessionTimeout: 2000,
  heartbeatInterval: 300,
  rebalanceTimeout: 5000
})
const stream = await consumer.consume({
  topics: [process.env.KAFKA_TOPIC], mode: 'committed', fallbackMode: 'earliest', maxWaitTime: 200
})

process.on('SIGTERM', async () => {
  await consumer.close(true)
  await db.end()
  process.exit(0)
})

for await (const record of stream) {
  const order = JSON.parse(record.value)
  await sleep(100) // the payment provider
  await db.query(PAY, [key(record, order), order.event_id, order.customer, order.amount])
  // A commit that is refused is of a partition that has moved: its new owner pays again, or not.
  await Promise.resolve(record.commit()).catch(error => console.error(`not committed: ${error.message}`))
}

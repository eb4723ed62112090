// Drizzle, on pg. The driver's error is the cause of Drizzle's.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { pushSchema } from 'drizzle-kit/api'
import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import * as schema from './schema.mjs'
import { shortComb } from '../short_comb.mjs'
import { beyondDouble, hoursFromNow, knownAnswers, onlyOrders, tasks } from '../tasks.mjs'

const { orders, drafts, events, visits, clicks, accounts } = schema
const task = tasks('drizzle')
const pool = new pg.Pool() // PGHOST, PGPORT, PGUSER, PGDATABASE
// A lost connection is also an event, which ends the process if nothing listens to it.
pool.on('error', () => {})
pool.on('connect', (client) => client.on('error', () => {}))
const db = drizzle(pool)

await task('empty diff', async () => {
  await db.execute(sql`DROP SCHEMA IF EXISTS drizzle CASCADE`)
  const first = await pushSchema(schema, db, ['drizzle'])
  assert.equal(first.statementsToExecute.length, 7)
  await first.apply()
  await db.execute(sql`
    CREATE TRIGGER drafts_id_is_recent BEFORE INSERT ON drizzle.drafts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'tolerance=10 minutes')`)

  const second = await pushSchema(schema, db, ['drizzle'])
  assert.deepEqual(second.statementsToExecute, [])
})

await task('generator', knownAnswers)

const noteOf = async (table, id) =>
  (await db.select({ note: table.note }).from(table).where(eq(table.id, id)))[0].note

await task('default key', async () => {
  const [{ id }] = await db.insert(orders).values({ note: 'made by the database' }).returning()
  assert.equal(await noteOf(orders, id), 'made by the database')
})

await task('client key', async () => {
  await db.insert(drafts).values({ id: shortComb(), note: 'made by the client' })

  const old = shortComb(hoursFromNow(-24))
  await assert.rejects(db.insert(drafts).values({ id: old, note: 'too old' }), ({ cause }) =>
    cause.code === '23514' && cause.constraint === 'drafts_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry. It takes
// the connection itself: db.transaction() releases none whose BEGIN failed, and the tenth
// such attempt leaves the pool empty (drizzle-team/drizzle-orm#6241).
async function createOrder(command, note) {
  const client = await pool.connect()
  try {
    const order = await drizzle(client).transaction(async (tx) => {
      const { rows } = await tx.execute(sql`
        SELECT entity_id, created
        FROM idgen.create_once(${command}, idgen.keyed_comb(area => 'orders'), 'create order', ${{ note }})`)
      const { entity_id: id, created } = rows[0]
      if (created) await tx.insert(orders).values({ id, note })
      return { id, created }
    })
    client.release()
    return order
  } catch (error) {
    client.release(error) // closes the connection
    throw error
  }
}
await onlyOrders(createOrder)

await task('create once', async () => {
  const command = randomUUID()
  const first = await createOrder(command, 'a book')
  const retry = await createOrder(command, 'a book')
  assert(first.created && !retry.created)
  assert.equal(retry.id, first.id)
  assert.equal(await noteOf(orders, first.id), 'a book')

  await assert.rejects(createOrder(command, 'another book'), ({ cause }) =>
    cause.code === '23514' && cause.constraint === 'creation_identifiers_same_command')
})

await task('bigint keys', async () => {
  const [{ id }] = await db.insert(visits).values({ note: 'a visit' }).returning()
  assert(typeof id === 'bigint' && id > 2n ** 53n)
  assert.equal(await noteOf(visits, id), 'a visit')

  const [exact] = await db.insert(visits).values({ id: beyondDouble }).returning()
  assert.equal(exact.id, beyondDouble)

  const [click] = await db.insert(clicks).values({}).returning()
  assert(Number.isSafeInteger(click.id))
})

await task('prefixed id', async () => {
  const [{ id }] = await db.insert(accounts).values({ note: 'an account' }).returning()
  assert.match(id, /^acct_[0-9a-z]{25}$/)
  assert.equal(await noteOf(accounts, id), 'an account')

  const other = id.replace('acct_', 'order_')
  await assert.rejects(db.insert(accounts).values({ id: other }), ({ cause }) =>
    cause.code === '23514' && cause.constraint === 'prefixed_id_check')
})

await task('range of time', async () => {
  const [event] = await db.insert(events).values({}).returning()
  const ids = async (start, stop) => {
    const within = sql`idgen.uuid_v7_within(${events.id}, ${start}, ${stop})`
    return (await db.select().from(events).where(within)).map((row) => row.id)
  }
  assert((await ids(hoursFromNow(-1), hoursFromNow(1))).includes(event.id))
  assert(!(await ids(hoursFromNow(1), hoursFromNow(2))).includes(event.id))
})

await pool.end()

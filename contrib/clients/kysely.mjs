// Kysely, on pg. A key of the database is not among the values, and comes back by returning().

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { shortComb } from './short_comb.mjs'
import { beyondDouble, hoursFromNow, knownAnswers, onlyOrders, tasks } from './tasks.mjs'

const task = tasks('kysely')
const pool = new pg.Pool() // PGHOST, PGPORT, PGUSER, PGDATABASE
// A lost connection is also an event, which ends the process if nothing listens to it.
pool.on('error', () => {})
pool.on('connect', (client) => client.on('error', () => {}))
const db = new Kysely({ dialect: new PostgresDialect({ pool }) })

const insert = (table, values) => db.insertInto(table).values(values).returning('id').executeTakeFirstOrThrow()
const noteOf = async (table, id) =>
  (await db.selectFrom(table).select('note').where('id', '=', id).executeTakeFirstOrThrow()).note

await task('generator', knownAnswers)

await task('default key', async () => {
  const { id } = await insert('orders', { note: 'made by the database' })
  assert.equal(await noteOf('orders', id), 'made by the database')
})

await task('client key', async () => {
  await insert('drafts', { id: shortComb(), note: 'made by the client' })

  const old = shortComb(hoursFromNow(-24))
  await assert.rejects(insert('drafts', { id: old, note: 'too old' }), (error) =>
    error.code === '23514' && error.constraint === 'drafts_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry.
const createOrder = (command, note) => db.transaction().execute(async (trx) => {
  const { rows } = await sql`
    SELECT entity_id, created
    FROM idgen.create_once(${command}, idgen.keyed_comb(area => 'orders'), 'create order', ${{ note }})`.execute(trx)
  const { entity_id: id, created } = rows[0]
  if (created) await trx.insertInto('orders').values({ id, note }).execute()
  return { id, created }
})
await onlyOrders(createOrder)

await task('create once', async () => {
  const command = randomUUID()
  const first = await createOrder(command, 'a book')
  const retry = await createOrder(command, 'a book')
  assert(first.created && !retry.created)
  assert.equal(retry.id, first.id)
  assert.equal(await noteOf('orders', first.id), 'a book')

  await assert.rejects(createOrder(command, 'another book'), (error) =>
    error.code === '23514' && error.constraint === 'creation_identifiers_same_command')
})

await task('bigint keys', async () => {
  const { id } = await insert('visits', { note: 'a visit' })
  assert(typeof id === 'string' && BigInt(id) > 2n ** 53n) // Number() would round it
  assert.equal(await noteOf('visits', id), 'a visit')

  await db.deleteFrom('visits').where('id', '=', beyondDouble).execute()
  const exact = await insert('visits', { id: beyondDouble })
  assert.equal(BigInt(exact.id), beyondDouble)

  const click = await insert('clicks', { note: 'a click' })
  assert(Number.isSafeInteger(Number(click.id)))
})

await task('prefixed id', async () => {
  const { id } = await insert('accounts', { note: 'an account' })
  assert.match(id, /^acct_[0-9a-z]{25}$/)
  assert.equal(await noteOf('accounts', id), 'an account')

  await assert.rejects(insert('accounts', { id: id.replace('acct_', 'order_') }), (error) =>
    error.code === '23514' && error.constraint === 'prefixed_id_check')
})

await task('range of time', async () => {
  const event = await insert('events', { note: 'an event' })
  const ids = async (start, stop) => {
    const within = sql`idgen.uuid_v7_within(id, ${start}, ${stop})`
    return (await db.selectFrom('events').select('id').where(within).execute()).map((row) => row.id)
  }
  assert((await ids(hoursFromNow(-1), hoursFromNow(1))).includes(event.id))
  assert(!(await ids(hoursFromNow(1), hoursFromNow(2))).includes(event.id))
})

await db.destroy()

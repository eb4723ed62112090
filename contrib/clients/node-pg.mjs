// pg, the usual driver of node. Parameters go without a type, and a bigint comes as a string.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { shortComb } from './short_comb.mjs'
import { beyondDouble, hoursFromNow, knownAnswers, onlyOrders, tasks } from './tasks.mjs'

const task = tasks('node-pg')
const pool = new pg.Pool() // PGHOST, PGPORT, PGUSER, PGDATABASE
// A lost connection is also an event, which ends the process if nothing listens to it.
pool.on('error', () => {})
pool.on('connect', (client) => client.on('error', () => {}))

await task('generator', knownAnswers)

await task('default key', async () => {
  const { rows } = await pool.query('INSERT INTO orders (note) VALUES ($1) RETURNING id', ['made by the database'])
  const found = await pool.query('SELECT note FROM orders WHERE id = $1', [rows[0].id])
  assert.equal(found.rows[0].note, 'made by the database')
})

await task('client key', async () => {
  const insert = 'INSERT INTO drafts (id, note) VALUES ($1, $2)'
  await pool.query(insert, [shortComb(), 'made by the client'])

  const old = shortComb(hoursFromNow(-24))
  await assert.rejects(pool.query(insert, [old, 'too old']), (error) =>
    error.code === '23514' && error.constraint === 'drafts_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry.
async function createOrder(command, note) {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const { rows } = await client.query(
      `SELECT entity_id, created
       FROM idgen.create_once($1, idgen.keyed_comb(area => 'orders'), 'create order', $2)`,
      [command, { note }])
    const { entity_id: id, created } = rows[0]
    if (created) await client.query('INSERT INTO orders (id, note) VALUES ($1, $2)', [id, note])
    await client.query('COMMIT')
    client.release()
    return { id, created }
  } catch (error) {
    client.release(error) // closes the connection, which rolls back
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
  const { rows } = await pool.query('SELECT note FROM orders WHERE id = $1', [first.id])
  assert.equal(rows[0].note, 'a book')

  await assert.rejects(createOrder(command, 'another book'), (error) =>
    error.code === '23514' && error.constraint === 'creation_identifiers_same_command')
})

await task('bigint keys', async () => {
  const visit = await pool.query('INSERT INTO visits (note) VALUES ($1) RETURNING id', ['a visit'])
  const id = BigInt(visit.rows[0].id) // Number() would round it
  assert(id > 2n ** 53n)
  const found = await pool.query('SELECT note FROM visits WHERE id = $1', [id])
  assert.equal(found.rows[0].note, 'a visit')

  await pool.query('DELETE FROM visits WHERE id = $1', [beyondDouble])
  const exact = await pool.query('INSERT INTO visits (id) VALUES ($1) RETURNING id', [beyondDouble])
  assert.equal(BigInt(exact.rows[0].id), beyondDouble)

  const click = await pool.query('INSERT INTO clicks DEFAULT VALUES RETURNING id')
  assert(Number.isSafeInteger(Number(click.rows[0].id)))
})

await task('prefixed id', async () => {
  const { rows } = await pool.query('INSERT INTO accounts (note) VALUES ($1) RETURNING id', ['an account'])
  assert.match(rows[0].id, /^acct_[0-9a-z]{25}$/)
  const found = await pool.query('SELECT note FROM accounts WHERE id = $1', [rows[0].id])
  assert.equal(found.rows[0].note, 'an account')

  const other = rows[0].id.replace('acct_', 'order_')
  await assert.rejects(pool.query('INSERT INTO accounts (id) VALUES ($1)', [other]), (error) =>
    error.code === '23514' && error.constraint === 'prefixed_id_check')
})

await task('range of time', async () => {
  const { rows: [event] } = await pool.query('INSERT INTO events DEFAULT VALUES RETURNING id')
  const range = 'SELECT id FROM events WHERE idgen.uuid_v7_within(id, $1, $2)'
  const ids = async (...times) => (await pool.query(range, times)).rows.map((row) => row.id)
  assert((await ids(hoursFromNow(-1), hoursFromNow(1))).includes(event.id))
  assert(!(await ids(hoursFromNow(1), hoursFromNow(2))).includes(event.id))
})

await pool.end()

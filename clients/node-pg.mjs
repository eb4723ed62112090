// pg, the usual driver of node. Parameters go without a type, and a bigint comes as a string.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { shortComb } from './short_comb.mjs'
import { beyondDouble, hoursFromNow, knownAnswers, tasks } from './tasks.mjs'

const task = tasks('node-pg')
const client = new pg.Client() // PGHOST, PGPORT, PGUSER, PGDATABASE
await client.connect()

await task('generator', knownAnswers)

await task('default key', async () => {
  const { rows } = await client.query('INSERT INTO orders (note) VALUES ($1) RETURNING id', ['made by the database'])
  const found = await client.query('SELECT note FROM orders WHERE id = $1', [rows[0].id])
  assert.equal(found.rows[0].note, 'made by the database')
})

await task('client key', async () => {
  const insert = 'INSERT INTO orders (id, note) VALUES ($1, $2)'
  await client.query(insert, [shortComb(), 'made by the client'])

  const old = shortComb(hoursFromNow(-24))
  await assert.rejects(client.query(insert, [old, 'too old']), (error) =>
    error.code === '23514' && error.constraint === 'orders_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry.
async function createOrder(command, note) {
  await client.query('BEGIN')
  try {
    const { rows } = await client.query(
      'SELECT entity_id, created FROM idgen.create_once($1, $2, $3, $4)',
      [command, shortComb(), 'create order', { note }])
    const { entity_id: id, created } = rows[0]
    if (created) await client.query('INSERT INTO orders (id, note) VALUES ($1, $2)', [id, note])
    await client.query('COMMIT')
    return { id, created }
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

await task('create once', async () => {
  const command = randomUUID()
  const first = await createOrder(command, 'a book')
  const retry = await createOrder(command, 'a book')
  assert(first.created && !retry.created)
  assert.equal(retry.id, first.id)
  const { rows } = await client.query('SELECT note FROM orders WHERE id = $1', [first.id])
  assert.equal(rows[0].note, 'a book')

  await assert.rejects(createOrder(command, 'another book'), (error) =>
    error.code === '23514' && error.constraint === 'creation_identifiers_same_command')
})

await task('bigint keys', async () => {
  const visit = await client.query('INSERT INTO visits (note) VALUES ($1) RETURNING id', ['a visit'])
  const id = BigInt(visit.rows[0].id) // Number() would round it
  assert(id > 2n ** 53n)
  const found = await client.query('SELECT note FROM visits WHERE id = $1', [id])
  assert.equal(found.rows[0].note, 'a visit')

  await client.query('DELETE FROM visits WHERE id = $1', [beyondDouble])
  const exact = await client.query('INSERT INTO visits (id) VALUES ($1) RETURNING id', [beyondDouble])
  assert.equal(BigInt(exact.rows[0].id), beyondDouble)

  const click = await client.query('INSERT INTO clicks DEFAULT VALUES RETURNING id')
  assert(Number.isSafeInteger(Number(click.rows[0].id)))
})

await task('prefixed id', async () => {
  const { rows } = await client.query('INSERT INTO accounts (note) VALUES ($1) RETURNING id', ['an account'])
  assert.match(rows[0].id, /^acct_[0-9a-z]{25}$/)
  const found = await client.query('SELECT note FROM accounts WHERE id = $1', [rows[0].id])
  assert.equal(found.rows[0].note, 'an account')

  const other = rows[0].id.replace('acct_', 'order_')
  await assert.rejects(client.query('INSERT INTO accounts (id) VALUES ($1)', [other]), (error) =>
    error.code === '23514' && error.constraint === 'prefixed_id_check')
})

await task('range of time', async () => {
  const { rows: [event] } = await client.query('INSERT INTO events DEFAULT VALUES RETURNING id')
  const range = 'SELECT id FROM events WHERE idgen.uuid_v7_within(id, $1, $2)'
  const ids = async (...times) => (await client.query(range, times)).rows.map((row) => row.id)
  assert((await ids(hoursFromNow(-1), hoursFromNow(1))).includes(event.id))
  assert(!(await ids(hoursFromNow(1), hoursFromNow(2))).includes(event.id))
})

await client.end()

// postgres.js. Parameters get the type that the server infers; a jsonb is an object in sql.json().

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { shortComb } from './short_comb.mjs'
import { beyondDouble, hoursFromNow, knownAnswers, onlyOrders, tasks } from './tasks.mjs'

const task = tasks('postgresjs')
// PGHOST, PGPORT, PGUSER, PGDATABASE; without postgres.BigInt, a bigint comes as a string.
// The process ends if the connection is lost while the types of arrays are fetched.
const sql = postgres({ types: { bigint: postgres.BigInt }, fetch_types: false })

await task('generator', knownAnswers)

await task('default key', async () => {
  const [{ id }] = await sql`INSERT INTO orders ${sql({ note: 'made by the database' })} RETURNING id`
  const [order] = await sql`SELECT note FROM orders WHERE id = ${id}`
  assert.equal(order.note, 'made by the database')
})

await task('client key', async () => {
  await sql`INSERT INTO drafts ${sql({ id: shortComb(), note: 'made by the client' })}`

  const old = shortComb(hoursFromNow(-24))
  await assert.rejects(async () => sql`INSERT INTO drafts ${sql({ id: old, note: 'too old' })}`, (error) =>
    error.code === '23514' && error.constraint_name === 'drafts_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry. One
// statement: if the connection is lost in a transaction of sql.begin(), the process ends
// (porsager/postgres#1208).
async function createOrder(command, note) {
  const [order] = await sql`
    WITH creation AS (
      SELECT entity_id AS id, created
      FROM idgen.create_once(${command}, idgen.keyed_comb(area => 'orders'), 'create order', ${sql.json({ note })})
    ), inserted AS (
      INSERT INTO orders (id, note) SELECT id, ${note} FROM creation WHERE created
    )
    SELECT id, created FROM creation`
  assert(order, 'no answer') // if the connection is lost while it is made
  return order
}
await onlyOrders(createOrder)

await task('create once', async () => {
  const command = randomUUID()
  const first = await createOrder(command, 'a book')
  const retry = await createOrder(command, 'a book')
  assert(first.created && !retry.created)
  assert.equal(retry.id, first.id)
  const [order] = await sql`SELECT note FROM orders WHERE id = ${first.id}`
  assert.equal(order.note, 'a book')

  await assert.rejects(createOrder(command, 'another book'), (error) =>
    error.code === '23514' && error.constraint_name === 'creation_identifiers_same_command')
})

await task('bigint keys', async () => {
  const [{ id }] = await sql`INSERT INTO visits ${sql({ note: 'a visit' })} RETURNING id`
  assert(typeof id === 'bigint' && id > 2n ** 53n)
  const [visit] = await sql`SELECT note FROM visits WHERE id = ${id}`
  assert.equal(visit.note, 'a visit')

  await sql`DELETE FROM visits WHERE id = ${beyondDouble}`
  const [exact] = await sql`INSERT INTO visits ${sql({ id: beyondDouble })} RETURNING id`
  assert.equal(exact.id, beyondDouble)

  const [click] = await sql`INSERT INTO clicks DEFAULT VALUES RETURNING id`
  assert(Number.isSafeInteger(Number(click.id)))
})

await task('prefixed id', async () => {
  const [{ id }] = await sql`INSERT INTO accounts ${sql({ note: 'an account' })} RETURNING id`
  assert.match(id, /^acct_[0-9a-z]{25}$/)
  const [account] = await sql`SELECT note FROM accounts WHERE id = ${id}`
  assert.equal(account.note, 'an account')

  const other = id.replace('acct_', 'order_')
  await assert.rejects(async () => sql`INSERT INTO accounts ${sql({ id: other })}`, (error) =>
    error.code === '23514' && error.constraint_name === 'prefixed_id_check')
})

await task('range of time', async () => {
  const [event] = await sql`INSERT INTO events DEFAULT VALUES RETURNING id`
  const ids = async (start, stop) =>
    (await sql`SELECT id FROM events WHERE idgen.uuid_v7_within(id, ${start}, ${stop})`).map((row) => row.id)
  assert((await ids(hoursFromNow(-1), hoursFromNow(1))).includes(event.id))
  assert(!(await ids(hoursFromNow(1), hoursFromNow(2))).includes(event.id))
})

await sql.end()

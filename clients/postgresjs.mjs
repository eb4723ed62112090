// postgres.js. Parameters get the type that the server infers; a jsonb is an object in sql.json().

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { shortComb } from './short_comb.mjs'
import { beyondDouble, hoursFromNow, knownAnswers, tasks } from './tasks.mjs'

const task = tasks('postgresjs')
// PGHOST, PGPORT, PGUSER, PGDATABASE; without postgres.BigInt, a bigint comes as a string
const sql = postgres({ types: { bigint: postgres.BigInt } })

await task('generator', knownAnswers)

await task('default key', async () => {
  const [{ id }] = await sql`INSERT INTO orders ${sql({ note: 'made by the database' })} RETURNING id`
  const [order] = await sql`SELECT note FROM orders WHERE id = ${id}`
  assert.equal(order.note, 'made by the database')
})

await task('client key', async () => {
  await sql`INSERT INTO orders ${sql({ id: shortComb(), note: 'made by the client' })}`

  const old = shortComb(hoursFromNow(-24))
  await assert.rejects(async () => sql`INSERT INTO orders ${sql({ id: old, note: 'too old' })}`, (error) =>
    error.code === '23514' && error.constraint_name === 'orders_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry.
const createOrder = (command, note) => sql.begin(async (sql) => {
  const [{ entity_id: id, created }] = await sql`
    SELECT entity_id, created
    FROM idgen.create_once(${command}, ${shortComb()}, ${'create order'}, ${sql.json({ note })})`
  if (created) await sql`INSERT INTO orders ${sql({ id, note })}`
  return { id, created }
})

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

// PGlite, which is PostgreSQL in WebAssembly: no C library can be loaded, so the portable
// edition is installed. The database is in this process and in memory.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { shortComb } from './short_comb.mjs'
import { hoursFromNow, knownAnswers, tasks } from './tasks.mjs'

const task = tasks('pglite')
const folder = process.env.IDGEN_PORTABLE_FILES ?? '../portable'
const db = await PGlite.create()

for (const file of ['uuids', 'checks', 'text_ids', 'create_once']) {
  await db.exec(readFileSync(`${folder}/${file}.sql`, 'utf8'))
}
await db.exec(`
  CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT idgen.keyed_comb(area => 'orders'), note text);
  CREATE TABLE drafts (id uuid PRIMARY KEY DEFAULT idgen.short_comb(), note text);
  CREATE TRIGGER drafts_id_is_recent BEFORE INSERT ON drafts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'tolerance=10 minutes');
  CREATE TABLE events (id uuid PRIMARY KEY DEFAULT idgen.uuid_v7());
  CREATE TABLE accounts (
    id text COLLATE "C" PRIMARY KEY DEFAULT idgen.prefixed_id('acct')
      CONSTRAINT prefixed_id_check CHECK (idgen.is_prefixed_id(id, 'acct')),
    note text)`)

await task('generator', knownAnswers)

await task('default key', async () => {
  const { rows } = await db.query('INSERT INTO orders (note) VALUES ($1) RETURNING id', ['made by the database'])
  const found = await db.query('SELECT note FROM orders WHERE id = $1', [rows[0].id])
  assert.equal(found.rows[0].note, 'made by the database')
})

await task('client key', async () => {
  const insert = 'INSERT INTO drafts (id, note) VALUES ($1, $2)'
  await db.query(insert, [shortComb(), 'made by the client'])
  await assert.rejects(db.query(insert, [shortComb(hoursFromNow(-24)), 'too old']), (error) =>
    error.code === '23514' && error.constraint === 'drafts_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry.
const createOrder = (command, note) => db.transaction(async (tx) => {
  const { rows: [{ entity_id: id, created }] } = await tx.query(
    `SELECT entity_id, created FROM idgen.create_once($1, idgen.keyed_comb(area => 'orders'), 'create order', $2)`,
    [command, { note }])
  if (created) await tx.query('INSERT INTO orders (id, note) VALUES ($1, $2)', [id, note])
  return { id, created }
})

await task('create once', async () => {
  const command = randomUUID()
  const first = await createOrder(command, 'a book')
  const retry = await createOrder(command, 'a book')
  assert(first.created && !retry.created)
  assert.equal(retry.id, first.id)
  await assert.rejects(createOrder(command, 'another book'), (error) =>
    error.code === '23514' && error.constraint === 'creation_identifiers_same_command')
})

await task('prefixed id', async () => {
  const { rows } = await db.query('INSERT INTO accounts (note) VALUES ($1) RETURNING id', ['an account'])
  assert.match(rows[0].id, /^acct_[0-9a-z]{25}$/)
  const other = rows[0].id.replace('acct_', 'order_')
  await assert.rejects(db.query('INSERT INTO accounts (id) VALUES ($1)', [other]), (error) =>
    error.code === '23514' && error.constraint === 'prefixed_id_check')
})

await task('range of time', async () => {
  const { rows: [event] } = await db.query('INSERT INTO events DEFAULT VALUES RETURNING id')
  const range = 'SELECT id FROM events WHERE idgen.uuid_v7_within(id, $1, $2)'
  const ids = async (...times) => (await db.query(range, times)).rows.map((row) => row.id)
  assert((await ids(hoursFromNow(-1), hoursFromNow(1))).includes(event.id))
  assert(!(await ids(hoursFromNow(1), hoursFromNow(2))).includes(event.id))
})

await db.close()

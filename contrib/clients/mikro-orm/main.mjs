// MikroORM. Its errors have the fields of the driver's. Without ignoreTriggers, its diff drops the trigger.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { MikroORM, raw } from '@mikro-orm/postgresql'
import { Account, Click, Draft, Event, Order, Visit } from './entities.mjs'
import { shortComb } from '../short_comb.mjs'
import { beyondDouble, hoursFromNow, knownAnswers, onlyOrders, tasks } from '../tasks.mjs'

const task = tasks('mikro-orm')
const { PGHOST, PGPORT, PGUSER, PGDATABASE } = process.env
const orm = await MikroORM.init({
  host: PGHOST,
  port: Number(PGPORT),
  user: PGUSER,
  dbName: PGDATABASE,
  entities: [Account, Click, Draft, Event, Order, Visit],
  // The program has a schema of its own, so that it meets no other program's tables.
  schema: 'mikro',
  schemaGenerator: { ignoreSchema: ['idgen'], ignoreTriggers: true },
})
const em = () => orm.em.fork() // one for each unit of work

await task('empty diff', async () => {
  const sql = orm.em.getConnection()
  const difference = () => orm.schema.getUpdateSchemaSQL({ schema: 'mikro', dropTables: false })
  await sql.execute('DROP SCHEMA IF EXISTS mikro CASCADE')
  const first = await difference()
  assert.equal(first.match(/create table/g).length, 6)
  await orm.schema.execute(first)
  await sql.execute('ALTER TABLE mikro.accounts ALTER id TYPE account_id')
  await sql.execute(`
    CREATE TRIGGER drafts_id_is_recent BEFORE INSERT ON mikro.drafts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'tolerance=10 minutes')`)

  assert.equal(await difference(), '')
  // without these options, it drops the tables of other schemas, but not idgen's
  assert.doesNotMatch(await orm.schema.getUpdateSchemaSQL(), /idgen/)
})

await task('generator', knownAnswers)

const insert = async (entity, values) => {
  const manager = em()
  const row = manager.create(entity, values)
  await manager.flush()
  return row
}
const noteOf = async (entity, id) => (await em().findOneOrFail(entity, id)).note

await task('default key', async () => {
  const { id } = await insert(Order, { note: 'made by the database' })
  assert.equal(await noteOf(Order, id), 'made by the database')
})

await task('client key', async () => {
  await insert(Draft, { id: shortComb(), note: 'made by the client' })

  const old = shortComb(hoursFromNow(-24))
  await assert.rejects(insert(Draft, { id: old, note: 'too old' }), (error) =>
    error.code === '23514' && error.constraint === 'drafts_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry.
const createOrder = (command, note) => em().transactional(async (manager) => {
  const [{ entity_id: id, created }] = await manager.execute(
    `SELECT entity_id, created
     FROM idgen.create_once(?, idgen.keyed_comb(area => 'orders'), 'create order', ?)`,
    [command, JSON.stringify({ note })])
  if (created) manager.create(Order, { id, note })
  return { id, created }
})
await onlyOrders(createOrder)

await task('create once', async () => {
  const command = randomUUID()
  const first = await createOrder(command, 'a book')
  const retry = await createOrder(command, 'a book')
  assert(first.created && !retry.created)
  assert.equal(retry.id, first.id)
  assert.equal(await noteOf(Order, first.id), 'a book')

  await assert.rejects(createOrder(command, 'another book'), (error) =>
    error.code === '23514' && error.constraint === 'creation_identifiers_same_command')
})

await task('bigint keys', async () => {
  const { id } = await insert(Visit, { note: 'a visit' })
  assert(typeof id === 'bigint' && id > 2n ** 53n)
  assert.equal(await noteOf(Visit, id), 'a visit')

  await insert(Visit, { id: beyondDouble, note: '2^53 + 1' })
  const exact = await em().findOneOrFail(Visit, { note: '2^53 + 1' })
  assert.equal(exact.id, beyondDouble)

  const click = await insert(Click, {})
  assert(Number.isSafeInteger(Number(click.id)))
})

await task('prefixed id', async () => {
  const { id } = await insert(Account, { note: 'an account' })
  assert.match(id, /^acct_[0-9a-z]{25}$/)
  assert.equal(await noteOf(Account, id), 'an account')

  await assert.rejects(insert(Account, { id: id.replace('acct_', 'order_') }), (error) =>
    error.code === '23514' && error.constraint === 'prefixed_id_check')
})

await task('range of time', async () => {
  const event = await insert(Event, {})
  const ids = async (start, stop) => {
    const within = raw('idgen.uuid_v7_within(id, ?, ?)', [start, stop])
    return (await em().find(Event, { [within]: true })).map((row) => row.id)
  }
  assert((await ids(hoursFromNow(-1), hoursFromNow(1))).includes(event.id))
  assert(!(await ids(hoursFromNow(1), hoursFromNow(2))).includes(event.id))
})

await orm.close()

// TypeORM, on pg. The driver's error is the driverError of TypeORM's.

import 'reflect-metadata'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { DataSource } from 'typeorm'
import { Account, Click, Draft, Event, Order, Visit } from './entities.mjs'
import { CreateTables1700000000000 } from './migration.mjs'
import { untilAnswered } from '../retry.mjs'
import { shortComb } from '../short_comb.mjs'
import { beyondDouble, hoursFromNow, knownAnswers, onlyOrders, tasks } from '../tasks.mjs'

const task = tasks('typeorm')
const { PGHOST, PGPORT, PGUSER, PGDATABASE } = process.env
const source = new DataSource({
  type: 'postgres',
  host: PGHOST,
  port: Number(PGPORT),
  username: PGUSER,
  database: PGDATABASE,
  entities: [Account, Click, Draft, Event, Order, Visit],
  migrations: [CreateTables1700000000000],
  // The program has a schema of its own, so that it meets no other program's tables.
  schema: 'typeorm',
  extra: { options: '-c search_path=typeorm,public' },
})
await untilAnswered(() => source.initialize())

// What "typeorm migration:generate" would write.
const differences = async () => (await source.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query)

await task('empty diff', async () => {
  await source.query('DROP SCHEMA IF EXISTS typeorm CASCADE')
  await source.query('CREATE SCHEMA typeorm')
  assert.equal((await differences()).length, 6)
  await source.runMigrations()
  assert.deepEqual(await differences(), [])
})

await task('generator', knownAnswers)

const orders = source.getRepository(Order)

await task('default key', async () => {
  const { id } = await orders.save({ note: 'made by the database' })
  assert.equal((await orders.findOneBy({ id })).note, 'made by the database')
})

await task('client key', async () => {
  const drafts = source.getRepository(Draft)
  await drafts.insert({ id: shortComb(), note: 'made by the client' })

  const old = shortComb(hoursFromNow(-24))
  await assert.rejects(drafts.insert({ id: old, note: 'too old' }), ({ driverError }) =>
    driverError.code === '23514' && driverError.constraint === 'drafts_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry.
const createOrder = (command, note) => source.transaction(async (manager) => {
  const [{ entity_id: id, created }] = await manager.query(
    `SELECT entity_id, created
     FROM idgen.create_once($1, idgen.keyed_comb(area => 'orders'), 'create order', $2)`,
    [command, { note }])
  if (created) await manager.insert(Order, { id, note })
  return { id, created }
})
await onlyOrders(createOrder)

await task('create once', async () => {
  const command = randomUUID()
  const first = await createOrder(command, 'a book')
  const retry = await createOrder(command, 'a book')
  assert(first.created && !retry.created)
  assert.equal(retry.id, first.id)
  assert.equal((await orders.findOneBy({ id: first.id })).note, 'a book')

  await assert.rejects(createOrder(command, 'another book'), ({ driverError }) =>
    driverError.code === '23514' && driverError.constraint === 'creation_identifiers_same_command')
})

await task('bigint keys', async () => {
  const visits = source.getRepository(Visit)
  const { id } = await visits.save({ note: 'a visit' })
  assert(typeof id === 'string' && BigInt(id) > 2n ** 53n) // Number() would round it
  assert.equal((await visits.findOneBy({ id })).note, 'a visit')

  await visits.insert({ id: beyondDouble, note: '2^53 + 1' })
  const exact = await visits.findOneBy({ note: '2^53 + 1' })
  assert.equal(BigInt(exact.id), beyondDouble)

  const click = await source.getRepository(Click).save({})
  assert(Number.isSafeInteger(Number(click.id)))
})

await task('prefixed id', async () => {
  const accounts = source.getRepository(Account)
  const { id } = await accounts.save({ note: 'an account' })
  assert.match(id, /^acct_[0-9a-z]{25}$/)
  assert.equal((await accounts.findOneBy({ id })).note, 'an account')

  await assert.rejects(accounts.insert({ id: id.replace('acct_', 'order_') }), ({ driverError }) =>
    driverError.code === '23514' && driverError.constraint === 'prefixed_id_check')
})

await task('range of time', async () => {
  const events = source.getRepository(Event)
  const event = await events.save({})
  const ids = async (start, stop) => {
    const query = events.createQueryBuilder('event')
      .where('idgen.uuid_v7_within(event.id, :start, :stop)', { start, stop })
    return (await query.getMany()).map((row) => row.id)
  }
  assert((await ids(hoursFromNow(-1), hoursFromNow(1))).includes(event.id))
  assert(!(await ids(hoursFromNow(1), hoursFromNow(2))).includes(event.id))
})

await source.destroy()

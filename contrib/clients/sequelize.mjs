// Sequelize. A model leaves the key to the database with a literal as its default.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { DataTypes, QueryTypes, Sequelize } from 'sequelize'
import { shortComb } from './short_comb.mjs'
import { beyondDouble, hoursFromNow, knownAnswers, onlyOrders, tasks } from './tasks.mjs'

const task = tasks('sequelize')
const { PGHOST, PGPORT, PGUSER, PGDATABASE } = process.env
const db = new Sequelize(PGDATABASE, PGUSER, '', { dialect: 'postgres', host: PGHOST, port: PGPORT, logging: false })

const key = (type, generator) => ({ type, primaryKey: true, defaultValue: Sequelize.literal(generator) })
const model = (table, id) =>
  db.define(table, { id, note: DataTypes.TEXT }, { freezeTableName: true, timestamps: false })

const Order = model('orders', key(DataTypes.UUID, "idgen.keyed_comb(area => 'orders')"))
const Draft = model('drafts', key(DataTypes.UUID, 'idgen.short_comb()'))
const Event = model('events', key(DataTypes.UUID, 'idgen.uuid_v7()'))
const Visit = model('visits', key(DataTypes.BIGINT, 'idgen.snowflake()'))
const Click = model('clicks', key(DataTypes.BIGINT, 'idgen.js_id()'))
const Account = model('accounts', key(DataTypes.TEXT, "idgen.prefixed_id('acct')"))

await task('generator', knownAnswers)

await task('default key', async () => {
  const { id } = await Order.create({ note: 'made by the database' })
  assert.equal((await Order.findByPk(id)).note, 'made by the database')

  const orders = await Order.bulkCreate([{ note: 'one' }, { note: 'two' }])
  assert.equal((await Order.findByPk(orders[1].id)).note, 'two')
})

await task('client key', async () => {
  await Draft.create({ id: shortComb(), note: 'made by the client' })

  const old = shortComb(hoursFromNow(-24))
  await assert.rejects(Draft.create({ id: old, note: 'too old' }), (error) =>
    error.original.code === '23514' && error.original.constraint === 'drafts_id_is_recent')
})

// The client makes the command id once, and sends the same one in every retry. The
// SELECT writes: outside a transaction, it would need useMaster: true.
const createOrder = (command, note) => db.transaction(async (transaction) => {
  const [{ entity_id: id, created }] = await db.query(
    `SELECT entity_id, created
     FROM idgen.create_once($1, idgen.keyed_comb(area => 'orders'), 'create order', $2)`,
    { bind: [command, { note }], type: QueryTypes.SELECT, transaction })
  if (created) await Order.create({ id, note }, { transaction })
  return { id, created }
})
await onlyOrders(createOrder)

await task('create once', async () => {
  const command = randomUUID()
  const first = await createOrder(command, 'a book')
  const retry = await createOrder(command, 'a book')
  assert(first.created && !retry.created)
  assert.equal(retry.id, first.id)
  assert.equal((await Order.findByPk(first.id)).note, 'a book')

  await assert.rejects(createOrder(command, 'another book'), (error) =>
    error.original.code === '23514' && error.original.constraint === 'creation_identifiers_same_command')
})

await task('bigint keys', async () => {
  const { id } = await Visit.create({ note: 'a visit' })
  assert(typeof id === 'string' && BigInt(id) > 2n ** 53n) // Number() would round it
  assert.equal((await Visit.findByPk(id)).note, 'a visit')

  await Visit.destroy({ where: { id: beyondDouble } })
  const exact = await Visit.create({ id: beyondDouble })
  assert.equal(BigInt(exact.id), beyondDouble)

  const click = await Click.create()
  assert(Number.isSafeInteger(Number(click.id)))
})

await task('prefixed id', async () => {
  const { id } = await Account.create({ note: 'an account' })
  assert.match(id, /^acct_[0-9a-z]{25}$/)
  assert.equal((await Account.findByPk(id)).note, 'an account')

  await assert.rejects(Account.create({ id: id.replace('acct_', 'order_') }), (error) =>
    error.original.code === '23514' && error.original.constraint === 'prefixed_id_check')
})

await task('range of time', async () => {
  const event = await Event.create()
  const ids = async (start, stop) => {
    const where = Sequelize.fn('idgen.uuid_v7_within', Sequelize.col('id'), start, stop)
    return (await Event.findAll({ where })).map((row) => row.id)
  }
  assert((await ids(hoursFromNow(-1), hoursFromNow(1))).includes(event.id))
  assert(!(await ids(hoursFromNow(1), hoursFromNow(2))).includes(event.id))
})

await db.close()

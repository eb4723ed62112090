// Answers the commands of programs.txt by the template of this folder.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { pushSchema } from 'drizzle-kit/api'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { ids, serve } from '../t/lib/commands.mjs'
import { pool } from '../node-pg/database.mjs'
import { insertInvoice, newInvoice } from './invoices.mjs'
import { createOrder, insertOrders } from './orders.mjs'
import * as schema from './schema.mjs'

const db = drizzle(pool)
const generate = (...options) =>
  execFileSync('node_modules/.bin/drizzle-kit', ['generate', '--config=drizzle/drizzle.config.mjs', ...options])

await serve({
  async migrate() {
    generate('--name=tables')
    generate('--custom', '--name=checks')
    writeFileSync('drizzle/migrations/0001_checks.sql', readFileSync('drizzle/checks.sql'))
    await migrate(db, { migrationsFolder: 'drizzle/migrations' })
  },
  diff: async () => (await pushSchema(schema, db, ['public'])).statementsToExecute,
  insert: async (note) => ids(await insertOrders(db, [{ note }])),
  parent_and_child: (note) => db.transaction(async (tx) => {
    const [customer] = await tx.insert(schema.customers).values({ name: 'a customer' }).returning()
    return ids([customer, ...await insertOrders(tx, [{ customer_id: customer.id, note }])])
  }),
  bulk: async (note, number) => ids(await insertOrders(db, Array(Number(number)).fill({ note }))),
  async create_once(command, note) {
    const order = await createOrder(pool, command, note)
    return [order.id, order.note]
  },
  async graph(note) {
    const invoice = newInvoice(note, ['a line', 'another line'])
    await insertInvoice(db, invoice)
    return ids([invoice, ...invoice.lines])
  },
  bulk_with_keys: async (note, number) =>
    ids(await db.insert(schema.invoices).values(Array(Number(number)).fill({ note })).returning()),
  async insert_with_key(id, note) {
    await insertInvoice(db, { id, note, lines: [] })
    return [id]
  },
})

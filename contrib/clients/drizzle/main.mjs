// Answer the commands of programs.txt with the template in this folder.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { pushSchema } from 'drizzle-kit/api'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { allPages, ids, rowOf, serve } from '../t/lib/commands.mjs'
import { pool } from '../node-pg/database.mjs'
import { createOrder, insertInvoice, insertOrders, newCommand, ordersAfter } from './orders.mjs'
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
  order_with_invoice: (note) => db.transaction(async (tx) => {
    const [order] = await insertOrders(tx, [{ note }])
    return ids([order, ...await insertInvoice(tx, { order_id: order.id })])
  }),
  bulk: async (note, number) => ids(await insertOrders(db, Array(Number(number)).fill({ note }))),
  pages: (limit) => allPages((last) => ordersAfter(db, last, Number(limit))),
  new_command: () => [newCommand()],
  create_once: async (command, note) => rowOf(await createOrder(pool, command, note)),
  insert_invoice: async (id, order_id) => ids(await insertInvoice(db, { id, order_id })),
})

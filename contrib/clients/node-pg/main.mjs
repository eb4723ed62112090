// Answer the commands of programs.txt with the template in this folder.
import { allPages, ids, rowOf, serve } from '../t/lib/commands.mjs'
import { inTransaction, pool } from './database.mjs'
import { createInvoice, insertInvoice, newInvoice } from './invoices.mjs'
import { createOrder, insertOrder, insertOrders, newCommand, ordersAfter } from './orders.mjs'

await serve({
  order_with_invoice: (note) => inTransaction(async (db) => {
    const order = await insertOrder(db, { note })
    const invoice = newInvoice(order.id)
    await insertInvoice(db, invoice)
    return ids([order, invoice])
  }),
  bulk: async (note, number) => ids(await insertOrders(pool, Array(Number(number)).fill(note))),
  pages: (limit) => allPages((last) => ordersAfter(pool, last, limit)),
  new_command: () => [newCommand()],
  create_once: async (command, note) => rowOf(await createOrder(command, note)),
  unsafe: (command, note) => inTransaction(async (db) => {
    await insertOrder(db, { note })
    await db.query('SELECT 1 / 0').catch(() => {})
  }),
  insert_invoice: (id, order_id) => insertInvoice(pool, { id, order_id }),
  async children(command, order, ...items) {
    const { id, lines } = await createInvoice(command, order, items)
    return [id, ...lines.map(({ item }) => item)]
  },
})

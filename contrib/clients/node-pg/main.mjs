// Answers the commands of programs.txt by the template of this folder.
import { readFileSync } from 'node:fs'
import { ids, serve } from '../t/lib/commands.mjs'
import { inTransaction, pool } from './database.mjs'
import { insertInvoices, newInvoice } from './invoices.mjs'
import { createOrder, insertCustomer, insertOrder, insertOrders } from './orders.mjs'

await serve({
  async migrate() {
    await pool.query(readFileSync('migration.sql', 'utf8'))
  },
  insert: async (note) => ids([await insertOrder(pool, { note })]),
  parent_and_child: (note) => inTransaction(async (db) => {
    const customer = await insertCustomer(db, { name: 'a customer' })
    return ids([customer, await insertOrder(db, { customer_id: customer.id, note })])
  }),
  bulk: async (note, number) => ids(await insertOrders(pool, Array(Number(number)).fill(note))),
  async create_once(command, note) {
    const order = await createOrder(command, note)
    return [order.id, order.note]
  },
  async graph(note) {
    const invoice = newInvoice(note, ['a line', 'another line'])
    await inTransaction((db) => insertInvoices(db, [invoice]))
    return ids([invoice, ...invoice.lines])
  },
  async bulk_with_keys(note, number) {
    const invoices = Array.from({ length: number }, () => newInvoice(note))
    await inTransaction((db) => insertInvoices(db, invoices))
    return ids(invoices)
  },
  async insert_with_key(id, note) {
    await inTransaction((db) => insertInvoices(db, [{ ...newInvoice(note), id }]))
    return [id]
  },
})

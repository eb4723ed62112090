// Answers the commands of programs.txt by the template of this folder.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { ids, serve } from '../t/lib/commands.mjs'
import { insertInvoice, newInvoice } from './invoices.ts'
import { createOrder, db } from './orders.ts'

await serve({
  // as prisma migrate does, whose program npm does not install
  async migrate() {
    const client = new pg.Client()
    await client.connect()
    await client.query(readFileSync('migration.sql', 'utf8'))
    await client.end()
  },
  insert: async (note) => ids([await db.order.create({ data: { note } })]),
  async parent_and_child(note) {
    const customer = await db.customer.create({
      data: { name: 'a customer', orders: { create: [{ note }] } }, include: { orders: true },
    })
    return ids([customer, ...customer.orders])
  },
  bulk: async (note, number) =>
    ids(await db.order.createManyAndReturn({ data: Array(Number(number)).fill({ note }) })),
  async create_once(command, note) {
    const order = await createOrder(command, note)
    return [order.id, order.note]
  },
  async graph(note) {
    const invoice = await insertInvoice(newInvoice(note, ['a line', 'another line']))
    return ids([invoice, ...invoice.lines])
  },
  async bulk_with_keys(note, number) {
    const data = Array.from({ length: Number(number) }, () => ({ ...newInvoice(note), lines: undefined }))
    return ids(await db.invoice.createManyAndReturn({ data }))
  },
  insert_with_key: async (id, note) => ids([await insertInvoice({ ...newInvoice(note), id })]),
})

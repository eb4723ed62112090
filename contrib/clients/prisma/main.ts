// Answer the commands of programs.txt with the template in this folder.
import { allPages, ids, rowOf, serve } from '../t/lib/commands.mjs'
import { insertInvoice, newInvoice } from './invoices.ts'
import { createOrder, db, newCommand, ordersAfter } from './orders.ts'

await serve({
  async order_with_invoice(note) {
    const data = { note, invoices: { create: newInvoice() } }
    const order = await db.order.create({ data, include: { invoices: true } })
    return ids([order, ...order.invoices])
  },
  bulk: async (note, number) =>
    ids(await db.order.createManyAndReturn({ data: Array(Number(number)).fill({ note }) })),
  pages: (limit) => allPages((last) => ordersAfter(last, Number(limit))),
  new_command: () => [newCommand()],
  create_once: async (command, note) => rowOf(await createOrder(command, note)),
  insert_invoice: async (id, order_id) => ids([await insertInvoice({ id, order_id })]),
})

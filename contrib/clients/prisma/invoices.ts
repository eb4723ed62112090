import { hmacComb } from '../generators/combs.mjs'
import { db } from './orders.ts'

// under a key of the application's settings
const newKey = (area: string) => hmacComb(Buffer.from(process.env.ID_KEY!, 'hex'), area)

export const newInvoice = (note: string, lines: string[] = []) => ({
  id: newKey('invoices'),
  note,
  lines: { create: lines.map((note) => ({ id: newKey('invoice_lines'), note })) },
})

// The client that gets no answer repeats this with the same invoice: P2002 means that the first attempt succeeded.
export const insertInvoice = (invoice: ReturnType<typeof newInvoice>) =>
  db.invoice.create({ data: invoice, include: { lines: true } })

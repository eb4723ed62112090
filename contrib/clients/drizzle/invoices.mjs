import { invoice_lines, invoices, newKey } from './schema.mjs'

export const newInvoice = (note, lines) => {
  const id = newKey('invoices')
  return { id, note, lines: lines.map((note) => ({ id: newKey('invoice_lines'), invoice_id: id, note })) }
}

// The client that gets no answer repeats this with the same invoice.
export const insertInvoice = (db, { lines, ...invoice }) => db.transaction(async (tx) => {
  await tx.insert(invoices).values(invoice).onConflictDoNothing()
  if (lines.length) await tx.insert(invoice_lines).values(lines).onConflictDoNothing()
})

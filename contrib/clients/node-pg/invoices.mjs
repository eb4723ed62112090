// The application generates the key, under a key of its settings.
import { hmacComb } from '../generators/combs.mjs'

const key = Buffer.from(process.env.ID_KEY, 'hex')

export const newInvoice = (note, lines = []) => {
  const id = hmacComb(key, 'invoices')
  return { id, note, lines: lines.map((note) => ({ id: hmacComb(key, 'invoice_lines'), invoice_id: id, note })) }
}

// The client that gets no answer repeats this with the same object.
export async function insertInvoices(db, invoices) {
  const insert = (table, columns, rows) => db.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1)
     ON CONFLICT (id) DO NOTHING`, [JSON.stringify(rows)])
  await insert('invoices', 'id, note', invoices)
  await insert('invoice_lines', 'id, invoice_id, note', invoices.flatMap(({ lines }) => lines))
}

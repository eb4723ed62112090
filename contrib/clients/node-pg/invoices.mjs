// The application generates the key, with a secret key from its settings.
import { hmacComb } from '../generators/combs.mjs'
import { inTransaction } from './database.mjs'

const key = Buffer.from(process.env.ID_KEY, 'hex')

export const newInvoice = (order_id) => ({ id: hmacComb(key, 'invoices'), order_id })

// A client that received no answer calls this function again with the same object.
export async function insertInvoice(db, { id, order_id }) {
  await db.query('INSERT INTO invoices (id, order_id) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING', [id, order_id])
}

// A client generates the command id once. Each attempt proposes a new key, because the server rejects old keys. Only
// the attempt that records the command creates rows, with the id that create_once() returns.
export const createInvoice = (command, order_id, items) => inTransaction(async (db) => {
  const { rows: [{ entity_id: id, created }] } = await db.query(
    `SELECT entity_id, created
     FROM idgen.create_once(
         idgen.check_recent_uuid_v7($1, past_tolerance => '1 day', future_tolerance => '10 minutes'),
         $2, 'create invoice', $3)`,
    [command, newInvoice(order_id).id, { order_id, items }])
  if (created) {
    await insertInvoice(db, { id, order_id })
    for (const item of items) {
      await db.query('INSERT INTO lines (id, invoice_id, item) VALUES ($1, $2, $3)', [hmacComb(key, 'lines'), id, item])
    }
  }
  const { rows } = await db.query('SELECT * FROM lines WHERE invoice_id = $1 ORDER BY item', [id])
  return { id, order_id, lines: rows }
})

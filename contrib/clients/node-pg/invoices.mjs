// The application generates the key, under a key of its settings.
import { hmacComb } from '../generators/combs.mjs'

const key = Buffer.from(process.env.ID_KEY, 'hex')

export const newInvoice = (order_id) => ({ id: hmacComb(key, 'invoices'), order_id })

// The client that gets no answer repeats this with the same object.
export async function insertInvoice(db, { id, order_id }) {
  await db.query('INSERT INTO invoices (id, order_id) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING', [id, order_id])
}

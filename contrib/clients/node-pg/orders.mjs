// The server generates the key.
import { inTransaction } from './database.mjs'

export async function insertOrder(db, { note }) {
  return (await db.query('INSERT INTO orders (note) VALUES ($1) RETURNING *', [note])).rows[0]
}

export async function insertOrders(db, notes) {
  return (await db.query('INSERT INTO orders (note) SELECT unnest($1::text[]) RETURNING *', [notes])).rows
}

// Returns the newest orders, or the orders after the last one of the previous page.
export async function ordersAfter(db, { created_at, id } = { created_at: 'infinity', id: 'f'.repeat(32) }, limit = 20) {
  const { rows } = await db.query(
    `SELECT * FROM orders WHERE (created_at, id) < ($1, $2)
     ORDER BY created_at DESC, id DESC LIMIT $3`, [created_at, id, limit])
  return rows
}

// A client calls this function once for each command, and sends the same id in every retry.
export { v7 as newCommand } from 'uuid'

export const createOrder = (command, note) => inTransaction(async (db) => {
  const { rows: [{ entity_id: id, created }] } = await db.query(
    `SELECT entity_id, created
     FROM idgen.create_once(
         idgen.check_recent_uuid_v7($1, past_tolerance => '1 day', future_tolerance => '10 minutes'),
         idgen.keyed_comb('orders'), 'create order', $2)`, [command, { note }])
  if (created) await db.query('INSERT INTO orders (id, note) VALUES ($1, $2)', [id, note])
  return (await db.query('SELECT * FROM orders WHERE id = $1', [id])).rows[0]
})

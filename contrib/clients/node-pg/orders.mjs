// The server generates the key.
import { inTransaction } from './database.mjs'

export async function insertOrder(db, { note }) {
  return (await db.query('INSERT INTO orders (note) VALUES ($1) RETURNING *', [note])).rows[0]
}

export async function insertOrders(db, notes) {
  return (await db.query('INSERT INTO orders (note) SELECT unnest($1::text[]) RETURNING *', [notes])).rows
}

// The client generates the command id once, and sends the same one in every retry.
export const createOrder = (command, note) => inTransaction(async (db) => {
  const { rows: [{ entity_id: id, created }] } = await db.query(
    `SELECT entity_id, created
     FROM idgen.create_once($1, idgen.keyed_comb('orders'), 'create order', $2)`, [command, { note }])
  if (created) await db.query('INSERT INTO orders (id, note) VALUES ($1, $2)', [id, note])
  return (await db.query('SELECT * FROM orders WHERE id = $1', [id])).rows[0]
})

import { desc, eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { invoices, orders } from './schema.mjs'

export const insertOrders = (db, values) => db.insert(orders).values(values).returning()

// A client that received no answer calls this function again with the same key.
export const insertInvoice = (db, invoice) => db.insert(invoices).values(invoice).onConflictDoNothing().returning()

// Returns the newest orders, or the orders after the last one of the previous page.
export const ordersAfter = (db, last, limit = 20) => db.select().from(orders)
  .where(last && sql`(${orders.created_at}, ${orders.id}) < (${last.created_at.toISOString()}, ${last.id})`)
  .orderBy(desc(orders.created_at), desc(orders.id)).limit(limit)

// A client calls this function once for each command, and sends the same id in every retry.
export { v7 as newCommand } from 'uuid'

// This function takes a connection from the pool itself, because db.transaction() does not return a connection whose
// BEGIN fails (drizzle-team/drizzle-orm#6241).
export async function createOrder(pool, command, note) {
  const client = await pool.connect()
  try {
    const order = await drizzle(client).transaction(async (tx) => {
      const { rows: [{ entity_id: id, created }] } = await tx.execute(sql`
        SELECT entity_id, created
        FROM idgen.create_once(
            idgen.check_recent_uuid_v7(${command}, past_tolerance => '1 day', future_tolerance => '10 minutes'),
            idgen.keyed_comb('orders'), 'create order', ${{ note }})`)
      if (created) await tx.insert(orders).values({ id, note })
      return (await tx.select().from(orders).where(eq(orders.id, id)))[0]
    })
    client.release()
    return order
  } catch (error) {
    client.release(error) // closes the connection
    throw error
  }
}

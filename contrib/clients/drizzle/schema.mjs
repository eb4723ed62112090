// drizzle-kit generate creates the migration for these tables.
import { sql } from 'drizzle-orm'
import { index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { hmacComb } from '../generators/combs.mjs'

// The server generates the key. The default has the form in which the server prints it, with ::text.
export const orders = pgTable('orders', {
  id: uuid().primaryKey().default(sql`idgen.keyed_comb('orders'::text)`),
  created_at: timestamp({ withTimezone: true, precision: 3 }).notNull().defaultNow(), // the precision of a Date
  note: text().notNull(),
}, (orders) => [index().on(orders.created_at, orders.id)])

// The application generates the key, with a secret key from its settings.
export const invoices = pgTable('invoices', {
  id: uuid().primaryKey().$defaultFn(() => hmacComb(Buffer.from(process.env.ID_KEY, 'hex'), 'invoices')),
  order_id: uuid().notNull().references(() => orders.id),
}, (invoices) => [index().on(invoices.order_id)])

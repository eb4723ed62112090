// drizzle-kit generate makes the migration of these tables.
import { sql } from 'drizzle-orm'
import { index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { hmacComb } from '../generators/combs.mjs'

// The server generates the key. The default is written as the server prints it, with ::text.
export const orders = pgTable('orders', {
  id: uuid().primaryKey().default(sql`idgen.keyed_comb('orders'::text)`),
  created_at: timestamp({ withTimezone: true, precision: 3 }).notNull().defaultNow(), // a Date has milliseconds
  note: text().notNull(),
}, (orders) => [index().on(orders.created_at, orders.id)])

// The application generates the key, under a key of its settings.
export const invoices = pgTable('invoices', {
  id: uuid().primaryKey().$defaultFn(() => hmacComb(Buffer.from(process.env.ID_KEY, 'hex'), 'invoices')),
  order_id: uuid().notNull().references(() => orders.id),
}, (invoices) => [index().on(invoices.order_id)])

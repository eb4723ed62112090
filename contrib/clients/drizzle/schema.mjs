// drizzle-kit generate makes the migration of these tables.
import { sql } from 'drizzle-orm'
import { pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { hmacComb } from '../generators/combs.mjs'

// The server generates these keys. A default is written as the server prints it, with ::text.
export const customers = pgTable('customers', {
  id: uuid().primaryKey().default(sql`idgen.keyed_comb(area => 'customers'::text)`),
  name: text().notNull(),
})

export const orders = pgTable('orders', {
  id: uuid().primaryKey().default(sql`idgen.keyed_comb(area => 'orders'::text)`),
  customer_id: uuid().references(() => customers.id),
  note: text().notNull(),
})

// The application generates these keys, under a key of its settings.
export const newKey = (area) => hmacComb(Buffer.from(process.env.ID_KEY, 'hex'), area)

export const invoices = pgTable('invoices', {
  id: uuid().primaryKey().$defaultFn(() => newKey('invoices')),
  note: text().notNull(),
})

export const invoice_lines = pgTable('invoice_lines', {
  id: uuid().primaryKey().$defaultFn(() => newKey('invoice_lines')),
  invoice_id: uuid().notNull().references(() => invoices.id),
  note: text().notNull(),
})

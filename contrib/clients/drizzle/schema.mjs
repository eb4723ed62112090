// Tables whose keys the database makes. Write a default as the server prints it
// ('acct'::text), or drizzle-kit finds a difference every time.

import { sql } from 'drizzle-orm'
import { bigint, customType, pgSchema, text, uuid } from 'drizzle-orm/pg-core'

// The program has a schema of its own, so that it meets no other program's tables.
export const shop = pgSchema('drizzle')

export const orders = shop.table('orders', {
  id: uuid().primaryKey().default(sql`idgen.keyed_comb(area => 'orders'::text)`),
  note: text(),
})

export const drafts = shop.table('drafts', {
  id: uuid().primaryKey().default(sql`idgen.short_comb()`),
  note: text(),
})

export const events = shop.table('events', {
  id: uuid().primaryKey().default(sql`idgen.uuid_v7()`),
})

// mode: 'number' would round a snowflake, but not a js_id
export const visits = shop.table('visits', {
  id: bigint({ mode: 'bigint' }).primaryKey().default(sql`idgen.snowflake()`),
  note: text(),
})

export const clicks = shop.table('clicks', {
  id: bigint({ mode: 'number' }).primaryKey().default(sql`idgen.js_id()`),
})

// the domain that idgen.create_id_domain() made
const accountId = customType({ dataType: () => 'account_id' })

export const accounts = shop.table('accounts', {
  id: accountId().primaryKey().default(sql`idgen.prefixed_id('acct'::text)`),
  note: text(),
})

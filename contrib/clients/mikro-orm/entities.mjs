// Entities whose keys the database makes. The diff compares defaults with those that the
// server prints ('acct'::text), and a domain by its base type: a text of collation C.

import { EntitySchema } from '@mikro-orm/postgresql'

const entity = (name, tableName, type, columnType, defaultRaw, options) => new EntitySchema({
  name,
  tableName,
  properties: {
    id: { type, columnType, primary: true, defaultRaw, ...options },
    note: { type: 'text', nullable: true },
  },
})

export const Order = entity('Order', 'orders', 'uuid', 'uuid', "idgen.keyed_comb(area => 'orders'::text)")
export const Draft = entity('Draft', 'drafts', 'uuid', 'uuid', 'idgen.short_comb()')
export const Event = entity('Event', 'events', 'uuid', 'uuid', 'idgen.uuid_v7()')
export const Visit = entity('Visit', 'visits', 'bigint', 'bigint', 'idgen.snowflake()', { autoincrement: false })
export const Click = entity('Click', 'clicks', 'bigint', 'bigint', 'idgen.js_id()', { autoincrement: false })
export const Account = entity('Account', 'accounts', 'text', 'text', "idgen.prefixed_id('acct'::text)", { collation: 'C' })

// Entities whose keys the database makes: a plain primary column with a function as its
// default. A generated column ("uuid") would get a default of TypeORM's own on every
// synchronization.

import { EntitySchema } from 'typeorm'

const entity = (name, tableName, type, generator, options) => new EntitySchema({
  name,
  tableName,
  columns: {
    id: { type, primary: true, default: () => generator, ...options },
    note: { type: 'text', nullable: true },
  },
})

export const Order = entity('Order', 'orders', 'uuid', "idgen.keyed_comb(area => 'orders')")
export const Draft = entity('Draft', 'drafts', 'uuid', 'idgen.short_comb()')
export const Event = entity('Event', 'events', 'uuid', 'idgen.uuid_v7()')
export const Visit = entity('Visit', 'visits', 'bigint', 'idgen.snowflake()')
export const Click = entity('Click', 'clicks', 'bigint', 'idgen.js_id()')
// The migration makes it the domain account_id, which TypeORM reads as its base type, a
// text with collation C. Unlike other tools, TypeORM leaves casts out of defaults.
export const Account = entity('Account', 'accounts', 'text', "idgen.prefixed_id('acct')", { collation: 'C' })

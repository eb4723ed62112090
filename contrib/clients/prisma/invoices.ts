import { hmacComb } from '../generators/combs.mjs'
import { db } from './orders.ts'

// The application generates the key, with a secret key from its settings.
export const newInvoice = () => ({ id: hmacComb(Buffer.from(process.env.ID_KEY!, 'hex'), 'invoices') })

// A client that received no answer calls this function again with the same id. P2002 means that the first attempt
// succeeded.
export const insertInvoice = (invoice: { id: string; order_id: string }) => db.invoice.create({ data: invoice })

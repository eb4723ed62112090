import { hmacComb } from '../generators/combs.mjs'
import { db } from './orders.ts'

// under a key of the application's settings
export const newInvoice = () => ({ id: hmacComb(Buffer.from(process.env.ID_KEY!, 'hex'), 'invoices') })

// The client that gets no answer repeats this with the same id: P2002 means that the first attempt succeeded.
export const insertInvoice = (invoice: { id: string; order_id: string }) => db.invoice.create({ data: invoice })

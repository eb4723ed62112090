import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.ts'

// A query must not wait forever for an unreachable host.
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000, query_timeout: 30_000 }
const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL, ...keepAlive })
export const db = new PrismaClient({ adapter, transactionOptions: { maxWait: 30_000, timeout: 30_000 } })

// Returns the newest orders, or the orders after the last one of the previous page. Prisma cannot compare rows, so the
// first condition determines where the index scan begins.
export const ordersAfter = (last?: { created_at: Date; id: string }, take = 20) => db.order.findMany({
  where: last && {
    created_at: { lte: last.created_at },
    OR: [{ created_at: { lt: last.created_at } }, { id: { lt: last.id } }],
  },
  orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
  take,
})

// A client calls this function once for each command, and sends the same id in every retry.
export { v7 as newCommand } from 'uuid'

export const createOrder = (command: string, note: string) => db.$transaction(async (tx) => {
  const [{ entity_id: id, created }] = await tx.$queryRaw<{ entity_id: string; created: boolean }[]>`
    SELECT entity_id, created
    FROM idgen.create_once(
        idgen.check_recent_uuid_v7(${command}::uuid, past_tolerance => '1 day', future_tolerance => '10 minutes'),
        idgen.keyed_comb('orders'), 'create order', ${{ note }})`
  if (created) await tx.order.create({ data: { id, note } })
  return tx.order.findUniqueOrThrow({ where: { id } })
})

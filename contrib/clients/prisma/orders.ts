import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.ts'

export const db = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) })

// The client generates the command id once, and sends the same one in every retry.
export const createOrder = (command: string, note: string) => db.$transaction(async (tx) => {
  const [{ entity_id: id, created }] = await tx.$queryRaw<{ entity_id: string; created: boolean }[]>`
    SELECT entity_id, created
    FROM idgen.create_once(${command}::uuid, idgen.keyed_comb('orders'), 'create order', ${{ note }})`
  if (created) await tx.order.create({ data: { id, note } })
  return tx.order.findUniqueOrThrow({ where: { id } })
})

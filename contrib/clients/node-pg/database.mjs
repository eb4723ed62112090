import pg from 'pg'

// PGHOST, PGPORT, PGUSER, PGDATABASE. A lost host must not be waited for: keepalives find it while the connection is
// idle, and query_timeout during a query.
export const pool = new pg.Pool({ keepAlive: true, keepAliveInitialDelayMillis: 10_000, query_timeout: 30_000 })
// A lost connection is also an event, which ends the process if nothing listens to it.
pool.on('error', () => {})
pool.on('connect', (client) => client.on('error', () => {}))

export async function inTransaction(work) {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    client.release(error) // closes the connection, which rolls back
    throw error
  }
}

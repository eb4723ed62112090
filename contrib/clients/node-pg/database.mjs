import pg from 'pg'

// PGHOST, PGPORT, PGUSER and PGDATABASE select the database. If the host becomes unreachable, keepalives detect this
// while the connection is idle, and query_timeout during a query.
export const pool = new pg.Pool({ keepAlive: true, keepAliveInitialDelayMillis: 10_000, query_timeout: 30_000 })
// A lost connection also emits an event, which ends the process if there is no listener.
pool.on('error', () => {})
pool.on('connect', (client) => client.on('error', () => {}))

export async function inTransaction(work) {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    // If a statement failed and its error was caught, COMMIT rolls back without an error.
    const { command } = await client.query('COMMIT')
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
    client.release()
    return result
  } catch (error) {
    client.release(error) // closes the connection, which rolls back
    throw error
  }
}

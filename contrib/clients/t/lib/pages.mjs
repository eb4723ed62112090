// Read a list page by page with node-pg (see contrib/clients/t/006_lists.pl).
import pg from 'pg'

const client = new pg.Client()
const ids = []
let position = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
await client.connect()
for (;;) {
  const { rows } = await client.query(process.argv[2], position)
  if (rows.length === 0) break
  ids.push(...rows.map((row) => row.id))
  const last = JSON.parse(JSON.stringify(rows.at(-1)))    // as a browser returns it
  position = [last.created_at, last.id]
}
console.log(`${ids.length} rows, ${new Set(ids).size} ids`)
await client.end()

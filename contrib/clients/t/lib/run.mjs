// node-pg: run each statement of a file, see contrib/clients/t/002_parameters.pl
import { readFileSync } from 'node:fs'
import pg from 'pg'

const client = new pg.Client()
await client.connect()
await client.query('BEGIN')
for (const line of readFileSync(process.argv[2], 'utf8').trimEnd().split('\n')) {
  const [name, , args, sql] = line.split('\t')
  await client.query('SAVEPOINT before')
  await client.query(sql, args ? args.split('|') : undefined).then(() => console.log(`ok ${name}`), async (error) => {
    console.log(`${error.code} ${name}`)
    console.error(error.message)
    await client.query('ROLLBACK TO before')
  })
}
await client.end()

// node-pg: run each statement of a file, see t/tools/015_parameters.pl
import { readFileSync } from 'node:fs'
import pg from 'pg'

const client = new pg.Client()
await client.connect()
for (const line of readFileSync(process.argv[2], 'utf8').trimEnd().split('\n')) {
  const [name, , args, sql] = line.split('\t')
  await client.query('BEGIN')
  await client.query(sql, args.split('|')).then(() => console.log(`ok ${name}`), (error) => console.log(`${error.code} ${name}`))
  await client.query('ROLLBACK')
}
await client.end()

// Answer the commands of programs.txt for the JavaScript stacks. Each function returns the words of its answer.
import { createInterface } from 'node:readline'

// Some tools wrap the driver's error.
function fields(error) {
  const cause = error.meta?.driverAdapterError?.cause ?? error.cause ?? error
  const isAnswer = cause.severity || cause.originalCode
  const constraint = typeof cause.constraint === 'string' ? cause.constraint : ''
  return [isAnswer ? cause.originalCode ?? cause.code : '', constraint, `${error.message} ${cause.message}`]
}

export const ids = (rows) => rows.map(({ id }) => id)
export const rowOf = ({ id, note }) => [id, note]

// Returns the ids of all pages. next(last) returns the rows of the page after the row "last".
export async function allPages(next) {
  const all = []
  for (let page; page = await next(all.at(-1)), page.length > 0;) all.push(...page)
  return ids(all)
}

export async function serve(commands) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, ...words] = line.split('\t')
    try {
      console.log(['ok', ...await commands[command](...words) ?? []].join('\t'))
    } catch (error) {
      if (error instanceof TypeError) throw error
      console.log(['error', ...fields(error)].map((word) => word.replace(/\s+/g, ' ')).join('\t'))
    }
  }
  process.exit()
}

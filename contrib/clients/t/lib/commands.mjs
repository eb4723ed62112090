// Answers the commands of programs.txt for the stacks of JavaScript: each function returns the words of its answer.
import { createInterface } from 'node:readline'

// The error of the driver is wrapped by tools.
function fields(error) {
  const cause = error.meta?.driverAdapterError?.cause ?? error.cause ?? error
  return [cause.severity || cause.originalCode ? cause.originalCode ?? cause.code : '', cause.constraint ?? '',
    `${error.message} ${cause.message}`]
}

export async function serve(commands) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, ...words] = line.split('\t')
    try {
      console.log(['ok', ...await commands[command](...words) ?? []].join('\t'))
    } catch (error) {
      console.log(['error', ...fields(error)].map((word) => word.replace(/\s+/g, ' ')).join('\t'))
    }
  }
  process.exit()
}

// What the JavaScript programs share, apart from the generator: the verdict of a task.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { untilAnswered } from './retry.mjs'
import { shortComb } from './short_comb.mjs'

// An integer that a double cannot hold: 2^53 + 1.
export const beyondDouble = 9007199254740993n

const hour = 3600e3
export const hoursFromNow = (hours) => new Date(Date.now() + hours * hour)

const orders = process.argv[2] === 'orders'

// Returns a function that runs a task and prints its verdict.
export function tasks(program) {
  return async (name, run) => {
    if (orders) return
    try {
      await run()
      console.log(`ok ${program}: ${name}`)
    } catch (error) {
      console.log(`not ok ${program}: ${name}: ${String(error).replace(/\s+/g, ' ')}`)
      process.exitCode = 1
    }
  }
}

// With the argument "orders", the program only creates orders: one for each command id
// that it reads. It prints the order's id.
export async function onlyOrders(createOrder) {
  if (!orders) return
  for await (const command of createInterface({ input: process.stdin }))
    console.log((await untilAnswered(() => createOrder(command, command))).id)
  process.exit()
}

export function knownAnswers() {
  const lines = readFileSync(new URL('short_comb_vectors.csv', import.meta.url), 'utf8').match(/^\d.*$/gm)
  assert.equal(lines.length, 40)
  for (const line of lines) {
    const [period, bytes, time, random, id] = line.split(',')
    for (const ms of [Number(time), Number(time) + 0.5])
      assert.equal(shortComb(ms, Buffer.from(random, 'hex'), Number(period), Number(bytes)), id)
  }
  assert.throws(() => shortComb(NaN), RangeError)
  assert.equal(shortComb().length, 36)
}

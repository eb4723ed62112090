// A short COMB as idgen.short_comb() makes it: a UUID of version 4 that begins with the
// number of the period, by default the minute modulo 65536. In a browser, the random bytes
// are crypto.getRandomValues(new Uint8Array(16)).

import { randomBytes } from 'node:crypto'

export function shortComb(unixMs = Date.now(), random = randomBytes(16), periodMs = 60_000, prefixBytes = 2) {
  if (!(unixMs >= 0 && Number.isInteger(periodMs) && periodMs >= 1 && [1, 2, 3, 4, 5, 6].includes(prefixBytes)))
    throw new RangeError('an argument of shortComb() is out of range')
  const bytes = Uint8Array.from(random)
  let period = Math.floor(unixMs / periodMs)
  for (let i = prefixBytes - 1; i >= 0; i--, period = Math.floor(period / 256)) bytes[i] = period % 256
  bytes[6] = (bytes[6] & 0x0f) | 0x40 // version 4
  bytes[8] = (bytes[8] & 0x3f) | 0x80 // variant of RFC 9562
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

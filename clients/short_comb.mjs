// A short COMB: a UUID of version 4 that begins with the minute modulo 65536,
// as idgen.short_comb() makes it. In a browser, the random bytes are
// crypto.getRandomValues(new Uint8Array(16)).

import { randomBytes } from 'node:crypto'

export function shortComb(time = Date.now(), random = randomBytes(16)) {
  const bytes = Uint8Array.from(random)
  const minute = Math.floor(time / 60000)
  bytes[0] = (minute >> 8) & 0xff
  bytes[1] = minute & 0xff
  bytes[6] = (bytes[6] & 0x0f) | 0x40 // version 4
  bytes[8] = (bytes[8] & 0x3f) | 0x80 // variant of RFC 9562
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

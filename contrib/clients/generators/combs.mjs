// Generate version 4 COMBs as idgen does. By default, the random bytes come from Node.js. In a browser, pass
// crypto.getRandomValues(new Uint8Array(16)).

import { createHmac, randomBytes } from 'node:crypto'

function stamp(bytes) {
  if (bytes.length !== 16) throw new RangeError('a COMB must have 16 bytes')
  bytes[6] = (bytes[6] & 0x0f) | 0x40 // version 4
  bytes[8] = (bytes[8] & 0x3f) | 0x80 // variant of RFC 9562
  return Buffer.from(bytes).toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

// Returns the quotient, rounded down. NaN and Infinity must be rejected, because they would be valid text for the hash.
function periodNumber(ms, periodMs) {
  const number = Math.floor(ms / periodMs)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${ms} ms are not in a period of ${periodMs} ms`)
  return number
}

// Returns a COMB that begins with an HMAC of the hour and of its twelfth. The server's key file has the same 16-byte
// key.
export function hmacComb(key, area, unixMs = Date.now(), random = randomBytes(16), periodMs = 3_600_000) {
  if (key.length !== 16) throw new RangeError('the key of hmacComb() must have 16 bytes')
  if (typeof area !== 'string' || Buffer.byteLength(area) > 63) {
    throw new RangeError('an area must be a text of at most 63 bytes')
  }
  const hash = (level, ms) =>
    createHmac('sha256', key).update(`${level} ${periodMs} ${periodNumber(ms, periodMs)} ${area}`).digest()
  return stamp([...hash(1, unixMs).subarray(0, 3), hash(2, unixMs * 12)[0], ...random.subarray(4)])
}

// Returns a COMB that begins with the number of the period, by default the minute modulo 65536.
export function shortComb(unixMs = Date.now(), random = randomBytes(16), periodMs = 60_000, prefixBytes = 2) {
  const bytes = [...random]
  let period = periodNumber(unixMs, periodMs)
  for (let i = prefixBytes - 1; i >= 0; i--, period = Math.floor(period / 256)) bytes[i] = period % 256
  return stamp(bytes)
}

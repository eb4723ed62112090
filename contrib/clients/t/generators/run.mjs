// See t/003_generators.pl.
import { readFileSync } from 'node:fs'
import { hmacComb, shortComb } from '../../generators/combs.mjs'

const bytes = (hex) => Buffer.from(hex, 'hex')
for (const line of readFileSync(0, 'utf8').trimEnd().split('\n')) {
  const [name, key, text, period, prefix, ms, random] = line.split('\t')
  const area = text === '\\N' ? null : text
  if (name === 'short') console.log(shortComb(Number(ms), bytes(random), Number(period), Number(prefix)))
  else if (name === 'hmac') console.log(hmacComb(bytes(key), area, Number(ms), bytes(random), Number(period)))
  else console.log(shortComb(), hmacComb(bytes(key), area))
}

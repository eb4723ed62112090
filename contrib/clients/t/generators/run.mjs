// The generators of JavaScript, see t/003_generators.pl
import { readFileSync } from 'node:fs'
import { hmacComb } from '../../generators/hmac_comb.mjs'
import { shortComb } from '../../generators/short_comb.mjs'

const bytes = (hex) => Buffer.from(hex, 'hex')
const generators = {
  short: (period, prefix, ms, random) => shortComb(Number(ms), bytes(random), Number(period), Number(prefix)),
  hmac: (key, area, period, ms, random) => hmacComb(bytes(key), area, Number(ms), bytes(random), Number(period)),
  now: (key, area) => [shortComb(), hmacComb(bytes(key), area)].join(' '),
}
for (const line of readFileSync(0, 'utf8').trimEnd().split('\n')) {
  const [name, ...words] = line.split('\t')
  console.log(generators[name](...words))
}

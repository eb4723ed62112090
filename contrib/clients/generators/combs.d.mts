// The types of combs.mjs for TypeScript
export function hmacComb(key: Uint8Array, area: string, unixMs?: number, random?: Uint8Array, periodMs?: number): string
export function shortComb(unixMs?: number, random?: Uint8Array, periodMs?: number, prefixBytes?: number): string

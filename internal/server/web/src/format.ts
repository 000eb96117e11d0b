// Numbers as the visitor's locale has them, and as few digits as are known.

const locale = navigator.languages?.length ? [...navigator.languages] : undefined
const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 })

export const number = (x: number, digits?: number) =>
  digits === undefined ? plain.format(x) : new Intl.NumberFormat(locale, { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(x)

// significant has so many digits that count, and none of a number before the point are lost.
export function significant(x: number, digits = 3): string {
  if (x === 0 || !Number.isFinite(x)) return plain.format(x)
  const a = Math.abs(x)
  if (a >= 1e15 || a < 1e-6) return new Intl.NumberFormat(locale, { notation: 'scientific', maximumSignificantDigits: digits }).format(x)
  const whole = Math.floor(Math.log10(a)) + 1
  return new Intl.NumberFormat(locale, { maximumFractionDigits: Math.max(0, digits - whole), minimumFractionDigits: 0 }).format(x)
}

// rough is for errors: two digits that count, and the others are left out or are noughts.
export function rough(x: number): string {
  if (x !== 0 && Math.abs(x) < 1e-6) return significant(x, 2)
  return new Intl.NumberFormat(locale, { maximumSignificantDigits: 2, notation: Math.abs(x) >= 1e6 ? 'compact' : 'standard' }).format(x)
}

// compact is for axes.
const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 4 })
export const compact = (x: number) => (Math.abs(x) < 10000 ? significant(x, 4) : short.format(x))

// measured has just the digits of a value that its error leaves any meaning, and one more.
export function measured(value: number, error: number | null): string {
  if (error === null || !(error > 0)) return Number.isInteger(value) ? plain.format(value) : significant(value, 6)
  const digits = Math.max(0, Math.min(12, 1 - Math.floor(Math.log10(error))))
  return Number.isInteger(value) ? plain.format(value) : number(value, digits)
}

// said is a value with its error.
export const said = (value: number, error: number | null) => measured(value, error) + (error === null ? '' : ` ± ${measured(error, error)}`)

// epsilon: what is left of rounding is nothing, and nobody can pay with it.
export const epsilon = (x: number) => 'ε ' + significant(Math.abs(x) < 1e-9 ? 0 : x, 3)
export const percent = (x: number, digits = 0) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: digits }).format(x)
export const time = (iso: string) => new Date(iso).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })
export const day = (iso: string) => new Date(iso).toLocaleDateString(locale, { dateStyle: 'medium', timeZone: 'UTC' })
export const plural = (n: number, one: string, many = one + 's') => `${plain.format(n)} ${n === 1 ? one : many}`

// priceOf is a cost as whoever asks sees it. A budget with a delta is paid in rho: at a price of epsilon
// it takes epsilon tanh(epsilon/2), which is turned round here.
export function priceOf(cost: { epsilon: number | null; rho: number | null }): number {
  if (cost.epsilon) return cost.epsilon
  if (!cost.rho) return 0
  let low = 0, high = 1
  while (high * Math.tanh(high / 2) < cost.rho) high *= 2
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (middle * Math.tanh(middle / 2) < cost.rho) low = middle
    else high = middle
  }
  return high
}

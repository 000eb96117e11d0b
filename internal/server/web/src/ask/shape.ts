// What an answer looks like: which columns are keys, which are noisy, and which chart fits.
import type { Answer, Dataset, Value } from '../api'
import type { Range } from '../chart/axis'

export interface Shape {
  keys: number[]
  noisy: number[]
  dates: boolean // the one key is a date or a time
  kind: 'nothing' | 'numbers' | 'groups' | 'line' | 'table' // line: along dates or numbers
}

const iso = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/
export const isDate = (v: Value) => typeof v === 'string' && iso.test(v)
export const dateOf = (v: Value) => new Date(String(v).replace(' ', 'T') + (String(v).length > 10 ? 'Z' : 'T00:00Z'))

// even: numbers that a chart can have an axis of, such as ages, and not codes, such as those of the post:
// more than there are rows for, and most of those in their steps.
const few = 12
export function even(values: Value[]): boolean {
  const all = values.filter(v => typeof v === 'number').sort((a, b) => a - b)
  if (all.length <= few || all.length < values.filter(v => v !== null).length) return false
  const step = Math.min(...all.slice(1).map((v, i) => v - all[i]))
  return step > 0 && (all[all.length - 1] - all[0]) / step < 2 * all.length
}

export function shapeOf(a: Answer): Shape {
  const all = a.columns.map((_, i) => i)
  const noisy = all.filter(i => a.errors?.some(row => row[i] !== null) && a.rows.some(row => typeof row[i] === 'number'))
  const keys = all.filter(i => !noisy.includes(i) && !a.rows.some(row => typeof row[i] === 'number' && !Number.isInteger(row[i])))
  const dates = keys.length === 1 && a.rows.length > 1 && a.rows.every(row => row[keys[0]] === null || isDate(row[keys[0]]))
  const along = dates || (keys.length === 1 && even(a.rows.map(row => row[keys[0]])))
  const kind = a.rows.length === 0 ? 'nothing' : noisy.length === 0 ? 'table' : keys.length === 0 ? (a.rows.length === 1 ? 'numbers' : 'table') : along ? 'line' : 'groups'
  return { keys, noisy, dates, kind }
}

export const label = (v: Value) => (v === null ? '(none)' : v === true ? 'yes' : v === false ? 'no' : String(v))

// swamped: the interval of the noise holds 0, so nobody can say whether there is anything at all.
export const swamped = (value: Value, error: number | null) => typeof value === 'number' && error !== null && Math.abs(value) <= error

const bare = (name: string) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name.toLowerCase())

// rangesOf are the bounds that the averages of an answer cannot be beyond: those of their columns, which
// the policy says.
export function rangesOf(columns: string[], sql: string, dataset: Dataset): (Range | null)[] {
  const name = '(?:"(?:[^"]|"")*"|[\\p{L}_][\\p{L}\\p{N}_]*)'
  const averages = new Map([...sql.matchAll(new RegExp(`\\bavg\\s*\\(\\s*(?:${name}\\.)?(${name})\\s*\\)(?:\\s+as\\s+(${name}))?(?=\\s*,|\\s+from\\b)`, 'giu'))]
    .map(m => [bare(m[2] ?? 'avg'), bare(m[1])]))
  return columns.map(c => {
    const of = averages.get(c)
    const found = of === undefined ? [] : dataset.tables.flatMap(t => t.columns.filter(k => k.name === of))
    const range = found.length === 1 && found[0].bounds ? { low: Number(found[0].bounds.lowest), high: Number(found[0].bounds.highest) } : null
    return range && range.low <= range.high ? range : null // bounds of dates are no numbers
  })
}

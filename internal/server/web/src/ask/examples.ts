// Three first questions, made from the schema alone.
import type { ColumnInfo, Dataset, TableInfo } from '../api'

const quoted = (name: string) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`)

// amounts are numbers that make sense to add up or to average: those that are counted along, such as a
// month or a number of an account, are not among them. The best first: fractions, and wide bounds.
const counted = /(^|_)(id|no|nr|num|number|code|zip|year|month|week|day|dow|hour|minute|quarter|date|rank)$/i
const width = (c: ColumnInfo) => Number(c.bounds!.highest) - Number(c.bounds!.lowest)
const amounts = (t: TableInfo) => t.columns.filter(c => c.bounds && c.keys === 'none' && (c.type === 'integer' || c.type === 'decimal') && !counted.test(c.name))
  .sort((a, b) => Number(b.type === 'decimal') - Number(a.type === 'decimal') || width(b) - width(a))

export function examples(d: Dataset): { title: string; sql: string }[] {
  const out: { title: string; sql: string }[] = []
  const tables = d.tables.filter(t => !t.public)
  const main = tables.find(t => t.person !== 'many') ?? tables[0]
  if (!main) return out
  const keys = main.columns.filter(c => c.keys === 'public').sort((a, b) => (b.values?.length ?? 0) - (a.values?.length ?? 0))
  const numbers = amounts(main)
  const t = quoted(main.name)
  if (keys[0]) out.push({ title: `How many ${main.name} are there by ${keys[0].name}?`, sql: `SELECT ${quoted(keys[0].name)}, COUNT(*) AS n FROM ${t} GROUP BY ${quoted(keys[0].name)}` })
  else out.push({ title: `How many ${main.name} are there?`, sql: `SELECT COUNT(*) AS n FROM ${t}` })
  const by = keys[keys.length - 1]
  if (numbers[0] && by) out.push({ title: `What is the average ${numbers[0].name} by ${by.name}?`, sql: `SELECT ${quoted(by.name)}, AVG(${quoted(numbers[0].name)}) AS average FROM ${t} GROUP BY ${quoted(by.name)}` })
  const many = tables.find(x => x.person === 'many')
  const date = many?.columns.find(c => c.type === 'date' || c.type === 'timestamp')
  const cost = many && amounts(many).find(c => Number(c.bounds!.lowest) >= 0), ward = many?.columns.find(c => c.keys === 'public')
  if (many && cost && ward) out.push({ title: `What is the sum of ${cost.name} of ${many.name} by ${ward.name}?`, sql: `SELECT ${quoted(ward.name)}, SUM(${quoted(cost.name)}) AS total FROM ${quoted(many.name)} GROUP BY ${quoted(ward.name)}` })
  else if (many && date) out.push({ title: `How many ${many.name} are there?`, sql: `SELECT COUNT(*) AS n FROM ${quoted(many.name)}` })
  else if (numbers[0]) out.push({ title: `What is the median ${numbers[0].name}?`, sql: `SELECT MEDIAN(${quoted(numbers[0].name)}) AS median FROM ${t}` })
  return out
}

// What has to be said with an answer: beside it in the page, and in a chart that leaves the page.
import type { Answer, Question } from '../api'
import { thin } from '../chart/intervals'
import type { Words } from '../chart/take'
import { percent, plural, said } from '../format'
import { sentence } from '../ui/ui'
import { cite } from './copies'
import { label, shapeOf, swamped, type Shape } from './shape'

// Told is what an answer does not say itself: what was asked, perhaps under a title, and for which
// price, where that is known.
export interface Told { question: Question; title?: string; price: number }

// share says which part of the rows counts, where a profile of the table knows it.
function share({ counted }: Answer['limits']): string {
  if (!counted) return ''
  const { low, about, high, at_least, most } = counted
  const part = at_least ? `At least ${percent(low)}` : `About ${percent(about)} (${Math.round(100 * low)} to ${Math.round(100 * high)})`
  return `${part} of the rows count, if nobody has more than ${most}. `
}

// little says that limits leave out more than a tenth of the rows, or perhaps do.
export const little = ({ limits }: Answer) => !!limits.counted && (limits.counted.at_least ? limits.counted.low : limits.counted.about) < 0.9

export const outside = 'The noise intervals do not contain what this leaves out.'

// limitsOf says what a number leaves out: of people with more than counts, the rest. It is no part of
// the interval.
export function limitsOf(answer: Answer): string {
  const { limits } = answer, shape = shapeOf(answer)
  if (!limits.cut || shape.noisy.length === 0) return ''
  const groups = limits.max_groups > 1 || shape.keys.length > 0 ? ` in each of at most ${plural(limits.max_groups, 'group')}` : ''
  return `${share(limits)}Of each person at most ${plural(limits.max_rows, 'row')}${groups} ${limits.max_rows === 1 && groups === '' ? 'counts' : 'count'}.`
}

// notesOf are the notes that limitsOf does not say.
export const notesOf = (answer: Answer) => answer.notes.filter(n => !answer.limits.counted || !/ of the rows count | with what is cut, if nobody has more than /.test(n))

// asideOf is what has no place on an axis, such as a total: the rows without a key.
export function asideOf(answer: Answer, shape: Shape, column: number): string {
  const rows = answer.rows.flatMap((row, r) => (row[shape.keys[0]] === null && typeof row[column] === 'number' ? [said(row[column], answer.errors![r][column])] : []))
  return shape.kind === 'line' && rows.length > 0 ? `Not in the chart: ${label(null)}, ${rows.join(' and ')}.` : ''
}

// wordsOf is what goes with the chart of a column.
export function wordsOf(answer: Answer, shape: Shape, column: number, told: Told): Words {
  const name = answer.columns[column], limits = limitsOf(answer), aside = asideOf(answer, shape, column)
  const lost = answer.rows.some((row, r) => swamped(row[column], answer.errors![r][column]))
  const what = shape.kind === 'line' ? 'The band covers the noise, at each point' : 'Intervals cover the noise, each'
  return {
    file: `answer-${answer.receipt.sequence}-${name.replace(/[^\p{L}\p{N}_-]+/gu, '-').slice(0, 60)}`,
    title: told.title ? `${told.title}: ${name}` : `${name} by ${shape.keys.map(k => answer.columns[k]).join(', ')}`,
    question: told.question.sql,
    below: [
      ...(aside ? [aside] : []),
      `${what} with probability ${percent(answer.confidence, 3)}; chance in the data comes on top.${lost ? ' What is grey cannot be told from 0.' : ''}`,
      ...(limits ? [`${limits} ${outside}`] : []),
      ...(shape.kind === 'groups' && answer.whole?.some(row => row[column]) ? [thin] : []),
      ...notesOf(answer).map(n => sentence(n)),
      cite(told.question, answer, told.price),
    ],
  }
}

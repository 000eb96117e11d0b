import { useState } from 'preact/hooks'
import { percent, plural, said } from '../format'
import { useWidth } from '../ui/ui'
import { linear, within, XAxis, type Range } from './axis'
import { cut, widest, widthOf } from './letters'
import { Take, type Words } from './take'

// Interval is a value with its noise, and whole, where it is known, what it is between with what limits cut.
export interface Interval { label: string; value: number; error: number | null; whole?: { low: number; high: number } | null }
interface Props { title: string; points: Interval[]; confidence: number; range?: Range | null; words?: Words }

// thin says what is drawn beside the noise.
export const thin = 'Thin lines include what limits cut; one without an end goes on.'

const first = 60
const least = 140 // how wide the plot has to be for names and numbers to stand beside it

// Intervals draws groups as dots, each with the interval in which the noise leaves the exact value.
// There are no bars: a bar says that its end is known. Names stand to the left and numbers to the
// right; where there is no room, both stand above, and no line of the axis goes through them.
export function Intervals({ title, points, confidence, range, words }: Props) {
  const [ref, width] = useWidth<HTMLElement>()
  const [all, setAll] = useState(false)
  const shown = all ? points : points.slice(0, first)
  const texts = shown.map(p => said(p.value, p.error))
  const written = shown.length <= 200
  const names = written ? widest(shown.map(p => p.label)) + 12 : 14, numbers = written ? widest(texts) + 14 : 0
  const beside = width - names - numbers - 18 >= least
  const above = written && !beside && shown.length <= first
  const left = above ? 14 : Math.min(names, beside ? names : width * 0.4)
  const right = width - 18 - (beside || (!above && width - left - numbers - 18 >= least) ? numbers : 0)
  const row = !written ? 9 : above ? 40 : shown.length > 30 ? 16 : 26
  const top = 8
  const height = top + shown.length * row
  const from = (p: Interval) => within(p.value - (p.error ?? 0), range), to = (p: Interval) => within(p.value + (p.error ?? 0), range)
  const near = Math.min(0, ...shown.map(from)), far = Math.max(0, ...shown.map(to))
  // What limits cut may be far more than what is there, so that not all of it is drawn: a line without an end goes on.
  const wholes = shown.flatMap(p => p.whole ?? [])
  const low = Math.max(near - (far - near), Math.min(near, ...wholes.map(w => w.low)))
  const high = Math.min(far + (far - near), Math.max(far, ...wholes.map(w => w.high)))
  const x = linear(low, high, left, right)
  return <figure class={words ? 'chart taken' : 'chart'} ref={ref}>
    <figcaption>{title}</figcaption>
    {words && <Take words={shown.length < points.length ? { ...words, below: [`These are the first ${shown.length} of ${plural(points.length, 'group')}.`, ...words.below] } : words} />}
    <svg width={width} height={height + 26} role="img" aria-label={`${title}: ${points.length} groups as dots with ${percent(confidence, 3)} noise intervals. The table has the numbers.`}>
      <XAxis scale={x} y={height} top={top} count={Math.max(3, Math.floor((right - left) / 90))} dashes={above ? '0 20 20 0' : undefined} />
      {shown.map((p, i) => {
        const y = top + i * row + (above ? 29 : row / 2), line = above ? y - 16 : y
        const lost = p.error !== null && Math.abs(p.value) <= p.error
        return <g key={i} class={lost ? 'point lost' : 'point'}>
          <title>{`${p.label}: ${texts[i]}${lost ? ', not distinguishable from 0' : ''}`}</title>
          {written && <text x={above ? 0 : left - 8} y={line} dy="0.32em" text-anchor={above ? 'start' : 'end'}>{cut(p.label, above ? width - 16 - widthOf(texts[i]) : left - 12)}</text>}
          {(above || right < width - 18) && <text class="number" x={width - 2} y={line} dy="0.32em" text-anchor="end">{texts[i]}</text>}
          {p.whole && <path class="whole" d={`M${Math.max(left, x(p.whole.low))},${y}H${Math.min(right, x(p.whole.high))}` +
            [p.whole.low, p.whole.high].map(end => (x(end) >= left && x(end) <= right ? `M${x(end)},${y - 3}v6` : '')).join('')} />}
          {p.error !== null && <>
            <line class="whisker" x1={x(from(p))} x2={x(to(p))} y1={y} y2={y} />
            {written && <path class="whisker" d={`M${x(from(p))},${y - 4}v8M${x(to(p))},${y - 4}v8`} />}
          </>}
          <circle cx={x(p.value)} cy={y} r={written ? 4 : 2.5} />
        </g>
      })}
    </svg>
    {wholes.length > 0 && <p class="hint">{thin}</p>}
    {points.length > first && <button type="button" class="quiet" onClick={() => setAll(!all)}>{all ? `Show the first ${first}` : `Show all ${points.length}`}</button>}
  </figure>
}

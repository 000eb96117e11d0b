import { compact, percent, said } from '../format'
import { useWidth } from '../ui/ui'
import { exact, linear, TimeAxis, times, within, XAxis, YAxis, type Range } from './axis'
import { widest } from './letters'
import { Take, type Words } from './take'

export interface Moment { at: Date | number; value: number; error: number | null }
interface Props { title: string; along: string; points: Moment[]; confidence: number; range?: Range | null; words?: Words }

const key = (at: Date | number) => (typeof at === 'number' ? String(at) : at.toISOString().slice(0, 10))

// Band draws values along dates or numbers with the band in which the noise leaves the exact ones.
export function Band({ title, along, points, confidence, range, words }: Props) {
  const [ref, width] = useWidth<HTMLElement>()
  const all = [...points].sort((a, b) => +a.at - +b.at)
  const numbers = typeof all[0].at === 'number'
  const texts = all.map(p => said(p.value, p.error))
  const left = 64, right = width - 26
  const step = (right - left) / (all.length - 1)
  const room = 1.5 * widest(texts) + 10 <= step // at each of them, and at the ends beside it
  const height = numbers ? 300 : 280, top = room ? 30 : 16, bottom = height - (numbers ? 44 : 28)
  const from = (p: Moment) => within(p.value - (p.error ?? 0), range), to = (p: Moment) => within(p.value + (p.error ?? 0), range)
  const low = Math.min(0, ...all.map(from))
  const high = Math.max(0, ...all.map(to))
  const ends = [all[0].at, all[all.length - 1].at] as const
  const time = numbers ? null : times(new Date(+ends[0]), new Date(+ends[1]), left, right)
  const line = exact(+ends[0], +ends[1], left, right)
  const x = (p: Moment) => (time ?? line)(+p.at)
  const y = linear(low, high, bottom, top)
  const path = all.map((p, i) => `${i ? 'L' : 'M'}${x(p)},${y(p.value)}`).join('')
  const edge = all.map((p, i) => `${i ? 'L' : 'M'}${x(p)},${y(to(p))}`).join('') +
    [...all].reverse().map(p => `L${x(p)},${y(from(p))}`).join('') + 'Z'
  const lost = (p: Moment) => p.error !== null && Math.abs(p.value) <= p.error
  // Numbers stand where the band goes away from them: below where it dips.
  const dips = (i: number) => 2 * all[i].value < (all[i - 1] ?? all[i]).value + (all[i + 1] ?? all[i]).value
  return <figure class={words ? 'chart taken' : 'chart'} ref={ref}>
    <figcaption>{title}</figcaption>
    {words && <Take words={words} />}
    <svg width={width} height={height} role="img" aria-label={`${title}: ${all.length} ${numbers ? 'groups' : 'times'} with a ${percent(confidence, 3)} noise band. The table has the numbers.`}>
      <YAxis scale={y} x={left} right={right} />
      {time ? <TimeAxis scale={time} y={bottom} top={top} count={Math.max(2, Math.floor(width / 110))} />
        : <XAxis scale={line} y={bottom} top={top} label={along} count={Math.max(2, Math.floor((right - left) / 50))} format={t => (Math.abs(t) < 1e7 ? String(t) : compact(t))} />}
      <path class="band" d={edge} />
      <path class="line" d={path} />
      {step >= 5 && all.map((p, i) => <circle key={+p.at} class={lost(p) ? 'dot lost' : 'dot'} cx={x(p)} cy={y(p.value)} r="2.6">
        <title>{`${key(p.at)}: ${texts[i]}${lost(p) ? ', not distinguishable from 0' : ''}`}</title>
      </circle>)}
      {room && all.map((p, i) => <text key={+p.at} class="number" x={x(p)} y={dips(i) ? Math.min(y(from(p)) + 17, bottom - 4) : y(to(p)) - 7} text-anchor={i === 0 ? 'start' : i === all.length - 1 ? 'end' : 'middle'}>{texts[i]}</text>)}
    </svg>
  </figure>
}

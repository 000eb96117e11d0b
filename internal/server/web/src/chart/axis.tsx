// Scales and axes, drawn by hand in SVG: libraries that draw whole charts write style elements,
// which the content security policy forbids, and none has intervals as the ordinary case.
import { scaleLinear, scaleLog, scaleUtc, type ScaleLinear, type ScaleLogarithmic, type ScaleTime } from 'd3-scale'
import { compact } from '../format'

export type Scale = ScaleLinear<number, number> | ScaleLogarithmic<number, number>
export type Time = ScaleTime<number, number>

// linear spans values, with 0 among them where they are not far from it.
export function linear(low: number, high: number, from: number, to: number, ticks = 6): ScaleLinear<number, number> {
  if (!(high > low)) [low, high] = [low - 1, high + 1]
  return scaleLinear().domain([low, high]).range([from, to]).nice(ticks)
}

export interface Range { low: number; high: number }

// within cuts an end of an interval off at bounds that no value can be beyond.
export const within = (x: number, range?: Range | null) => (range ? Math.max(range.low, Math.min(range.high, x)) : x)

// exact spans values, and no more.
export const exact = (low: number, high: number, from: number, to: number) => scaleLinear().domain(high > low ? [low, high] : [low - 1, high + 1]).range([from, to])
export const log = (low: number, high: number, from: number, to: number) => scaleLog().domain([low, high]).range([from, to])
export const times = (low: Date, high: Date, from: number, to: number) => scaleUtc().domain([low, high]).range([from, to])

interface XProps { scale: Scale; y: number; top: number; label?: string; count?: number; format?: (x: number) => string; dashes?: string }

export function XAxis({ scale, y, top, label, count = 6, format = compact, dashes }: XProps) {
  const [a, b] = scale.range()
  const ticks = ticksOf(scale, count)
  return <g class="axis">
    {ticks.map(t => <g key={t} transform={`translate(${scale(t)},0)`}>
      <line class={t === 0 ? 'zero' : 'grid'} y1={top} y2={y} stroke-dasharray={dashes} />
      <text y={y + 16} text-anchor="middle">{format(t)}</text>
    </g>)}
    {label && <text class="label" x={(a + b) / 2} y={y + 34} text-anchor="middle">{label}</text>}
  </g>
}

interface YProps { scale: Scale; x: number; right: number; label?: string; count?: number; format?: (x: number) => string }

export function YAxis({ scale, x, right, label, count = 5, format = compact }: YProps) {
  const ticks = ticksOf(scale, count)
  const end = Math.min(...scale.range())
  return <g class="axis">
    {ticks.map(t => <g key={t} transform={`translate(0,${scale(t)})`}>
      <line class={t === 0 ? 'zero' : 'grid'} x1={x} x2={right} />
      <text x={x - 6} dy="0.32em" text-anchor="end">{format(t)}</text>
    </g>)}
    {label && <text class="label" x={Math.max(0, x - 40)} y={end - 10} text-anchor="start">{label}</text>}
  </g>
}

// A logarithmic scale has nine ticks in each power of ten, of which the powers are enough; one that
// spans less than a power has those of a linear scale.
function ticksOf(scale: Scale, count: number) {
  const [low, high] = scale.domain()
  if ('base' in scale && high / low < 20) return scaleLinear().domain([low, high]).ticks(count)
  const ticks = scale.ticks(count)
  return ticks.length <= count * 2 ? ticks : ticks.filter(t => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-9)
}

export function TimeAxis({ scale, y, top, count = 6 }: { scale: Time; y: number; top: number; count?: number }) {
  const format = scale.tickFormat(count)
  return <g class="axis">
    {scale.ticks(count).map(t => <g key={+t} transform={`translate(${scale(t)},0)`}>
      <line class="grid" y1={top} y2={y} />
      <text y={y + 16} text-anchor="middle">{format(t)}</text>
    </g>)}
  </g>
}

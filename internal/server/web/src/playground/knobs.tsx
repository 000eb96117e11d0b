// Sliders whose state is in the address.
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { go, usePlace, withQuery } from '../router'

// Range is what a slider goes through, rising, and where it stands at first.
export interface Range { usual: number; values: number[] }

const steps = [1, 1.5, 2, 3, 4, 5, 7]

// round are values from low to high that are easily read, about as far apart as each other.
export function round(usual: number, low: number, high: number, whole = false): Range {
  const values: number[] = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const s of steps) {
      const x = Number(`${s}e${power}`)
      if (x >= low && x <= high && (!whole || Number.isInteger(x))) values.push(x)
    }
  }
  return { usual, values }
}

// even are values that are just as far apart as each other.
export const even = (usual: number, low: number, high: number, step: number): Range =>
  ({ usual, values: Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => Number((low + i * step).toPrecision(6))) })

export type Knobs<K extends string> = Record<K, number>

// useKnobs holds the values of sliders, and writes them into the address a moment later: browsers
// refuse to do that with every move of a hand.
export function useKnobs<K extends string>(ranges: Record<K, Range>) {
  const place = usePlace()
  const read = () => {
    const out = {} as Knobs<K>
    for (const k in ranges) {
      const { usual, values } = ranges[k]
      const text = place.query.get(k), x = Number(text)
      const whole = values.every(Number.isInteger)
      out[k] = text && x >= values[0] && x <= values[values.length - 1] ? (whole ? Math.round(x) : x) : usual
    }
    return out
  }
  const [now, set] = useState(read)
  const timer = useRef<number | undefined>(undefined)
  const changed = useRef<Record<string, string | null>>({})
  useEffect(() => { if (timer.current === undefined) set(read()) }, [place])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (k: K, x: number) => {
    set(old => ({ ...old, [k]: x }))
    changed.current[k] = x === ranges[k].usual ? null : String(x)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      timer.current = undefined
      go(withQuery(changed.current), true)
      changed.current = {}
    }, 250)
  }
  const reset = () => {
    clearTimeout(timer.current)
    timer.current = undefined
    changed.current = {}
    const none: Record<string, null> = {}
    for (const k in ranges) none[k] = null
    go(withQuery(none), true)
  }
  return [now, change, reset] as const
}

interface Props { label: string; hint?: string; range: Range; value: number; text: string; onChange: (x: number) => void }

// Knob is one slider, with what it stands at in words.
export function Knob({ label, hint, range, value, text, onChange }: Props) {
  const id = useId()
  const { values } = range
  const at = values.reduce((best, v, i) => (Math.abs(v - value) < Math.abs(values[best] - value) ? i : best), 0)
  return <div class="knob">
    <label for={id}>{label}</label>
    <output for={id}>{text}</output>
    <input id={id} type="range" min="0" max={values.length - 1} step="1" value={at} aria-valuetext={text} aria-describedby={hint ? id + 'hint' : undefined}
      onInput={e => onChange(values[Number(e.currentTarget.value)])} />
    {hint && <p class="hint" id={id + 'hint'}>{hint}</p>}
  </div>
}

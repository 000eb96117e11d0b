// What the four rooms of the playground share.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { number, percent, significant } from '../format'
import { calm } from '../ui/ui'

export const oneIn = (p: number) => `1 in ${number(Math.round(Number((1 / p).toPrecision(3))))}`
export const times = (x: number) => significant(x, 3)

// share is a probability in percent, with so many digits that it is not shown as certain.
export function share(p: number) {
  if (p > 0.9999999) return 'nearly ' + percent(1)
  if (p > 0 && p < 1e-6) return 'below ' + percent(1e-6, 4)
  const far = Math.min(p, 1 - p)
  return percent(p, far >= 0.01 || far === 0 ? 1 : Math.min(6, Math.ceil(-Math.log10(far)) - 1))
}

interface StageProps { children: ComponentChildren; knobs: ComponentChildren; after: ComponentChildren; onReset: () => void }

// Stage has a picture at one side and the sliders at the other. On a phone the sliders are below the
// picture, and before what is said about it.
export function Stage({ children, knobs, after, onReset }: StageProps) {
  return <div class="stage">
    <section class="card scene">{children}</section>
    <section class="card knobs" aria-label="Sliders"><header><h2>Change it</h2><button type="button" class="quiet" onClick={onReset}>Usual values</button></header>{knobs}</section>
    <section class="card after" aria-label="What it shows">{after}</section>
  </div>
}

interface NumbersProps { title: string; head: string[]; rows: ComponentChildren[][]; open?: boolean }

// Numbers is a picture's table, behind a summary unless it is open. Its first column says what a row
// is about.
export function Numbers({ title, head, rows, open }: NumbersProps) {
  const table = <div class="rows" tabIndex={0} role="region" aria-label={title}><table>
    <thead><tr>{head.map((h, i) => <th key={i} scope="col" class={i ? 'number' : undefined}>{h}</th>)}</tr></thead>
    <tbody>{rows.map((row, r) => <tr key={r}>{row.map((c, i) => i ? <td key={i} class="number">{c}</td> : <th key={i} scope="row">{c}</th>)}</tr>)}</tbody>
  </table></div>
  return open ? table : <details class="numbers"><summary>{title}</summary>{table}</details>
}

export function Figure({ name, value, series, children }: { name: string; value: string; series?: number; children?: ComponentChildren }) {
  return <div class="figure"><span class="name">{series !== undefined && <span class={`swatch series-${series}`} aria-hidden="true" />}{name}</span><span class="value">{value}</span>{children && <span class="hint">{children}</span>}</div>
}

// usePlay shows something bit by bit: so many of all. It plays once by itself, unless motion is not
// wanted; afterwards everything is there until somebody plays it again.
export function usePlay(all: number, seconds = 5) {
  const [shown, set] = useState(() => (calm() ? Infinity : 0)) // endless is all, however many there will be
  const [playing, setPlaying] = useState(() => !calm())
  const from = useRef(0)
  useEffect(() => {
    if (!playing) return
    let start: number | undefined
    let frame = requestAnimationFrame(function step(now) {
      start ??= now - (from.current / all) * seconds * 1000
      const n = Math.min(all, Math.floor(((now - start) / seconds / 1000) * all) + 1)
      set(n < all ? n : Infinity)
      if (n < all) frame = requestAnimationFrame(step)
      else setPlaying(false)
    })
    return () => cancelAnimationFrame(frame)
  }, [playing, all])
  return {
    shown: Math.min(shown, all), playing,
    toggle: () => { from.current = playing || shown >= all ? 0 : shown; setPlaying(!playing) },
    again: () => { from.current = 0; set(calm() ? Infinity : 0); setPlaying(!calm()) },
    show: (n: number) => { setPlaying(false); set(n < all ? n : Infinity) },
  }
}

export function Play({ play, all }: { play: ReturnType<typeof usePlay>; all: number }) {
  return <button type="button" onClick={play.toggle}>{play.playing ? 'Pause' : play.shown < all ? 'Go on' : 'Play again'}</button>
}

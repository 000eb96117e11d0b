// Small parts that all views share.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Trouble } from '../api'

// useLoaded fetches something, again when what it depends on changes, and drops what comes too late.
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, depends: unknown[]) {
  const [state, set] = useState<{ value?: T; trouble?: Trouble; loading: boolean }>({ loading: true })
  const [again, count] = useState(0)
  useEffect(() => {
    const control = new AbortController()
    set(s => ({ ...s, loading: true }))
    load(control.signal).then(
      value => control.signal.aborted || set({ value, loading: false }),
      e => control.signal.aborted || set({ trouble: asTrouble(e), loading: false }),
    )
    return () => control.abort()
  }, [...depends, again])
  return { ...state, reload: () => count(n => n + 1) }
}

export const asTrouble = (e: unknown) =>
  e instanceof Trouble ? e : new Trouble(0, 'page', 'something went wrong on this page: ' + (e instanceof Error ? e.message : String(e)))

export function Busy({ what = 'Loading' }: { what?: string }) {
  return <p class="busy" role="status"><span class="spinner" aria-hidden="true" />{what}…</p>
}

// explained are the paragraphs of the docs, at /docs of this server, that are about a kind of trouble.
const explained: Record<string, string> = {
  budget: '/docs/budget', closed: '/docs/enforcement#failures', refused: '/docs/sql', price: '/docs/sql-private#price', window: '/docs/budget#windows',
}

export function Warn({ trouble, children }: { trouble: Trouble; children?: ComponentChildren }) {
  return <div class="notice bad" role="alert">
    <p><strong>{sentence(trouble.message)}</strong></p>
    {trouble.instead && <p>{sentence(trouble.instead)}</p>}
    {trouble.spent === true && <p>What was charged stays charged; sending the same question again may be free.</p>}
    {trouble.status > 0 && <p><a href={explained[trouble.kind] ?? '/docs/errors#http'} target="_blank">More about this</a></p>}
    {children}
  </div>
}

// sentence begins with a capital letter, unless it begins with a name of the language or one of the data.
export const sentence = (s: string, name = '') => (s ? (!(name && s.startsWith(name + ' ')) && /^[a-z][a-z'’-]*[,;:.!?]?(?:\s|$)/.test(s) ? s[0].toUpperCase() + s.slice(1) : s) + (/[.!?:]$/.test(s) ? '' : '.') : s)

// Empty says why there is nothing; whole where it is all that a view shows.
export function Empty({ title, whole, children }: { title: string; whole?: boolean; children?: ComponentChildren }) {
  const Heading = whole ? 'h1' : 'h2'
  return <div class="empty"><Heading>{title}</Heading>{children}</div>
}

// Copy writes something to the clipboard, and says so to everybody.
export function Copy({ text, children = 'Copy' }: { text: string; children?: ComponentChildren }) {
  const [done, set] = useState(false)
  return <button type="button" class="quiet" onClick={async () => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      const area = document.createElement('textarea')
      area.value = text
      document.body.append(area)
      area.select()
      document.execCommand('copy')
      area.remove()
    }
    set(true)
    setTimeout(() => set(false), 1500)
  }}>{done ? 'Copied' : children}<span role="status" class="unseen">{done ? 'Copied' : ''}</span></button>
}

export function save(name: string, type: string, data: BlobPart) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([data], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

// Dialog is a window of its own in the page, which Escape closes.
export function Dialog({ title, open, onClose, children }: { title: string; open: boolean; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const d = ref.current
    if (open && d && !d.open) d.showModal()
    if (!open && d?.open) d.close()
  }, [open])
  return <dialog ref={ref} aria-label={title} onClose={onClose}>
    {open && <><header><h2>{title}</h2><button type="button" class="quiet" onClick={onClose} aria-label="Close">✕</button></header>{children}</>}
  </dialog>
}

// Tabs are a row of choices, one of which is shown. Arrow keys go from one to the next.
export function Tabs<K extends string>({ name, tabs, now, onChoose }: { name: string; tabs: [K, string][]; now: K; onChoose: (k: K) => void }) {
  return <div class="tabs" role="tablist" aria-label={name} onKeyDown={e => {
    const step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0
    if (!step) return
    const at = (tabs.findIndex(t => t[0] === now) + step + tabs.length) % tabs.length
    onChoose(tabs[at][0])
    ;(e.currentTarget.children[at] as HTMLElement).focus()
  }}>
    {tabs.map(([k, label]) => <button type="button" role="tab" key={k} aria-selected={k === now} tabIndex={k === now ? 0 : -1} onClick={() => onChoose(k)}>{label}</button>)}
  </div>
}

// useWidth is how wide an element is, so that charts are drawn in pixels and letters stay as they are.
export function useWidth<E extends HTMLElement>(first = 640) {
  const ref = useRef<E>(null)
  const [width, set] = useState(first)
  useEffect(() => {
    if (!ref.current) return
    const watch = new ResizeObserver(([entry]) => set(Math.max(240, Math.floor(entry.contentRect.width))))
    watch.observe(ref.current)
    return () => watch.disconnect()
  }, [])
  return [ref, width] as const
}

export const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches

// Every state of the page is an address: a path, and what is asked for behind it.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export interface Place { path: string; query: URLSearchParams }

const here = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) })
const listeners = new Set<() => void>()
const tell = () => listeners.forEach(f => f())
addEventListener('popstate', tell)

export function go(to: string, replace = false, stay = replace) {
  if (to === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  tell()
  if (!stay) scrollTo(0, 0)
}

// withQuery is the address of this place with other words behind it.
export function withQuery(change: Record<string, string | null>): string {
  const q = new URLSearchParams(location.search)
  for (const [k, v] of Object.entries(change)) v === null || v === '' ? q.delete(k) : q.set(k, v)
  const text = q.toString()
  return location.pathname + (text ? '?' + text : '')
}

export function usePlace(): Place {
  const [place, set] = useState(here)
  useEffect(() => {
    const f = () => set(here())
    listeners.add(f)
    f()
    return () => void listeners.delete(f)
  }, [])
  return place
}

interface LinkProps { to: string; class?: string; children: ComponentChildren; current?: boolean; title?: string }

// Link goes somewhere without loading the page anew, unless a key says that it is to be another tab.
export function Link({ to, current, children, ...rest }: LinkProps) {
  return <a href={to} aria-current={current ? 'page' : undefined} {...rest} onClick={e => {
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return
    e.preventDefault()
    go(to)
  }}>{children}</a>
}

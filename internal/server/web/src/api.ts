// What the server says, and how it is asked. Nothing leaves this origin.
import { plural } from './format'

export interface Cost { epsilon: number; rho: number; delta: number }
export interface Left { epsilon: number | null; rho: number | null; delta: number | null; pure: number | null }

export interface Me { name: string; role: 'analyst' | 'owner'; datasets: string[] }

export interface Version { version: string; postgres_port?: number; commit?: string; go?: string; engines: { name: string; datasets: string[] }[] }

export interface Ways {
  password: boolean
  openid?: { name: string }
  demo: boolean
  me?: Me
}

export interface ColumnInfo {
  name: string
  type: string
  nullable: boolean
  bounds?: { lowest: string; highest: string }
  step?: string
  keys: 'none' | 'public' | 'private'
  values?: string[]
  groups?: number // how many values its type and bounds have, where it can be grouped by for that
  comment?: string
}
export interface TableInfo {
  name: string
  public: boolean
  person?: string
  column?: string
  path?: string[]
  max_rows?: number
  max_groups?: number
  columns: ColumnInfo[]
  comment?: string
}
export interface Dataset {
  name: string
  unit: string
  neighbours: string
  budget: {
    epsilon: number | null
    delta: number
    default_epsilon: number
    min_epsilon: number
    max_epsilon: number
  }
  tables: TableInfo[]
  views: { name: string; sql: string }[]
}

export interface Account {
  name: string
  kind: string
  part: number
  alert: number
  limit: Left
  spent: Cost
  left: Left
  side: string
  guarantee: { epsilon: number; delta: number }
  total: { epsilon: number; delta: number }
}
export interface Budget { dataset: string; accounts: Account[]; remaining: Left; questions?: number }

export interface BudgetRequest { id: string; dataset: string; analyst: string; created: string; epsilon: string | number; reason: string; state: 'open' | 'granted' | 'declined'; answer?: string }

export interface Measure { measure: string; mechanism: string; error: number | null; why: string; scale: number; cost: Cost }
export interface Explanation {
  neighbours: string
  confidence: number
  questions: {
    tables: string[]
    keys: { key: string; private: boolean; values: number; rule: string }[]
    groups: number
    bounds: string
    measures: Measure[]
    averages?: { average: string; error_of_one: number; error_most: number; sums: string[] }[]
    cost: { epsilon: number | null; rho: number | null }
    known: boolean
  }[]
  no_error?: string
  notes?: string[]
  limits?: string
  split: string
  free: string[]
  cost: Cost
  pay: Cost
  known: boolean
  remaining: Left
  after: Left
  more?: number
  affordable: boolean
  closed?: boolean
  deadline?: number
}

export type Value = string | number | boolean | null
export interface Span { low: number; high: number }

export interface Answer {
  columns: string[]
  rows: Value[][]
  errors: (number | null)[][] | null
  cost: Cost
  remaining: Left
  more?: number
  receipt: { sequence: number; hash: string; free: boolean; now?: string }
  limits: { max_rows: number; max_groups: number; cut: boolean; counted?: { low: number; about: number; high: number; at_least: boolean; most: number } }
  whole?: (Span | null)[][] // what was asked lies there, cut or not; absent without a profile
  confidence: number
  notes: string[]
  data_version: { number: number; name?: string }
  alerts: unknown[]
  made_up?: boolean // it is about people who do not exist
}

export type Settings = Record<string, string | number>
export interface Question { dataset: string; sql: string; settings?: Settings }

// Trouble is what the server refuses, or what is in the way of asking it.
export class Trouble extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    detail: string,
    readonly instead?: string,
    readonly position?: number,
    readonly spent?: boolean,
    readonly more?: Record<string, unknown>,
  ) {
    super(detail)
  }
}

// forPeople puts what programs look for in words for people.
function forPeople(instead: unknown, retry: string | null): string | undefined {
  if (typeof instead !== 'string') return undefined
  const seconds = Number(retry)
  const time = seconds >= 120 ? plural(Math.ceil(seconds / 60), 'minute') : plural(Math.max(1, seconds || 1), 'second')
  return instead.replace('as long as Retry-After says', time).replace('a new Idempotency-Key', 'a new request').replace('the same Idempotency-Key', 'the same request')
}

let signedOut: () => void = () => {}

// onSignedOut is called where the server no longer knows who this is.
export function onSignedOut(f: () => void) { signedOut = f }

export async function call<T>(method: string, path: string, body?: unknown, options?: { signal?: AbortSignal; headers?: Record<string, string> }): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      signal: options?.signal,
      credentials: 'same-origin',
      headers: { Accept: 'application/json', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...options?.headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  } catch (e) {
    if (e instanceof DOMException && e.name === 'AbortError') throw e
    throw new Trouble(0, 'unreachable', 'the server cannot be reached', 'try again in a while')
  }
  const text = await response.text()
  let said: unknown = null
  try {
    said = text === '' ? null : JSON.parse(text)
  } catch {
    throw new Trouble(response.status, 'unreadable', 'the server sent something that is not an answer', 'try again in a while')
  }
  if (!response.ok) {
    const p = (said ?? {}) as Record<string, unknown>
    if (response.status === 401 && path !== '/v1/signin') signedOut()
    throw new Trouble(response.status, String(p.kind ?? 'unknown'), String(p.detail ?? 'the server refused'), forPeople(p.instead, response.headers.get('Retry-After')),
      p.position as number | undefined, p.spent as boolean | undefined, p)
  }
  return said as T
}

export const get = <T>(path: string, signal?: AbortSignal) => call<T>('GET', path, undefined, { signal })
export const post = <T>(path: string, body: unknown, options?: { signal?: AbortSignal; headers?: Record<string, string> }) =>
  call<T>('POST', path, body, options)

export const version = (signal?: AbortSignal) => get<Version>('/v1/version', signal)
export const dataset = (name: string, signal?: AbortSignal) => get<Dataset>(`/v1/datasets/${encodeURIComponent(name)}`, signal)
export const budget = (name: string, signal?: AbortSignal) => get<Budget>(`/v1/datasets/${encodeURIComponent(name)}/budget`, signal)
export const explain = (q: Question, signal?: AbortSignal) => post<Explanation>('/v1/explain', q, { signal })

// ask sends a question under a name, so that a broken connection can be tried again and is charged once.
export async function ask(q: Question, signal?: AbortSignal): Promise<Answer> {
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  for (let tries = 0; ; tries++) {
    try {
      return await post<Answer>('/v1/query', q, { signal, headers })
    } catch (e) {
      if (!(e instanceof Trouble) || e.kind !== 'unreachable' || tries === 2) throw e
      await new Promise(done => setTimeout(done, 1000))
    }
  }
}

// tryOut asks about people who do not exist, which is free and says nothing about anybody.
export const tryOut = (q: Question) => post<Answer>('/v1/query', { ...q, sandbox: true })

// askFree answers what was paid for on the same data, and else says what it would cost.
export async function askFree(q: Question, signal?: AbortSignal): Promise<Answer | { price: Explanation }> {
  try {
    return await post<Answer>('/v1/query', { ...q, free: true }, { signal })
  } catch (e) {
    if (e instanceof Trouble && e.kind === 'price' && e.more?.price) return { price: e.more.price as Explanation }
    throw e
  }
}

import type { Settings } from '../api'

export interface About { id: string; dataset: string; shared: boolean; maker: string; mine: boolean; created: string; changed: string; title: string }
export interface SavedQuestion { title: string; sql: string; settings?: Settings; chart?: { kind: string; columns?: string[] } }
export interface Kept extends About, SavedQuestion { title: string }
export interface Tile { saved?: string; question?: SavedQuestion; missing?: boolean; place?: { x: number; y: number; width: number; height: number } }
export interface Dashboard extends About { tiles: Tile[] }

// address is where a question is asked.
export function address(dataset: string, q: SavedQuestion): string {
  const words = new URLSearchParams({ dataset, q: q.sql })
  const error = q.settings?.['dp.error'], price = q.settings?.['dp.epsilon']
  if (error !== undefined) words.set('error', String(error))
  if (price !== undefined) words.set('epsilon', String(price))
  return '/ask?' + words
}

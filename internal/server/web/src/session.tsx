// Who is here, and what is known about the dataset that is looked at.
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Me, Ways } from './api'

export interface Session {
  me: Me
  ways: Ways
  dataset: string
  choose: (dataset: string) => void
  signOut: () => Promise<void>
}

export const Present = createContext<Session | null>(null)

// useSession is for views that nobody sees who has not signed in.
export function useSession(): Session {
  const s = useContext(Present)
  if (!s) throw new Error('nobody is signed in')
  return s
}

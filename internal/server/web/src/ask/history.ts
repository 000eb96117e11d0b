// Questions that were asked in this browser, newest first. Signing out forgets them.

export interface Asked { dataset: string; sql: string; epsilon: number; free: boolean; at: string }

const most = 100
const key = (who: string) => 'asked:' + who

export function asked(who: string): Asked[] {
  try {
    return JSON.parse(localStorage.getItem(key(who)) ?? '[]')
  } catch {
    return []
  }
}

export function remember(who: string, a: Asked) {
  const all = [a, ...asked(who).filter(b => b.sql !== a.sql || b.dataset !== a.dataset)].slice(0, most)
  try {
    localStorage.setItem(key(who), JSON.stringify(all))
  } catch { /* a browser that keeps nothing */ }
}

export const forget = (who: string) => localStorage.removeItem(key(who))

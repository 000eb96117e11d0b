import './style.css'
import { render, type ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { forget } from './ask/history'
import { Trouble, get, onSignedOut, post, type Me, type Ways } from './api'
import { go, Link, usePlace } from './router'
import { Present } from './session'
import { SignIn } from './signin'
import { Busy, Empty, Warn, asTrouble } from './ui/ui'

// What is behind each first word of a path. Each is loaded when it is first looked at.
const views: Record<string, { title: string; load: () => Promise<{ View: ComponentType }>; open?: boolean; owner?: boolean; asks?: boolean; hidden?: boolean; declared?: boolean }> = {
  ask: { title: 'Ask', load: () => import('./ask/view'), asks: true },
  saved: { title: 'Saved', load: () => import('./saved/view') },
  dashboards: { title: 'Dashboard', load: () => import('./saved/dashboard'), hidden: true },
  streams: { title: 'Streams', load: () => import('./sessions/streams'), declared: true },
  holdouts: { title: 'Holdouts', load: () => import('./sessions/holdouts'), declared: true },
  models: { title: 'Models', load: () => import('./sessions/models') },
  owner: { title: 'Owner', load: () => import('./owner/view'), owner: true },
  playground: { title: 'Playground', load: () => import('./playground/view'), open: true },
  account: { title: 'Account', load: () => import('./account/view'), hidden: true },
}

const loaded = new Map<string, ComponentType>()

// Room shows a view once it is there.
function Room({ name }: { name: string }) {
  const [, again] = useState(0)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const View = loaded.get(name)
  useEffect(() => {
    if (loaded.has(name)) return
    views[name].load().then(m => { loaded.set(name, m.View); again(n => n + 1) }, e => setTrouble(asTrouble(e)))
  }, [name])
  if (trouble) return <Warn trouble={trouble}><button type="button" onClick={() => location.reload()}>Reload the page</button></Warn>
  return View ? <View /> : <Busy />
}

const remembered = () => localStorage.getItem('dataset') ?? ''

// leave takes away what somebody else has left in this tab whose session ended by itself: their
// questions, and the address, which holds the last one.
function leave(name: string) {
  const before = sessionStorage.getItem('who')
  if (before === null || before === name) return
  forget(before)
  sessionStorage.clear()
  go('/', true)
}

// useDeclared are the views of what the policy declares for a dataset, if it declares any.
function useDeclared(dataset: string | null): string[] {
  const [found, set] = useState<string[]>([])
  useEffect(() => {
    set([])
    if (!dataset) return
    const control = new AbortController()
    for (const k of ['streams', 'holdouts']) {
      get<Record<string, unknown[]>>(`/v1/datasets/${encodeURIComponent(dataset)}/${k}`, control.signal)
        .then(said => { if (said[k]?.length && !control.signal.aborted) set(all => [...all, k]) }, () => {}) // views say what is wrong
    }
    return () => control.abort()
  }, [dataset])
  return found
}

function App() {
  const place = usePlace()
  const [ways, setWays] = useState<Ways | null>(null)
  const [me, setMe] = useState<Me | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [chosen, setChosen] = useState(remembered)
  const [ended, setEnded] = useState(false) // the server knows the session no longer
  const [seen, setSeen] = useState<string[] | null>(null)
  const first = place.path.split('/')[1]
  const enter = (m: Me) => {
    leave(m.name)
    sessionStorage.setItem('who', m.name)
    setMe(m)
  }
  useEffect(() => {
    onSignedOut(() => setMe(old => { if (old) setEnded(true); return null }))
    get<Ways>('/v1/signin').then(w => { setWays(w); if (w.me) enter(w.me) }, e => setTrouble(asTrouble(e)))
  }, [])
  useEffect(() => { // owners look at all datasets, also where they ask nothing
    setSeen(null)
    if (me?.role === 'owner') get<{ datasets: string[] }>('/v1/datasets').then(d => setSeen(d.datasets), e => setTrouble(asTrouble(e)))
  }, [me])
  const all = seen ?? me?.datasets ?? []
  const dataset = place.query.get('dataset') ?? (all.includes(chosen) ? chosen : all[0] ?? '')
  const declared = useDeclared(me && all.includes(dataset) ? dataset : null)
  const name = first === '' ? (me?.role === 'owner' && !me.datasets.length ? 'owner' : 'ask') : first
  const view = views[name]
  useEffect(() => { document.title = view ? `${view.title} · Discreet` : 'Discreet' }, [view])
  if (trouble) return <main id="main"><Warn trouble={trouble}><button type="button" onClick={() => location.reload()}>Try again</button></Warn></main>
  if (!ways) return <main id="main"><Busy /></main>
  if (me?.role === 'owner' && !seen) return <main id="main"><Busy /></main>
  if (!me && !view?.open) return <SignIn ways={ways} ended={ended} onMe={m => { setEnded(false); enter(m); if (first === 'signin') go('/', true) }} />

  const session = me && {
    me, ways, dataset,
    choose: (d: string) => { localStorage.setItem('dataset', d); setChosen(d) },
    signOut: async () => {
      forget(me.name)
      sessionStorage.clear()
      setMe(null) // views end, and ask for nothing more
      go('/', true)
      await post('/v1/signout', {}).catch(e => asTrouble(e).status === 401 || setTrouble(asTrouble(e)))
    },
  }
  return <Present.Provider value={session}>
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
      <Link to="/" class="brand"><img src="/icon.svg" alt="" width="26" height="26" />Discreet</Link>
      <nav aria-label="Views">
        {Object.entries(views).filter(([k, v]) => !v.hidden && (v.open || me) && (!v.owner || me?.role === 'owner') && (!v.asks || me?.datasets.length || me?.role !== 'owner') && (!v.declared || k === name || declared.includes(k)))
          .map(([k, v]) => <Link key={k} to={'/' + k} current={k === name}>{v.title}</Link>)}
        <a href="/docs" target="_blank">Docs</a>
      </nav>
      {session && all.length > 1 && <select aria-label="Dataset" value={dataset} onChange={e => { session.choose(e.currentTarget.value); go(name === 'owner' ? place.path : '/' + name) }}>
        {all.map(d => <option key={d}>{d}</option>)}
      </select>}
      {session ? <span class="who"><Link to="/account" title="Tokens and logins" current={name === 'account'}>{me!.name}</Link><button type="button" class="quiet" onClick={session.signOut}>Sign out</button></span>
        : <Link to="/signin" class="button">Sign in</Link>}
    </header>
    <main id="main" tabIndex={-1}>
      {!view || (view.owner && me?.role !== 'owner') ? <Empty whole title="There is nothing at this address"><p><Link to="/ask">Ask a question</Link></p></Empty> : <Room key={name} name={name} />}
    </main>
  </Present.Provider>
}

// A page that the browser brings back as it was left may be somebody's who has signed out since.
addEventListener('pageshow', e => { if (e.persisted) location.reload() })

render(<App />, document.getElementById('page')!)

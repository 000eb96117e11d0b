import { useState } from 'preact/hooks'
import { Trouble, post, type Me, type Ways } from './api'
import { Link } from './router'
import { Warn, asTrouble } from './ui/ui'

// SignIn asks for name and password, or sends to the provider that the owner configured.
export function SignIn({ ways, ended, onMe }: { ways: Ways; ended: boolean; onMe: (me: Me) => void }) {
  const [busy, setBusy] = useState(false)
  const { password, openid } = ways
  const failed = new URLSearchParams(location.search).get('failed')
  const [trouble, setTrouble] = useState<Trouble | null>(failed ? new Trouble(0, 'openid', 'signing in with ' + (openid?.name ?? 'OpenID') + ' failed', 'try again, or ask the owner whether your account is known here') : null)
  return <main class="signin" id="main">
    <img src="/icon.svg" alt="" width="56" height="56" />
    <h1>Discreet</h1>
    <p class="lead">Ask a sensitive database. Answers are about everybody, and nobody in particular.</p>
    {ended && !trouble && <p class="notice" role="status">Your session has ended. Sign in again to continue where you were.</p>}
    {trouble && <Warn trouble={trouble} />}
    {password && <form onSubmit={async e => {
      e.preventDefault()
      const form = new FormData(e.currentTarget)
      setBusy(true)
      try {
        onMe(await post<Me>('/v1/signin', { name: form.get('name'), password: form.get('password') }))
      } catch (e) {
        const t = asTrouble(e)
        setTrouble(t.status === 401 ? new Trouble(401, t.kind, 'name or password is wrong') : t)
      } finally {
        setBusy(false)
      }
    }}>
      <label>Name<input name="name" autocomplete="username" required autofocus spellcheck={false} autocapitalize="none" /></label>
      <label>Password<input name="password" type="password" autocomplete="current-password" required /></label>
      <button class="primary" disabled={busy}>{busy ? 'Signing in…' : 'Sign in'}</button>
    </form>}
    {openid && <a class="button" href="/v1/signin/openid">Sign in with {openid.name}</a>}
    {ways.demo && <p class="hint">This is a demonstration on made-up people: names and passwords are printed in the terminal where <code>discreet serve --demo</code> was started.</p>}
    <p class="hint">New to this? <Link to="/playground">The playground</Link> needs no account and has no data.</p>
  </main>
}

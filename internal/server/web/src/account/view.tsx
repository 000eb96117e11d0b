import { useState } from 'preact/hooks'
import { call, get, post, Trouble, version } from '../api'
import { time } from '../format'
import { useSession } from '../session'
import { asTrouble, Busy, Copy, useLoaded, Warn } from '../ui/ui'
import { Requests } from './requests'

interface Token { id: string; label: string; created: string; expires: string | null; revoked: string | null; used: string | null }
interface Login { at: string; address: string; door: string; outcome: string }

// View is what somebody may know about their own account.
export function View() {
  const { me } = useSession()
  return <>
    <h1>{me.name}</h1>
    <p>{me.role === 'owner' ? 'You are an owner.' : `You may ask about ${me.datasets.join(', ') || 'nothing yet'}.`}</p>
    {me.role === 'analyst' && me.datasets.length > 0 && <Requests />}
    <Tokens />
    <Logins />
    <Release />
  </>
}

// Release says which version of the program answers.
function Release() {
  const release = useLoaded(version, [])
  if (release.trouble) return <Warn trouble={release.trouble} />
  if (!release.value) return <Busy />
  const { version: name, commit } = release.value
  return <p class="hint">Discreet {name}{commit && `, commit ${commit.slice(0, 12)}`}</p>
}

function Tokens() {
  const tokens = useLoaded(signal => get<{ tokens: Token[] }>('/v1/tokens', signal), [])
  const [fresh, setFresh] = useState<string | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const attempt = async (f: () => Promise<void>) => {
    setTrouble(null)
    try {
      await f()
      tokens.reload()
    } catch (e) {
      setTrouble(asTrouble(e))
    }
  }
  return <section>
    <h2>Tokens</h2>
    <p class="hint">For programs and notebooks, instead of your password.</p>
    {trouble && <Warn trouble={trouble} />}
    {fresh && <div class="notice good" role="status"><p>Copy it now, it is shown only once: <code>{fresh}</code> <Copy text={fresh} /></p></div>}
    {tokens.trouble ? <Warn trouble={tokens.trouble} /> : !tokens.value ? <Busy /> : tokens.value.tokens.length === 0 ? <p class="hint">There are no tokens.</p> :
      <div class="rows" tabIndex={0} role="region" aria-label="Tokens"><table><thead><tr><th scope="col">for</th><th scope="col">made</th><th scope="col">used</th><th scope="col">expires</th><th scope="col"><span class="unseen">actions</span></th></tr></thead>
        <tbody>{tokens.value.tokens.map(t => <tr key={t.id} class={t.revoked ? 'lost' : undefined}><td>{t.label}</td><td>{time(t.created)}</td><td>{t.used ? time(t.used) : 'never'}</td><td>{t.revoked ? 'revoked' : t.expires ? time(t.expires) : 'never'}</td>
          <td>{!t.revoked && <button type="button" class="quiet" aria-label={`Revoke ${t.label}`} onClick={() => attempt(() => call('DELETE', '/v1/tokens/' + encodeURIComponent(t.id)))}>Revoke</button>}</td></tr>)}</tbody></table></div>}
    <form class="line" onSubmit={e => {
      e.preventDefault()
      const form = new FormData(e.currentTarget)
      const days = Number(form.get('days'))
      e.currentTarget.reset()
      void attempt(async () => {
        const t = await post<{ secret: string }>('/v1/tokens', { label: form.get('label'), ...(days > 0 ? { expires: new Date(Date.now() + days * 86_400_000).toISOString() } : {}) })
        setFresh(t.secret)
      })
    }}>
      <label>What it is for<input name="label" required maxLength={100} /></label>
      <label>Days until it expires (empty: never)<input name="days" type="number" min="1" /></label>
      <button>Make a token</button>
    </form>
  </section>
}

function Logins() {
  const logins = useLoaded(signal => get<{ logins: Login[] }>('/v1/logins', signal), [])
  return <section>
    <h2>Logins</h2>
    {logins.trouble ? <Warn trouble={logins.trouble} /> : !logins.value ? <Busy /> :
      <div class="rows" tabIndex={0} role="region" aria-label="Logins"><table><thead><tr><th scope="col">when</th><th scope="col">from</th><th scope="col">door</th><th scope="col">outcome</th></tr></thead>
        <tbody>{logins.value.logins.slice(0, 100).map((l, i) => <tr key={i}><td>{time(l.at)}</td><td>{l.address}</td><td>{l.door}</td><td>{l.outcome}</td></tr>)}</tbody></table></div>}
  </section>
}

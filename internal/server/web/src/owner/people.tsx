import { useState } from 'preact/hooks'
import { call, get, post, Trouble } from '../api'
import { time } from '../format'
import { asTrouble, Busy, Copy, useLoaded, Warn } from '../ui/ui'

interface Person { name: string; role: string; created: string; revoked: string | null; access?: { dataset: string; groups: string[]; expires?: string }[] }

// People lets analysts in and keeps them out. What they may ask is the policy's.
export function People() {
  const people = useLoaded(signal => get<{ users: Person[] }>('/v1/users', signal), [])
  const [shown, setShown] = useState<{ what: string; secret: string } | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const attempt = async (f: () => Promise<unknown>) => {
    setTrouble(null)
    try {
      await f()
      people.reload()
    } catch (e) {
      setTrouble(asTrouble(e))
    }
  }
  const at = (name: string) => '/v1/users/' + encodeURIComponent(name)
  const password = (name: string) => attempt(async () => setShown({ what: `The password of ${name}`, secret: (await post<{ password: string }>(at(name) + '/password', {})).password }))
  return <section>
    <h2>People</h2>
    <p class="hint">The policy says under <code>analysts</code> who may ask what, and how much. Add owners on the server’s machine, with <code>discreet user add</code>.</p>
    {trouble && <Warn trouble={trouble} />}
    {shown && <div class="notice good" role="status"><p>{shown.what} is shown only once: <code>{shown.secret}</code> <Copy text={shown.secret} /> <button type="button" class="quiet" onClick={() => setShown(null)}>Hide</button></p></div>}
    {people.trouble ? <Warn trouble={people.trouble} /> : !people.value ? <Busy /> :
      <div class="rows" tabIndex={0} role="region" aria-label="People"><table><thead><tr><th scope="col">name</th><th scope="col">role</th><th scope="col">may ask</th><th scope="col">since</th><th scope="col"><span class="unseen">actions</span></th></tr></thead>
        <tbody>{people.value.users.map(p => <tr key={p.name} class={p.revoked ? 'lost' : undefined}>
          <td>{p.name}</td><td>{p.role}</td><td>{p.access?.map(a => a.dataset + (a.groups.length ? ` (${a.groups.join(', ')})` : '') + (a.expires ? ` until ${a.expires}` : '')).join(', ') || '–'}</td>
          <td>{p.revoked ? `revoked ${time(p.revoked)}` : time(p.created)}</td>
          <td>{p.role !== 'owner' && <>
            <button type="button" class="quiet" aria-label={`New password for ${p.name}`} onClick={() => password(p.name)}>{p.revoked ? 'Let in again' : 'New password'}</button>
            {!p.revoked && <button type="button" class="quiet" aria-label={`Token for ${p.name}`} onClick={() => attempt(async () => setShown({ what: `The token of ${p.name}`, secret: (await post<{ secret: string }>(at(p.name) + '/tokens', { label: 'from the owner' })).secret }))}>Token</button>}
            {!p.revoked && <button type="button" class="quiet danger" aria-label={`Revoke ${p.name}`} onClick={() => attempt(() => call('DELETE', at(p.name)))}>Revoke</button>}
          </>}</td></tr>)}</tbody></table></div>}
    <form class="line" onSubmit={e => {
      e.preventDefault()
      const name = String(new FormData(e.currentTarget).get('name'))
      e.currentTarget.reset()
      void attempt(async () => setShown({ what: `The password of ${name}`, secret: (await post<{ password: string }>('/v1/users', { name })).password }))
    }}>
      <label>Name of the analyst, as in the policy<input name="name" required maxLength={64} spellcheck={false} autocapitalize="none" /></label>
      <button>Add analyst</button>
    </form>
  </section>
}

import { useState } from 'preact/hooks'
import { post, Trouble } from '../api'
import { time } from '../format'
import { asTrouble, Copy, sentence, Warn } from '../ui/ui'
import { sign } from './key'

interface Draft { text: string; kind: string; follows: number; time: string; expires: string; fingerprint: string }

// Signed is a decision of the owner in three steps: what would be written, the signature, done. A
// draft is stale once something else was decided, and a release once something else has failed; it
// is then made anew.
export function Signed({ at, body, ready, summary, onDone }: { at: string; body: Record<string, unknown>; ready: boolean; summary: (said: Record<string, unknown>) => string[]; onDone: () => void }) {
  const [draft, setDraft] = useState<{ draft: Draft; said: Record<string, unknown>; body: Record<string, unknown> } | null>(null)
  const [file, setFile] = useState<File | null>(null)
  const [pasted, setPasted] = useState('')
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [done, setDone] = useState<number | null>(null)
  const [busy, setBusy] = useState(false)
  const attempt = async (f: () => Promise<void>) => {
    setBusy(true)
    setTrouble(null)
    try {
      await f()
    } catch (e) {
      const t = asTrouble(e)
      setTrouble(t.status === 409 ? new Trouble(409, t.kind, 'something else was decided or has failed since this was prepared, or it was prepared more than an hour ago', 'prepare it again') : t.kind === 'page' ? new Trouble(0, 'key', (e as Error).message) : t)
      if (t.status === 409) setDraft(null)
    } finally {
      setBusy(false)
    }
  }
  const prepare = () => attempt(async () => {
    const said = await post<Record<string, unknown> & { draft: Draft }>(at + '/draft', body)
    setDone(null)
    setDraft({ draft: said.draft, said, body })
  })
  const write = () => attempt(async () => {
    if (!draft) return
    const signature = pasted.trim() || (file && await sign(file, draft.draft.text))
    if (!signature) throw new Error('choose the key file, or paste a signature')
    const written = await post<{ sequence: number }>(at, { ...draft.body, text: draft.draft.text, signature })
    setDone(written.sequence)
    setDraft(null)
    setPasted('') // it is of this draft, and of no other
    onDone()
  })
  return <div class="signed">
    {!draft && <button type="button" class="primary" disabled={!ready || busy} onClick={prepare}>{busy ? 'Preparing…' : 'Prepare the record'}</button>}
    {done !== null && <p class="notice good" role="status">Written as record {done} of the ledger.</p>}
    {draft && <div class="card">
      {summary(draft.said).map(line => <p key={line}>{sentence(line)}</p>)}
      <p class="hint">It follows record {draft.draft.follows}. Sign it with the key {draft.draft.fingerprint} before {time(draft.draft.expires)}.</p>
      <label>Key file (it stays in this browser)<input type="file" accept=".key,.pem" onChange={e => setFile(e.currentTarget.files?.[0] ?? null)} /></label>
      <details><summary>Or sign elsewhere and paste the signature</summary>
        <pre tabIndex={0}>{draft.draft.text}</pre><Copy text={draft.draft.text}>Copy the text</Copy>
        <label>Signature, in hexadecimal<input value={pasted} pattern="[0-9a-fA-F]{128}" spellcheck={false} onInput={e => setPasted(e.currentTarget.value)} /></label>
      </details>
      <div class="run"><button type="button" class="primary" disabled={busy || (!file && !pasted)} onClick={write}>{busy ? 'Writing…' : 'Sign and write'}</button>
        <button type="button" class="quiet" onClick={() => setDraft(null)}>Discard</button></div>
    </div>}
    {trouble && <Warn trouble={trouble} />}
  </div>
}

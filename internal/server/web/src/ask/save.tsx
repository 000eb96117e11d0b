import { useState } from 'preact/hooks'
import { post, Trouble, type Question } from '../api'
import { Link } from '../router'
import { asTrouble, Dialog, Warn } from '../ui/ui'

// Save keeps a question under a title, for oneself or for all who may ask this dataset.
export function Save({ question, disabled }: { question: Question; disabled?: boolean }) {
  const [open, setOpen] = useState(false)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [done, setDone] = useState(false)
  return <>
    <button type="button" class="quiet" disabled={disabled} onClick={() => { setDone(false); setTrouble(null); setOpen(true) }}>Save</button>
    <span role="status" class="hint">{done && <>Saved: <Link to="/saved">see all</Link></>}</span>
    <Dialog title="Save this question" open={open} onClose={() => setOpen(false)}>
      {trouble && <Warn trouble={trouble} />}
      <form onSubmit={async e => {
        e.preventDefault()
        const form = new FormData(e.currentTarget)
        try {
          await post('/v1/saved', { title: form.get('title'), dataset: question.dataset, sql: question.sql, settings: question.settings ?? {}, shared: form.get('shared') === 'on' })
          setDone(true)
          setOpen(false)
        } catch (e) {
          setTrouble(asTrouble(e))
        }
      }}>
        <label>Title<input name="title" required maxLength={200} autofocus /></label>
        <label class="check"><input type="checkbox" name="shared" /> Show it to all who may ask {question.dataset}</label>
        <button class="primary">Save</button>
      </form>
    </Dialog>
  </>
}

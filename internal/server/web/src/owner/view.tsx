import { Link, usePlace } from '../router'
import { useSession } from '../session'
import { Empty } from '../ui/ui'
import { Budget } from './budget'
import { Failures } from './incidents'
import { Ledger } from './ledger'
import { People } from './people'
import { Policy } from './policy'
import { Questions } from './questions'

const parts = { budget: 'Budget', questions: 'Questions', people: 'People', failures: 'Failures', ledger: 'Ledger', policy: 'Policy' }

// View is what an owner runs: the budget, the people, the books.
export function View() {
  const place = usePlace()
  const { dataset: now } = useSession()
  const part = (place.path.split('/')[2] || 'budget') as keyof typeof parts
  if (!now) return <Empty whole title="The policy has no dataset" />
  return <>
    <h1>Owner</h1>
    <nav class="sub" aria-label="Owner">
      {Object.entries(parts).map(([k, title]) => <Link key={k} to={'/owner/' + k + (now ? '?dataset=' + encodeURIComponent(now) : '')} current={k === part}>{title}</Link>)}
    </nav>
    {part === 'people' ? <People /> : part === 'ledger' ? <Ledger /> : part === 'policy' ? <Policy dataset={now} />
      : part === 'failures' ? <Failures key={now} dataset={now} /> : part === 'questions' ? <Questions key={now} dataset={now} /> : <Budget key={now} dataset={now} />}
  </>
}

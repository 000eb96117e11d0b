export function View() {
  return <h1>Owner</h1>
}

export function View() {
  return <h1>Models</h1>
}

export function View() {
  return <h1>Holdouts</h1>
}

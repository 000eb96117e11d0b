export function View() {
  return <h1>Account</h1>
}

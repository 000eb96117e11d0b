export function Spending({ dataset }: { dataset: string }) {
  return <p hidden>{dataset}</p>
}

"""The questions of benchmarks/peers by PipelineDP, with epsilon and delta that add up."""
import json
import sys
from importlib.metadata import version

import pipeline_dp as dp

SYSTEM = f"PipelineDP {version('pipeline-dp')}"
ROW = dp.DataExtractors(privacy_id_extractor=lambda r: r[0], partition_extractor=lambda r: r[1], value_extractor=lambda r: 0)


def main(facts):
    people = [(i, key) for i, key in enumerate(key for key, n in facts["keys"].items() for _ in range(n))]
    shown, errors = [], []
    for _ in range(2 + facts["times"] // 100):
        # The count decides itself whether it is shown, which is the best that PipelineDP has: 458 keys where it otherwise shows 274.
        answer = ask(people, None, [dp.Metrics.PRIVACY_ID_COUNT], max_contributions_per_partition=1, post_aggregation_thresholding=True,
                     partition_selection_strategy=dp.PartitionSelectionStrategy.LAPLACE_THRESHOLDING)
        shown.append(len(answer))
        errors += [n - facts["keys"][key] for key, n in answer]
    cut = facts["cut"]
    sums = noisy(facts, [dp.Metrics.SUM], max_partitions_contributed=len(cut), min_sum_per_partition=0, max_sum_per_partition=facts["max_sum"])
    json.dump([{"row": "keys-laplace", "system": SYSTEM, "shown": shown, "errors": errors},
               {"row": "count", "system": SYSTEM, "errors": noisy(facts, [dp.Metrics.COUNT], max_contributions_per_partition=1)},
               {"row": "regions", "system": SYSTEM,
                "errors": noisy(facts, [dp.Metrics.COUNT], max_contributions_per_partition=facts["rows_of_a_customer"])},
               {"row": "sums", "system": SYSTEM, "errors": [e + cut[i % len(cut)] for i, e in enumerate(sums)]}], sys.stdout)


def noisy(facts, metrics, **limits):
    """Errors of partitions that nobody is in: its noise is the same whoever is. It wants somebody, who is in none of them."""
    return [n for _, n in ask([(0, -1)], range(4 * facts["times"]), metrics, **limits)]


def ask(rows, public, metrics, max_partitions_contributed=1, **limits):
    """Partitions and a number for each, for a whole budget: (1, 1e-6) where partitions are private, and 1 where they are public."""
    accountant = dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0 if public else 1e-6)
    params = dp.AggregateParams(metrics=metrics, noise_kind=dp.NoiseKind.LAPLACE, max_partitions_contributed=max_partitions_contributed,
                                **{"max_contributions_per_partition": 1, **limits})
    answer = dp.DPEngine(accountant, dp.LocalBackend()).aggregate(rows, params, ROW, public_partitions=public)
    accountant.compute_budgets()
    return [(key, numbers[0]) for key, numbers in answer]


if __name__ == "__main__":
    main(json.load(open(sys.argv[1])))

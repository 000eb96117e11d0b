# Everything that asks needs the real binary: r/test of the repository builds it and names it.
if (requireNamespace("tinytest", quietly = TRUE)) tinytest::test_package("discreet")

"""`make bench`: measurements, each in one run side by side with its baseline, told as ratios.

Owns no product code and no limit of the product; the budgets stand with the scenarios that measure them.
`docs/performance.md` says what is measured, how, and what came out.
"""

-- Q6, forecasting revenue change. It is the original, word for word:
--
--   select sum(l_extendedprice * l_discount) as revenue from lineitem
--   where l_shipdate >= date '[DATE]' and l_shipdate < date '[DATE]' + interval '1' year
--     and l_discount between [DISCOUNT] - 0.01 and [DISCOUNT] + 0.01 and l_quantity < [QUANTITY]
--
-- DATE: 1994-01-01, 1993-01-01, 1995-01-01, 1996-01-01, 1997-01-01
-- DISCOUNT: 0.06, 0.02, 0.05, 0.08, 0.09
-- QUANTITY: 24, 25, 24, 25, 24
-- dp.max_sum: 10000
select sum(l_extendedprice * l_discount) as revenue from lineitem
where l_shipdate >= date '[DATE]' and l_shipdate < date '[DATE]' + interval '1' year
  and l_discount between [DISCOUNT] - 0.01 and [DISCOUNT] + 0.01 and l_quantity < [QUANTITY]

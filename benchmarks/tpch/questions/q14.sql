-- Q14, promotion effect. It is the original, word for word:
--
--   select 100.00 * sum(case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount) else 0 end)
--     / sum(l_extendedprice * (1 - l_discount)) as promo_revenue
--   from lineitem, part
--   where l_partkey = p_partkey and l_shipdate >= date '[DATE]' and l_shipdate < date '[DATE]' + interval '1' month
--
-- DATE: 1995-09-01, 1993-03-01, 1994-06-01, 1996-11-01, 1997-01-01
-- dp.max_sum: 500000
select 100.00 * sum(case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount) else 0 end)
  / sum(l_extendedprice * (1 - l_discount)) as promo_revenue
from lineitem, part
where l_partkey = p_partkey and l_shipdate >= date '[DATE]' and l_shipdate < date '[DATE]' + interval '1' month

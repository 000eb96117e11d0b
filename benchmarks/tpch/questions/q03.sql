-- Q3, shipping priority. The original lists the ten largest orders, which are rows of people:
--
--   select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate, o_shippriority
--   from customer, orders, lineitem
--   where c_mktsegment = '[SEGMENT]' and c_custkey = o_custkey and l_orderkey = o_orderkey
--     and o_orderdate < date '[DATE]' and l_shipdate > date '[DATE]'
--   group by l_orderkey, o_orderdate, o_shippriority order by revenue desc, o_orderdate limit 10
--
-- Here it is what they come to by month, from December on: items are shipped within 121 days of an order.
--
-- SEGMENT: BUILDING, AUTOMOBILE, FURNITURE, HOUSEHOLD, MACHINERY
-- DATE: 1995-03-15, 1995-03-05, 1995-03-10, 1995-03-20, 1995-03-31
-- dp.max_groups: 3
-- dp.max_sum: 500000
select cast(date_trunc('month', o_orderdate) as date) as month, sum(l_extendedprice * (1 - l_discount)) as revenue
from customer, orders, lineitem
where c_mktsegment = '[SEGMENT]' and c_custkey = o_custkey and l_orderkey = o_orderkey
  and o_orderdate < date '[DATE]' and l_shipdate > date '[DATE]' and o_orderdate >= date '1994-12-01'
group by month order by month

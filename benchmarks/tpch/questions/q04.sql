-- Q4, order priority checking. It is the original, word for word:
--
--   select o_orderpriority, count(*) as order_count from orders
--   where o_orderdate >= date '[DATE]' and o_orderdate < date '[DATE]' + interval '3' month
--     and exists (select * from lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate)
--   group by o_orderpriority order by o_orderpriority
--
-- DATE: 1993-07-01, 1993-10-01, 1994-01-01, 1995-04-01, 1997-10-01
select o_orderpriority, count(*) as order_count from orders
where o_orderdate >= date '[DATE]' and o_orderdate < date '[DATE]' + interval '3' month
  and exists (select * from lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate)
group by o_orderpriority order by o_orderpriority

-- Q12, shipping modes and order priority. It is the original, word for word:
--
--   select l_shipmode,
--     sum(case when o_orderpriority = '1-URGENT' or o_orderpriority = '2-HIGH' then 1 else 0 end) as high_line_count,
--     sum(case when o_orderpriority <> '1-URGENT' and o_orderpriority <> '2-HIGH' then 1 else 0 end) as low_line_count
--   from orders, lineitem
--   where o_orderkey = l_orderkey and l_shipmode in ('[SHIPMODE1]', '[SHIPMODE2]') and l_commitdate < l_receiptdate
--     and l_shipdate < l_commitdate and l_receiptdate >= date '[DATE]' and l_receiptdate < date '[DATE]' + interval '1' year
--   group by l_shipmode order by l_shipmode
--
-- SHIPMODE1: MAIL, AIR, FOB, RAIL, SHIP
-- SHIPMODE2: SHIP, TRUCK, MAIL, REG AIR, AIR
-- DATE: 1994-01-01, 1993-01-01, 1995-01-01, 1996-01-01, 1997-01-01
select l_shipmode,
  sum(case when o_orderpriority = '1-URGENT' or o_orderpriority = '2-HIGH' then 1 else 0 end) as high_line_count,
  sum(case when o_orderpriority <> '1-URGENT' and o_orderpriority <> '2-HIGH' then 1 else 0 end) as low_line_count
from orders, lineitem
where o_orderkey = l_orderkey and l_shipmode in ('[SHIPMODE1]', '[SHIPMODE2]') and l_commitdate < l_receiptdate
  and l_shipdate < l_commitdate and l_receiptdate >= date '[DATE]' and l_receiptdate < date '[DATE]' + interval '1' year
group by l_shipmode order by l_shipmode

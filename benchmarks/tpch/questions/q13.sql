-- Q13, customer distribution. The original, of which only the names of columns stand elsewhere:
--
--   select c_count, count(*) as custdist
--   from (select c_custkey, count(o_orderkey) from customer left outer join orders
--       on c_custkey = o_custkey and o_comment not like '%[WORD1]%[WORD2]%'
--     group by c_custkey) as c_orders (c_custkey, c_count)
--   group by c_count order by custdist desc, c_count desc
--
-- WORD1: special, pending, unusual, express, special
-- WORD2: requests, packages, accounts, deposits, packages
select c_count, count(*) as custdist
from (select c_custkey, count(o_orderkey) as c_count from customer left outer join orders
    on c_custkey = o_custkey and o_comment not like '%[WORD1]%[WORD2]%'
  group by c_custkey) as c_orders
group by c_count order by custdist desc, c_count desc

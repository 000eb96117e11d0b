-- What the specification allows besides primary keys: indexes on foreign keys and on dates.
CREATE INDEX ON nation (n_regionkey);
CREATE INDEX ON supplier (s_nationkey);
CREATE INDEX ON customer (c_nationkey);
CREATE INDEX ON orders (o_custkey);
CREATE INDEX ON orders (o_orderdate);
CREATE INDEX ON lineitem (l_partkey, l_suppkey);
CREATE INDEX ON lineitem (l_shipdate);
CREATE INDEX ON lineitem (l_receiptdate);

-- The role that the policy names may read its columns, and nothing else.
GRANT SELECT (c_custkey, c_nationkey, c_mktsegment, c_phone, c_acctbal) ON customer TO discreet;
GRANT SELECT (o_orderkey, o_custkey, o_orderdate, o_orderpriority, o_comment) ON orders TO discreet;
GRANT SELECT (l_orderkey, l_partkey, l_suppkey, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate,
	l_commitdate, l_receiptdate, l_shipmode) ON lineitem TO discreet;
GRANT SELECT (n_nationkey, n_name, n_regionkey) ON nation TO discreet;
GRANT SELECT (r_regionkey, r_name) ON region TO discreet;
GRANT SELECT (p_partkey, p_brand, p_type) ON part TO discreet;
GRANT SELECT (s_suppkey, s_nationkey) ON supplier TO discreet;
GRANT SELECT (ps_partkey, ps_suppkey, ps_supplycost) ON partsupp TO discreet;

// What completion knows of the language itself; internal/planner/words_test.go compares the functions
// with those that there are.
export const keywords = ('ALL AND AS ASC BETWEEN BY CASE CAST CROSS CUBE CURRENT_DATE DESC DISTINCT ELSE END EXCEPT EXISTS FALSE FILTER ' +
  'FIRST FROM FULL GROUP GROUPING HAVING ILIKE IN INTERSECT INTERVAL IS JOIN LAST LEFT LIKE LIMIT NOT NULL NULLS OFFSET ON OR ORDER ' +
  'OVER PARTITION ROLLUP ROWS SELECT SETS THEN TRUE UNION USING WHEN WHERE WITH WITHIN').split(' ')

export const aggregates = ('AVG COUNT MAX MEDIAN MIN PERCENTILE_CONT PERCENTILE_DISC STDDEV STDDEV_POP STDDEV_SAMP SUM VARIANCE VAR_POP ' +
  'VAR_SAMP').split(' ')

export const functions = ('abs btrim ceil ceiling char_length character_length coalesce concat concat_ws date_bin date_part date_trunc ' +
  'exp extract floor greatest least left length ln log log10 lower lpad ltrim mod nullif position pow power regexp_like replace right ' +
  'round rpad rtrim sign split_part sqrt starts_with strpos substr substring timezone to_char to_date to_timestamp trunc upper ' +
  'width_bucket dense_rank first_value lag last_value lead nth_value ntile rank row_number').split(' ')

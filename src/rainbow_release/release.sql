-- Draw one private answer at :node from a database that save_sqlite wrote; no answer: no such node.
-- Sums of weights are text of one width in hexadecimal digits, which compares as the numbers do, so
-- a uniform number of as many digits finds its answer. One that is not below the total is drawn
-- again. SQLite needs 3.35 or later.
WITH RECURSIVE here AS MATERIALIZED (
    SELECT place, total, bytes FROM node JOIN place USING (place), about WHERE node = :node
), drawn(tries, number) AS MATERIALIZED (
    SELECT 1, '0' || hex(randomblob(bytes)) FROM here
    UNION ALL
    SELECT tries + 1, '0' || hex(randomblob(bytes)) FROM drawn, here WHERE number >= total
)
SELECT answer FROM weight
WHERE place = (SELECT place FROM here)
    AND upto > (SELECT number FROM drawn ORDER BY tries DESC LIMIT 1)
ORDER BY upto LIMIT 1;

\set place random(1, :rows)
\set value random(1000000000, 2000000000)
INSERT INTO leaves VALUES (:place, :value) ON CONFLICT (place) DO UPDATE SET value = excluded.value;

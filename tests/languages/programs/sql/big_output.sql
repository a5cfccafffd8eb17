with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000) select printf('%099d', i) from n;

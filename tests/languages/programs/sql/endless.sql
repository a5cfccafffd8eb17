with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n;

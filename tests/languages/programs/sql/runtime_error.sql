create table t(a primary key);
insert into t values (1);
insert into t values (1);

select from where;

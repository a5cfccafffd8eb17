: row 99 0 do [char] x emit loop cr ;
: rows 50000 0 do row loop ;
rows

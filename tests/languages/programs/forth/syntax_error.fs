: broken if ;

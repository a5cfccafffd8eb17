val number = ;
